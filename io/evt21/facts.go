package evt21

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "the header line `% evt 2.1` or `% format EVT21`, or the table of cameras by system_ID",
	Time:     "µs in 34 bits; as EVT2",
	Polarity: "the type of the word: 0 OFF, 1 ON",
	Triggers: "EXT_TRIGGER words: edge, channel 0 to 31",
	Streams:  "OTHERS and CONTINUED words are counted by type and left out",
	Counts:   "before_time_base, wraps, glitches, gaps, triggers, unknown, trailing_bytes",
	Options:  "`--layout little` or `legacy`, the order of the halves of a word, where the header does not say it; `--size`",
	Writes:   "words in little order; x, y up to 2047, times in order from 0",
	Doubts: []string{
		"Where the header names no order, the camera decides (Prophesee cameras with a system_ID below 0x37: legacy), else little, as OpenEB has it.",
	},
	Checks: []format.Check{
		{Program: "OpenEB (0499c95d), HAL", Recording: "82,469 events in little and in legacy order (derived from EVT3)", Result: "x, y, p, t and both triggers"},
		{Program: "evlib 0.13.2", Recording: "the recording in little order", Result: "x, y, p, t; it reads the legacy order as little"},
		{Program: "evutils 0.3.18", Recording: "the recording in legacy order", Result: "x, y, p, t; it refuses the little order"},
		{Program: "evlib 0.13.2", Recording: "what evq writes, of a scene and of the trigger recording", Result: "x, y, p, t"},
	},
	Unproven: "no recording of a camera was found; evutils 0.3.18 reads what evq writes in the wrong order, for it passes over the order in the format line; big-endian words are refused by name",
}

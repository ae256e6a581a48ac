package evt3

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "the header line `% evt 3.0` or `% format EVT3`, or the table of cameras by system_ID; without either, the words themselves",
	Time:     "µs in 24 bits, as TIME_HIGH and TIME_LOW words; a decrease by at least half the range adds 2^24 µs (16.8 s), a smaller one is a glitch and taken as it is",
	Polarity: "bit 11 of ADDR_X and VECT_BASE_X",
	Triggers: "EXT_TRIGGER words: edge, channel 0 to 15, at the current time",
	Streams:  "OTHERS and CONTINUED words are counted by type and left out",
	Counts:   "before_time_base, wraps, glitches, gaps, triggers, missing_y, partial_vect, invalid_vect_base, unknown, trailing_bytes",
	Options:  "`--size` where the header has no geometry",
	Writes:   "a full header; runs of a row as vectors where they pay; x, y up to 2047, times in order from 0",
	Doubts: []string{
		"faery lets no time go back, and expelliarmus adds to the time at each decrease of TIME_LOW: of evt3_sample.raw they give 1,455 and 199,475 of 219,596 times otherwise. evq does as OpenEB.",
		"OpenEB HAL consumes three CONTINUED words after OTHERS whatever they are, and so loses a TIME_HIGH of some recordings; evq consumes them while their type says so, as the standalone decoder does.",
		"Word type 0x1 was a row address of old emulated cameras; it is skipped and counted.",
	},
	Checks: []format.Check{
		{Program: "OpenEB (0499c95d), HAL and standalone", Recording: "evt3_sample.raw of expelliarmus (EVK3, 219,596 events; real)", Result: "x, y, p, t"},
		{Program: "OpenEB (0499c95d), HAL and standalone", Recording: "the trigger recording of event_camera_codecs (82,469 events; real words, header added)", Result: "x, y, p, t and both triggers"},
		{Program: "event_camera_codecs (656bd539), its published sums", Recording: "the same recording", Result: "sums of x, y, p, t, triggers"},
		{Program: "OpenEB (0499c95d), HAL and standalone", Recording: "the same moved across the end of 24 bits (derived)", Result: "x, y, p, t"},
		{Program: "evlib 0.13.2, evutils 0.3.18, evt3 0.4.1", Recording: "all three", Result: "x, y, p, t"},
		{Program: "faery 0.7.1", Recording: "the trigger recording, as it is and moved", Result: "x, y, p, t; of evt3_sample.raw 1,455 times differ"},
		{Program: "evlib 0.13.2, faery 0.7.1, evutils 0.3.18, evt3 0.4.1", Recording: "what evq writes, of a scene and of the trigger recording", Result: "x, y, p, t"},
	},
}

package evt2

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "the header line `% evt 2.0` or `% format EVT2`, or the table of cameras by system_ID; without either, the words themselves",
	Time:     "µs in 34 bits, of which TIME_HIGH words carry 28; absolute since the camera started; a decrease by at least half the range adds 2^34 µs (4 h 46 min)",
	Polarity: "the type of the word: 0 OFF, 1 ON",
	Triggers: "EXT_TRIGGER words: edge, channel 0 to 31",
	Streams:  "OTHERS, IMU and CONTINUED words are counted by type and left out",
	Counts:   "before_time_base, wraps, glitches, gaps, triggers, unknown, trailing_bytes",
	Options:  "`--size` where the header has no geometry",
	Writes:   "a full header, and a TIME_HIGH where the base of 64 µs changes; x, y up to 2047, times in order from 0",
	Doubts: []string{
		"OpenEB finds a wrap only at the borders of its buffers and misses one inside; evq finds every one.",
	},
	Checks: []format.Check{
		{Program: "OpenEB (0499c95d), HAL and standalone", Recording: "evt2.raw of faery (Gen3, 521,252 events; real)", Result: "x, y, p, t"},
		{Program: "OpenEB (0499c95d), standalone", Recording: "a recording moved across the end of 34 bits (derived)", Result: "x, y, p, t; HAL agrees in buffers of up to 400 kB"},
		{Program: "faery (e701fd0a), its published hashes", Recording: "evt2.raw of faery (real)", Result: "x, y, p, t"},
		{Program: "evlib 0.13.2, faery 0.7.1, evutils 0.3.18, expelliarmus 1.1.12", Recording: "evt2.raw of faery (real)", Result: "x, y, p, t"},
		{Program: "faery 0.7.1, evutils 0.3.18", Recording: "the recording moved across the end of 34 bits", Result: "x, y, p, t; evlib and expelliarmus do not unwrap"},
		{Program: "evlib 0.13.2, faery 0.7.1, evutils 0.3.18, expelliarmus 1.1.12", Recording: "what evq writes, of a scene and of the trigger recording", Result: "x, y, p, t"},
	},
	Unproven: "IMU words and reserved types: no recording with them was found",
}

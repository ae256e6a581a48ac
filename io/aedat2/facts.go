package aedat2

import "github.com/evq-project/evq/io/format"

// facts say of AEDAT 2.0 what the documents show.
var facts = format.Facts{
	Proof:    "the first line `#!AER-DAT2.0`",
	Time:     "µs in a signed 32-bit number; a decrease by at least half the range adds 2^32 µs; a smaller one, as after a reset of the clock, is taken as it is",
	Polarity: "one bit of the address, set = ON",
	Triggers: "events of the external input: bit 15 of a DVS128, bit 10 of a DAVIS",
	Streams:  "samples of frames and IMU are counted by kind and left out",
	Counts:   "wraps, glitches, gaps, triggers, unknown, trailing_bytes, damaged_bytes",
	Options:  "`--layout dvs128` or `davis` where the header names no camera (else: davis where most of the first 1,000 addresses have a bit above 15 set)",
	Doubts: []string{
		"jAER mirrors x and tonic flips both axes when they show a recording; evq keeps what is stored. `--flip` mirrors.",
	},
	Unproven: "no other decoder gives these events (evlib 0.13.2 refuses its recordings); the fields are those that the code of jAER and of PyAedatTools masks",
}

// facts1 say of AEDAT 1.0 what the documents show.
var facts1 = format.Facts{
	Proof:    "the first line `#!AER-DAT1.0`; a file without a header has no proof: `--format aedat1`",
	Time:     "µs in a signed 32-bit number; a decrease by at least half the range adds 2^32 µs; a smaller one, as after a reset of the clock, is taken as it is",
	Polarity: "bit 0 of the address, set = ON",
	Triggers: "events of the external input: bit 15",
	Counts:   "wraps, glitches, gaps, triggers, unknown, trailing_bytes, damaged_bytes",
	Options:  "`--layout`; `--format aedat1` without a header",
	Unproven: "checked against a recording of AEDAT 2 from which the files were made; no file of a camera and no other decoder",
}

package aedat3

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "the first line `#!AER-DAT3.0` or `3.1`, and a valid packet after the header",
	Time:     "µs: 31 bits in the event and 32 bits of overflows in the packet",
	Polarity: "bit 1 of the event, set = ON",
	Triggers: "special events; the channel is their kind: 0 to 2 external inputs, 3 generator, 4 frame, 5 exposure",
	Streams:  "frames, IMU and other packets are counted by kind and left out; `--stream N` chooses the source",
	Counts:   "wraps, glitches, triggers, unknown, trailing_bytes, damaged_bytes",
	Options:  "`--stream N`",
	Doubts: []string{
		"A packet has eventNumber events, not eventCapacity as tonic reads.",
		"Events whose valid bit is not set are left out and counted as unknown[invalid].",
	},
	Checks: []format.Check{
		{Program: "libcaer, its packet accessors", Recording: "two DVS128 recordings written with them (derived from AEDAT 2; 59,940 and 60,000 events)", Result: "x, y, p, t of the recording they come from"},
	},
	Unproven: "no file of a camera was found; compressed packets are refused",
}

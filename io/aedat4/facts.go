package aedat4

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "the first line `#!AER-DAT4.0` and the flatbuffer IOHE after it",
	Time:     "µs since 1970 in 64 bits",
	Polarity: "a byte, 0 OFF, 1 ON",
	Triggers: "TRIG packets of the same camera; the channel is their kind",
	Streams:  "frames, IMU and all else are listed and counted; `--stream N` chooses among several event streams",
	Counts:   "triggers, unknown, remapped_polarity, trailing_bytes, damaged_bytes",
	Options:  "`--stream N`; `--polarity-encoding nonzero`",
	Doubts: []string{
		"What a packet holds is said by its identifier; the header's XML is believed where they agree.",
	},
	Checks: []format.Check{
		{Program: "faery 0.7.1", Recording: "sample.aedat4 of event-vision-library (DAVIS346, 6,676 events; real), and its packets plain, LZ4 and Zstandard without a table (derived)", Result: "x, y, p, t"},
		{Program: "evlib 0.13.2", Recording: "the same but Zstandard, which it refuses, and a cut one", Result: "x, y, p, t"},
	},
	Unproven: "dv-processing itself was not run; triggers and several event streams on a file of a camera",
}

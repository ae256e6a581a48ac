package nmnist

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "none in the bytes: a size that is a multiple of 5, at least 16 records and times that rise",
	Time:     "µs in 23 bits; a record at y = 240 adds 2^13 µs from there on and is no event",
	Polarity: "the highest of 24 bits, set = ON",
	Counts:   "wraps, glitches, gaps, trailing_bytes, damaged_bytes",
	Options:  "`--size`, for the file says none",
	Doubts: []string{
		"slayer ignores the overflow record; event-Python and tonic do not. None of 1,102 files looked at has one.",
	},
	Unproven: "no other decoder was run; overflow records: no file with one was found",
}

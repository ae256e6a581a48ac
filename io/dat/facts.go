package dat

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "a header with a Data or Version line, and a known type and size of records after it",
	Time:     "µs in 32 bits; a decrease by at least half the range adds 2^32 µs (71 min 35 s)",
	Polarity: "4 bits in version 2, 1 bit in version 1: 0 OFF, 1 ON; another value is damage unless `--polarity-encoding` allows it",
	Streams:  "files of triggers and optical flow are refused by name",
	Counts:   "wraps, gaps, remapped_polarity, trailing_bytes, damaged_bytes",
	Options:  "`--layout v1` or `v2` where the header has no version; `--size`; `--polarity-encoding`; `--format dat` for a file without a header",
	Writes:   "version 2, type 0x0C; x, y up to 16383, times in order from 0; triggers are left out and counted",
	Doubts: []string{
		"OpenEB and the automotive toolbox do not unwrap times; evutils, faery and expelliarmus do, and evq does.",
		"Programs disagree on the bytes of ExtTrigger records, and no file of a camera was found: they are refused.",
	},
	Checks: []format.Check{
		{Program: "loris (5de85e78), its test", Recording: "an N-CARS recording (4,407 events; real)", Result: "the number of events"},
		{Program: "evutils 0.3.18, expelliarmus 1.1.12", Recording: "the N-CARS recording, and 100,000 events of evt2.raw of faery (derived) as they are and moved across the end of 32 bits", Result: "x, y, p, t"},
		{Program: "faery 0.7.1", Recording: "the 100,000 events as they are and moved across the end of 32 bits", Result: "x, y, p, t; it refuses the older type of the N-CARS recording"},
		{Program: "faery 0.7.1, evutils 0.3.18, expelliarmus 1.1.12", Recording: "what evq writes, of a scene and of the trigger recording", Result: "x, y, p, t"},
	},
	Unproven: "version 1 on a file of a camera",
}

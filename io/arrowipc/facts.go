package arrowipc

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "the magic ARROW1, or the mark of a stream's first message, and a schema with the columns t, x, y, p",
	Time:     "µs in integers, or what durations, timestamps and times of day say",
	Polarity: "0/1, -1/1 or booleans; found out and counted",
	Counts:   "remapped_polarity, trailing_bytes, damaged_bytes",
	Options:  "`--time-unit`, `--polarity-encoding`, `--size`; `--format arrow` for a stream from before 2019, which has no mark",
	Writes:   "the file form, or the stream as .arrows",
	Checks: []format.Check{
		{Program: "pyarrow 26.0.1", Recording: "what evq writes, in both forms", Result: "x, y, p, t"},
	},
	Unproven: "files of other programs",
}

package aer

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "nothing: `--format aer`",
	Time:     "none: event i is given i times `--time-step`",
	Polarity: "bit 18, set = ON",
	Counts:   "unknown, trailing_bytes",
	Options:  "`--format aer` and `--time-step`, both needed; `--size`",
	Unproven: "all: no recording and no other decoder was found",
}

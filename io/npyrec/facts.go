package npyrec

import "github.com/evq-project/evq/io/format"

// npyFacts say of a .npy what the documents show.
var npyFacts = format.Facts{
	Proof:    "the NumPy magic and a structured array with the fields t, x, y, p",
	Time:     "µs, or what datetime64 or timedelta64 says; floats need `--time-unit`",
	Polarity: "0/1, -1/1 or booleans; found out and counted",
	Counts:   "remapped_polarity, trailing_bytes",
	Options:  "`--columns t,x,y,p` for N rows of four; `--time-unit`, `--polarity-encoding`, `--size`",
	Writes:   "a packed structured array",
	Checks: []format.Check{
		{Program: "NumPy 2.4", Recording: "what evq writes", Result: "x, y, p, t"},
	},
	Unproven: "files of other programs",
}

// npzFacts say of a .npz what the documents show.
var npzFacts = format.Facts{
	Proof:    "a zip archive of arrays t, x, y, p, or of a structured array with these fields",
	Time:     "as npy",
	Polarity: "as npy",
	Counts:   "remapped_polarity, trailing_bytes",
	Options:  "`--h5-map` for other names; `--time-unit`, `--polarity-encoding`",
	Writes:   "arrays t, x, y, p, width, height",
	Checks: []format.Check{
		{Program: "NumPy 2.4, evutils 0.3.18", Recording: "what evq writes", Result: "x, y, p, t"},
	},
	Unproven: "files of other programs",
}

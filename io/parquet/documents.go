package parquet

import "github.com/evq-project/evq/io/format"

// documented says of the format what the documents show.
var documented = format.Facts{
	Proof:    "the magic PAR1 and the columns t, x, y, p",
	Time:     "µs in int64, or timestamps and durations in µs",
	Polarity: "0/1; of other writers -1/1 and booleans too",
	Triggers: "in a table beside the store, NAME.triggers.parquet",
	Counts:   "those of the conversion, kept in the metadata",
	Options:  "`--polarity-encoding`",
	Writes:   "the store: sorted, with its metadata and statistics for pruning",
	Checks: []format.Check{
		{Program: "DuckDB 2.0.1, pyarrow 26.0.1", Recording: "what evq writes", Result: "x, y, p, t"},
	},
}

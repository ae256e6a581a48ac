package text

import "github.com/evq-project/evq/io/format"

// facts say of text what the documents show.
var facts = format.Facts{
	Proof:    "most of the first lines are events in columns between spaces or tabs, or a line of names says so",
	Time:     "decimals, rounded half to even to µs; with a point or an exponent they are seconds, else µs, unless names or `--time-unit` say otherwise",
	Polarity: "0/1, -1/1 or true/false; found out and counted",
	Counts:   "remapped_polarity, trailing_bytes, damaged_bytes",
	Options:  "`--columns`, `--time-unit`, `--polarity-encoding`, `--size`",
	Writes:   "lines of t x y p, with the size of the sensor in a comment; times in µs",
	Doubts: []string{
		"int(float*1e6), as many readers have it, is 1 µs low on about one value in 120.",
		"evlib takes whole numbers for seconds, as the UZH-RPG data set has them with a point; evq for µs.",
	},
	Unproven: "no other decoder gives all times of a real recording: evlib 0.13.2 is 1 µs low on 403 of 50,000 lines of the UZH-RPG data set",
}

// csvFacts say of CSV what the documents show.
var csvFacts = format.Facts{
	Proof:    "most of the first lines are events in columns between commas or semicolons, or a line of names says so",
	Time:     "decimals, rounded half to even to µs; with a point or an exponent they are seconds, else µs, unless names or `--time-unit` say otherwise",
	Polarity: "0/1, -1/1 or true/false; found out and counted",
	Counts:   "remapped_polarity, trailing_bytes, damaged_bytes",
	Options:  "`--columns`, `--time-unit`, `--polarity-encoding`, `--size`",
	Writes:   "lines of t,x,y,p, with the size of the sensor in a comment; times in µs",
	Doubts: []string{
		"int(float*1e6), as many readers have it, is 1 µs low on about one value in 120.",
	},
	Checks: []format.Check{
		{Program: "faery 0.7.1", Recording: "a file with the columns t,x,y,on (derived; 20,000 events)", Result: "x, y, p, t"},
		{Program: "DuckDB 2.0.1", Recording: "what evq writes", Result: "x, y, p, t"},
	},
	Unproven: "files of real cameras",
}

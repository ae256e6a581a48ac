// Package aggregates holds the functions that turn a group of events into one value.
//
// They see integers computed from the events, and refuse to know what they mean.
package aggregates

import (
	"github.com/evq-project/evq/udf"
)

// The functions. Integers are exact: none is ever rounded or wrapped.
var (
	// Count is the number of events. It takes no argument.
	Count udf.Aggregate = &function{name: "count", doc: "the number of events", open: func() udf.Accumulator { return &counts{} }}
	// Rate is the number of events for each second of the window, as a float. It takes no argument. A window of no
	// duration, such as a whole recording of one event, has none.
	Rate udf.Aggregate = &function{name: "rate", doc: "events per second of the window",
		float: true, open: func() udf.Accumulator { return &rates{} }}
	// Seconds is the duration of the window in seconds, as a float, whatever events a group has: what counts are divided
	// by. It takes no argument.
	Seconds udf.Aggregate = &function{name: "seconds", doc: "the window's duration in seconds",
		float: true, open: func() udf.Accumulator { return &seconds{} }}
	// Sum is the sum of its argument. One beyond 64 bits is ErrOverflow; it is judged by the end of the window, so
	// that what passes beyond on the way does no harm.
	Sum udf.Aggregate = &function{name: "sum", doc: "the sum", args: 1, open: func() udf.Accumulator { return &sums{} }}
	// Mean is the exact mean of its argument, rounded once to a float.
	Mean udf.Aggregate = &function{name: "mean", doc: "the mean", args: 1, float: true, open: func() udf.Accumulator { return &means{} }}
	// Min is the least value of its argument.
	Min udf.Aggregate = &function{name: "min", doc: "the least value", args: 1, open: func() udf.Accumulator { return &mins{} }}
	// Max is the greatest value of its argument.
	Max udf.Aggregate = &function{name: "max", doc: "the greatest value", args: 1, open: func() udf.Accumulator { return &maxs{} }}
	// First is the value of its argument at the group's first event, in the order of the recording.
	First udf.Aggregate = &function{name: "first", doc: "the value at the first event", args: 1, open: func() udf.Accumulator { return &firsts{} }}
	// Last is the value of its argument at the group's last event, in the order of the recording.
	Last udf.Aggregate = &function{name: "last", doc: "the value at the last event", args: 1, open: func() udf.Accumulator { return &lasts{} }}
	// Distinct is the number of different values of its argument, or of pairs of its two arguments. What it holds
	// grows with that number, 72 to 144 bytes each: a window with more in all its groups than the memory it is given has
	// room for, or than MaxDistinct, is a TooManyValuesError.
	Distinct udf.Aggregate = &function{name: "distinct", doc: "how many different values, or pairs of two, there are",
		args: 1, more: 1, open: func() udf.Accumulator { return newDistincts(MaxDistinct) }}
)

// All holds the functions by name.
var All = []udf.AggregateEntry{
	entry(Count), entry(Rate), entry(Seconds), entry(Sum), entry(Mean), entry(Min), entry(Max), entry(First), entry(Last), entry(Distinct),
}

// entry makes a function available by name; none has parameters.
func entry(f udf.Aggregate) udf.AggregateEntry {
	e := f.(*function)
	return udf.AggregateEntry{
		Name: e.name, Doc: e.doc, Source: "the definition",
		New: func(udf.Args) (udf.Aggregate, error) { return f, nil },
	}
}

// A function is an aggregate without parameters.
type function struct {
	name, doc  string
	args, more int // how many arguments it takes, and how many more it may take
	float      bool
	open       func() udf.Accumulator
}

func (f *function) String() string           { return f.name }
func (f *function) Arity() (least, most int) { return f.args, f.args + f.more }
func (f *function) Float() bool              { return f.float }
func (f *function) Open() udf.Accumulator    { return f.open() }

// grown makes v as long as n with copies of a value.
func grown[V any](v []V, n int, value V) []V {
	for len(v) < n {
		v = append(v, value)
	}
	return v
}

// floats appends n zeros to a column, which becomes one of floats, and returns them.
func floats(dst *udf.Column, n int) []float64 {
	old := len(dst.Floats)
	grownTo := make([]float64, old+n)
	copy(grownTo, dst.Floats)
	dst.Floats = grownTo
	return grownTo[old:]
}

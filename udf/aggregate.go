package udf

import (
	"fmt"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// An Aggregate turns the events of a group into one value.
type Aggregate interface {
	// String prints the function with its parameters but without its arguments, such as mean or quantile(q=0.9).
	fmt.Stringer
	// Arity returns how few and how many arguments it takes: integers computed from each event.
	Arity() (least, most int)
	// Float says that its values are floats; else they are integers.
	Float() bool
	// Open makes an accumulator for the groups of one window.
	Open() Accumulator
}

// An Accumulator keeps one value per group. It serves one goroutine.
type Accumulator interface {
	// Add takes in events in time order: event i, whose arguments are args[0][i], args[1][i] and so on, belongs
	// to group of[i], which is less than groups. Groups come into being with their first event.
	Add(args [][]int64, of []int32, groups int) error
	// Values appends the value of every group to a column. w is the window the groups belong to, its Start and End
	// the times of its first and last event where it is the whole recording.
	Values(w event.Window, dst *Column) error
	// Reset forgets every group, and keeps its memory.
	Reset()
}

// A Tallied accumulator needs to know nothing of events but how many there are.
type Tallied interface {
	// Tally takes in n[i] events of group i, for as many groups as there are.
	Tally(n []int64)
}

// A Bounded accumulator holds more than a few numbers for each group, and is told before the first event how many bytes
// that may be. Where they do not suffice, Add returns an error that says what to do.
type Bounded interface{ Bound(bytes int64) }

// Written prints an aggregate with its arguments as users write it, such as mean(x) or quantile(x, q=0.9). Without any
// it is the bare name.
func Written[A fmt.Stringer](f Aggregate, args []A) string {
	name, params, _ := strings.Cut(f.String(), "(")
	var parts []string
	for _, a := range args {
		parts = append(parts, a.String())
	}
	if params = strings.TrimSuffix(params, ")"); params != "" {
		parts = append(parts, params)
	}
	if len(parts) == 0 {
		return name
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// A Column is a column of a table: integers, or floats where Floats is not nil.
type Column struct {
	Ints   []int64
	Floats []float64
	Nulls  []bool // rows without a value; nil where every row has one
}

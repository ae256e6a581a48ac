package udf

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
)

// An Aggregate turns the events of a group into one value.
type Aggregate interface {
	// String prints the function with its parameters but without its arguments, such as mean.
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

// A Column is a column of a table: integers, or floats where Floats is not nil.
type Column struct {
	Ints   []int64
	Floats []float64
	Nulls  []bool // rows without a value; nil where every row has one
}

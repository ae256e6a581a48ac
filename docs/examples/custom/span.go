package main

import (
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// Span is an aggregate: how far the greatest value of its argument lies from the least.
type Span struct{}

// SpanEntry makes it available by name.
var SpanEntry = udf.AggregateEntry{
	Name:   "span",
	Doc:    "how far the greatest value lies from the least",
	Source: "this example",
	New:    func(udf.Args) (udf.Aggregate, error) { return Span{}, nil },
}

// String prints the function without its argument.
func (Span) String() string { return "span" }

// Arity is one argument, no more and no fewer.
func (Span) Arity() (least, most int) { return 1, 1 }

// Float says that the values are integers.
func (Span) Float() bool { return false }

// Open makes an accumulator.
func (Span) Open() udf.Accumulator { return &spans{} }

// spans keep the limits of each group.
type spans struct{ least, greatest []int64 }

// Add takes in the next events: event i has the argument args[0][i] and belongs to group of[i].
func (s *spans) Add(args [][]int64, of []int32, groups int) error {
	for len(s.least) < groups {
		s.least, s.greatest = append(s.least, math.MaxInt64), append(s.greatest, math.MinInt64)
	}
	for i, g := range of {
		s.least[g] = min(s.least[g], args[0][i])
		s.greatest[g] = max(s.greatest[g], args[0][i])
	}
	return nil
}

// Values appends the value of every group.
func (s *spans) Values(_ event.Window, dst *udf.Column) error {
	for g := range s.least {
		dst.Ints = append(dst.Ints, s.greatest[g]-s.least[g])
	}
	return nil
}

// Reset forgets the groups and keeps the memory.
func (s *spans) Reset() { s.least, s.greatest = s.least[:0], s.greatest[:0] }

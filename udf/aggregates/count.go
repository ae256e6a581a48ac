package aggregates

import (
	"slices"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

type counts struct{ n []int64 }

// Add implements udf.Accumulator.
func (c *counts) Add(_ [][]int64, of []int32, groups int) error {
	c.n = grown(c.n, groups, 0)
	n := c.n
	for _, g := range of {
		n[g]++
	}
	return nil
}

// Tally implements udf.Tallied.
func (c *counts) Tally(n []int64) {
	c.n = grown(c.n, len(n), 0)
	for g, v := range n {
		c.n[g] += v
	}
}

// Values implements udf.Accumulator.
func (c *counts) Values(_ event.Window, dst *udf.Column) error {
	dst.Ints = append(dst.Ints, c.n...)
	return nil
}

// Reset implements udf.Accumulator.
func (c *counts) Reset() { c.n = c.n[:0] }

type rates struct{ counts }

// Values implements udf.Accumulator: a million times the count by the window's duration in microseconds.
func (r *rates) Values(w event.Window, dst *udf.Column) error {
	span := uint64(w.End) - uint64(w.Start) // no overflow, whatever the times
	out := floats(dst, len(r.n))
	if w.End <= w.Start {
		old := len(dst.Floats) - len(out)
		dst.Nulls = append(grown(dst.Nulls, old, false), slices.Repeat([]bool{true}, len(out))...)
		return nil
	}
	if dst.Nulls != nil {
		dst.Nulls = grown(dst.Nulls, len(dst.Floats), false)
	}
	for i, n := range r.n {
		out[i] = float64(n) * 1e6 / float64(span)
	}
	return nil
}

type seconds struct{ groups int }

// Add implements udf.Accumulator.
func (s *seconds) Add(_ [][]int64, _ []int32, groups int) error {
	s.groups = max(s.groups, groups)
	return nil
}

// Values implements udf.Accumulator.
func (s *seconds) Values(w event.Window, dst *udf.Column) error {
	old := len(dst.Floats)
	for i := range floats(dst, s.groups) {
		dst.Floats[old+i] = float64(udf.Duration(w.Start, w.End)) / 1e6
	}
	return nil
}

// Reset implements udf.Accumulator.
func (s *seconds) Reset() { s.groups = 0 }

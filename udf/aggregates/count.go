// Package aggregates holds the functions that turn a group of events into one value.
//
// They see integers computed from the events, and refuse to know what they mean.
package aggregates

import (
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// Count counts the events of each group.
var Count udf.Aggregate = count{}

type count struct{}

func (count) String() string           { return "count" }
func (count) Arity() (least, most int) { return 0, 0 }
func (count) Float() bool              { return false }
func (count) Open() udf.Accumulator    { return &counts{} }

type counts struct{ n []int64 }

func (c *counts) Add(_ [][]int64, of []int32, groups int) error {
	for len(c.n) < groups {
		c.n = append(c.n, 0)
	}
	for _, g := range of {
		c.n[g]++
	}
	return nil
}

func (c *counts) Values(_ event.Window, dst *udf.Column) error {
	dst.Ints = append(dst.Ints, c.n...)
	return nil
}

func (c *counts) Reset() { c.n = c.n[:0] }

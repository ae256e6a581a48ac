// Package exprs says what can be said of one event: predicates, integers computed from it, and transforms of it; as
// values and as text.
//
// Whatever needs to see a second event belongs in package udf. It refuses to know files and sensors: who reads a
// mask image or knows a sensor's size hands it in. The set of nodes is closed; what a program adds are functions.
package exprs

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
)

// An Expr is a pure predicate over one event. It has no state: any number of goroutines may use one.
type Expr interface {
	// String prints the predicate as users write it; Parse reads it back.
	fmt.Stringer
	// Box returns a box that holds every event that satisfies the predicate, as small as is known.
	Box() event.Box
	// Columns are the columns it reads beside t; 0 where it reads only t or nothing.
	Columns() event.Columns
	// Mask clears keep[i] for every event i that does not satisfy the predicate. keep is as long as b; a column that
	// b lacks reads as 0.
	Mask(b event.Batch, keep []bool)

	// box is Box of those events that lie within a box.
	box(within event.Box) event.Box
	// mask is Mask of at most blockLen events.
	mask(b event.Batch, keep []bool, s *scratch)
}

// True holds for every event.
var True Expr = constant(true)

// False holds for no event.
var False Expr = constant(false)

type constant bool

func (c constant) String() string               { return fmt.Sprint(bool(c)) }
func (constant) Columns() event.Columns         { return 0 }
func (c constant) Box() event.Box               { return c.box(event.Everything) }
func (c constant) Mask(b event.Batch, k []bool) { c.mask(b, k, nil) }
func (c constant) mask(_ event.Batch, keep []bool, _ *scratch) {
	if !c {
		clear(keep)
	}
}

func (c constant) box(within event.Box) event.Box {
	if c {
		return within
	}
	return event.Nothing
}

// maskBlocks masks a block of events at a time, so that what is computed on the way stays in the nearest cache.
func maskBlocks(e Expr, b event.Batch, keep []bool) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for i := 0; i < b.Len(); i += blockLen {
		j := min(i+blockLen, b.Len())
		e.mask(b.Slice(i, j), keep[i:j], s)
	}
}

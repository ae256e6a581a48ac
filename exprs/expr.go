// Package exprs says what can be said of one event: predicates, and integers computed from it.
//
// Whatever needs to see a second event belongs in package udf. The set of nodes is closed.
package exprs

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
)

// An Expr is a pure predicate over one event.
type Expr interface {
	// String prints the predicate as users write it.
	fmt.Stringer
	// Box returns the smallest box known to hold every event that satisfies the predicate.
	Box() event.Box
	// Columns are the columns it reads beside t; 0 where it reads only t or nothing.
	Columns() event.Columns
	// Mask clears keep[i] for every event i that does not satisfy the predicate.
	Mask(b event.Batch, keep []bool)
	isExpr()
}

// True holds for every event.
var True Expr = constant(true)

// False holds for no event.
var False Expr = constant(false)

type constant bool

func (constant) isExpr()                {}
func (c constant) String() string       { return fmt.Sprint(bool(c)) }
func (constant) Columns() event.Columns { return 0 }

func (c constant) Box() event.Box {
	if c {
		return event.Everything
	}
	return event.Nothing
}

func (c constant) Mask(_ event.Batch, keep []bool) {
	if !c {
		clear(keep)
	}
}

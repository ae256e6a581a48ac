package exprs

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
)

// between holds where lo <= v <= hi; MinInt64 and MaxInt64 stand for an open side.
type between struct {
	v      Value
	lo, hi int64
}

func (*between) isExpr()                  {}
func (e *between) Columns() event.Columns { return e.v.Columns() }

func (e *between) String() string {
	switch {
	case e.lo == e.hi:
		return fmt.Sprintf("%v = %d", e.v, e.lo)
	case e.lo == math.MinInt64:
		return fmt.Sprintf("%v <= %d", e.v, e.hi)
	case e.hi == math.MaxInt64:
		return fmt.Sprintf("%v >= %d", e.v, e.lo)
	}
	return fmt.Sprintf("%v between %d and %d", e.v, e.lo, e.hi)
}

// Box undoes divisions; a remainder says nothing of the column itself.
func (e *between) Box() event.Box {
	if e.lo > e.hi {
		return event.Nothing
	}
	lo, hi := e.lo, e.hi
	for i := len(e.v.ops) - 1; i >= 0; i-- {
		o := e.v.ops[i]
		if o.kind == mod {
			if hi < 0 || lo >= o.by {
				return event.Nothing
			}
			lo, hi = math.MinInt64, math.MaxInt64
			continue
		}
		lo, hi = mulSat(lo, o.by), addSat(mulSat(hi, o.by), o.by-1)
	}
	return columnBox(e.v.col, lo, hi)
}

// mulSat multiplies by a positive constant and stops at the ends of int64.
func mulSat(n, by int64) int64 {
	switch {
	case n > math.MaxInt64/by:
		return math.MaxInt64
	case n < math.MinInt64/by:
		return math.MinInt64
	}
	return n * by
}

// addSat adds a constant that is not negative and stops at the end of int64.
func addSat(n, by int64) int64 {
	if n > math.MaxInt64-by {
		return math.MaxInt64
	}
	return n + by
}

// columnBox is the box of the events whose column lies in [lo, hi].
func columnBox(c column, lo, hi int64) event.Box {
	b := event.Everything
	limit := int64(math.MaxUint16)
	switch c {
	case colT:
		b.T0, b.T1 = lo, hi
		return b
	case colP:
		limit = 1
	}
	if hi < 0 || lo > limit {
		return event.Nothing
	}
	lo, hi = max(lo, 0), min(hi, limit)
	switch c {
	case colX:
		b.X0, b.X1 = uint16(lo), uint16(hi)
	case colY:
		b.Y0, b.Y1 = uint16(lo), uint16(hi)
	case colP:
		b.P0, b.P1 = int8(lo), int8(hi)
	}
	return b
}

func (e *between) Mask(b event.Batch, keep []bool) {
	if len(e.v.ops) > 0 {
		e.maskComputed(b, keep)
		return
	}
	switch e.v.col {
	case colT:
		inRange(b.T(), e.lo, e.hi, keep)
	case colX:
		inRange(b.X(), e.lo, e.hi, keep)
	case colY:
		inRange(b.Y(), e.lo, e.hi, keep)
	case colP:
		inRange(b.P(), e.lo, e.hi, keep)
	}
}

// inRange clears keep where a value is out of range: as bits, for a branch that the data decides costs more than all
// else. hi-lo holds as an unsigned number even where it overflows.
func inRange[N int64 | uint16 | int8](v []N, lo, hi int64, keep []bool) {
	if lo > hi {
		clear(keep)
		return
	}
	span := uint64(hi) - uint64(lo)
	keep = keep[:len(v)]
	for i, n := range v {
		in, k := 0, 0
		if uint64(int64(n))-uint64(lo) <= span {
			in = 1
		}
		if keep[i] {
			k = 1
		}
		keep[i] = in&k != 0
	}
}

// maskComputed evaluates a block at a time, so that its scratch stays on the stack.
func (e *between) maskComputed(b event.Batch, keep []bool) {
	var room [512]int64
	for i := 0; i < b.Len(); i += len(room) {
		j := min(i+len(room), b.Len())
		v := room[:j-i]
		e.v.Eval(b.Slice(i, j), v)
		inRange(v, e.lo, e.hi, keep[i:j])
	}
}

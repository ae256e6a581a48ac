package exprs

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
)

// Lt holds where the value is less than n.
func (v Value) Lt(n int64) Expr {
	if n == math.MinInt64 {
		return False
	}
	return v.Between(math.MinInt64, n-1)
}

// Le holds where the value is at most n.
func (v Value) Le(n int64) Expr { return v.Between(math.MinInt64, n) }

// Gt holds where the value is greater than n.
func (v Value) Gt(n int64) Expr {
	if n == math.MaxInt64 {
		return False
	}
	return v.Between(n+1, math.MaxInt64)
}

// Ge holds where the value is at least n.
func (v Value) Ge(n int64) Expr { return v.Between(n, math.MaxInt64) }

// Eq holds where the value is n.
func (v Value) Eq(n int64) Expr { return v.Between(n, n) }

// Ne holds where the value is not n.
func (v Value) Ne(n int64) Expr { return Not(v.Eq(n)) }

// Between holds where lo <= value <= hi.
func (v Value) Between(lo, hi int64) Expr { return &between{v, Interval{lo, hi}} }

// between holds where a value lies in an interval; the ends of int64 stand for an open side.
type between struct {
	v  Value
	in Interval
}

func (e *between) Columns() event.Columns          { return e.v.Columns() }
func (e *between) Box() event.Box                  { return e.box(event.Everything) }
func (e *between) box(within event.Box) event.Box  { return e.v.narrow(e.in, within) }
func (e *between) Mask(b event.Batch, keep []bool) { maskBlocks(e, b, keep) }
func (e *between) String() string                  { return e.text("") }

// text prints the predicate, or its opposite where not is "not ".
func (e *between) text(not string) string {
	switch {
	case e.in.Lo == e.in.Hi && not == "":
		return fmt.Sprintf("%v = %d", e.v, e.in.Lo)
	case e.in.Lo == e.in.Hi:
		return fmt.Sprintf("%v != %d", e.v, e.in.Lo)
	case e.in.Lo == math.MinInt64 && not == "":
		return fmt.Sprintf("%v <= %d", e.v, e.in.Hi)
	case e.in.Hi == math.MaxInt64 && not == "":
		return fmt.Sprintf("%v >= %d", e.v, e.in.Lo)
	}
	return fmt.Sprintf("%v %sbetween %d and %d", e.v, not, e.in.Lo, e.in.Hi)
}

func (e *between) mask(b event.Batch, keep []bool, s *scratch) {
	if c, low, ok := e.v.coordinate(); ok && has(b, c) {
		inShortRange(coordinates(b, c), low, e.in, keep)
		return
	}
	switch c, ok := e.v.column(); {
	case ok && c == colT:
		inRange(b.T(), e.in, keep)
	case ok && c == colP && has(b, colP):
		inRange(b.P(), e.in, keep)
	default:
		v := s.ints.take(len(keep))
		e.v.eval(b, v, s)
		inRange(v, e.in, keep)
		s.ints.give(1)
	}
}

// coordinate reports whether a value is x or y, or one of them modulo a power of two: the low bits of it.
func (v Value) coordinate() (c column, low uint16, ok bool) {
	low = math.MaxUint16
	if t := v.term(); t.kind == ofMod && t.n <= 1<<16 && t.n&(t.n-1) == 0 {
		v, low = t.args[0], uint16(t.n-1)
	}
	c, ok = v.column()
	return c, low, ok && (c == colX || c == colY)
}

func coordinates(b event.Batch, c column) []uint16 {
	if c == colX {
		return b.X()
	}
	return b.Y()
}

// has reports whether a batch has a column.
func has(b event.Batch, c column) bool {
	switch c {
	case colX:
		return len(b.X()) == b.Len()
	case colY:
		return len(b.Y()) == b.Len()
	case colP:
		return len(b.P()) == b.Len()
	}
	return true
}

// bit returns 1 for true. Masks are computed as bits, for a branch that the data decides costs more than all else.
func bit(b bool) uint8 {
	var n uint8
	if b {
		n = 1
	}
	return n
}

// inRange clears keep where a value is out of range. Hi-Lo holds as an unsigned number even where it overflows.
func inRange[N int64 | int8](v []N, r Interval, keep []bool) {
	if r.empty() {
		clear(keep)
		return
	}
	span := uint64(r.Hi) - uint64(r.Lo)
	keep = keep[:len(v)]
	for i, n := range v {
		keep[i] = bit(uint64(int64(n))-uint64(r.Lo) <= span)&bit(keep[i]) != 0
	}
}

// inShortRange is inRange of the low bits of coordinates.
func inShortRange(v []uint16, low uint16, r Interval, keep []bool) {
	lo, span, ok := short(r)
	if !ok {
		clear(keep)
		return
	}
	keep = keep[:len(v)]
	for i, n := range v {
		keep[i] = bit(n&low-lo <= span)&bit(keep[i]) != 0
	}
}

// inRect clears keep where the low bits of one coordinate or of the other are out of their range, in one pass.
func inRect(v, w []uint16, lowV, lowW uint16, rv, rw Interval, keep []bool) {
	v0, spanV, okV := short(rv)
	w0, spanW, okW := short(rw)
	if !okV || !okW {
		clear(keep)
		return
	}
	v, w = v[:len(keep)], w[:len(keep)]
	for i := range keep {
		keep[i] = bit(v[i]&lowV-v0 <= spanV)&bit(w[i]&lowW-w0 <= spanW)&bit(keep[i]) != 0
	}
}

// short returns the part of an interval that coordinates can lie in, as its start and its length less one.
func short(r Interval) (lo, span uint16, ok bool) {
	r = r.meet(Interval{0, math.MaxUint16})
	return uint16(r.Lo), uint16(r.Hi - r.Lo), !r.empty()
}

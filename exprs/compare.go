package exprs

import (
	"math"

	"github.com/evq-project/evq/io/event"
)

// Lt holds where a < b.
func Lt(a, b Value) Expr {
	if n, ok := b.constant(); ok {
		return a.Lt(n)
	}
	if n, ok := a.constant(); ok {
		return b.Gt(n)
	}
	return &compare{less, a, b}
}

// Le holds where a <= b.
func Le(a, b Value) Expr {
	if n, ok := b.constant(); ok {
		return a.Le(n)
	}
	if n, ok := a.constant(); ok {
		return b.Ge(n)
	}
	return &compare{atMost, a, b}
}

// Gt holds where a > b.
func Gt(a, b Value) Expr {
	if n, ok := b.constant(); ok {
		return a.Gt(n)
	}
	return Lt(b, a)
}

// Ge holds where a >= b.
func Ge(a, b Value) Expr {
	if n, ok := b.constant(); ok {
		return a.Ge(n)
	}
	return Le(b, a)
}

// Eq holds where a = b.
func Eq(a, b Value) Expr {
	if n, ok := b.constant(); ok {
		return a.Eq(n)
	}
	if n, ok := a.constant(); ok {
		return b.Eq(n)
	}
	return &compare{equal, a, b}
}

// Ne holds where a and b differ.
func Ne(a, b Value) Expr { return Not(Eq(a, b)) }

// compare compares two values that both depend on the event.
type compare struct {
	op   comparison
	a, b Value
}

type comparison uint8

const (
	less comparison = iota
	atMost
	equal
)

func (e *compare) Columns() event.Columns          { return e.a.Columns() | e.b.Columns() }
func (e *compare) Box() event.Box                  { return e.box(event.Everything) }
func (e *compare) Mask(b event.Batch, keep []bool) { maskBlocks(e, b, keep) }
func (e *compare) String() string                  { return e.text([...]string{" < ", " <= ", " = "}[e.op]) }
func (e *compare) text(op string) string           { return e.a.String() + op + e.b.String() }

// box gives each side the range that the other leaves it.
func (e *compare) box(within event.Box) event.Box {
	if within.Empty() {
		return event.Nothing
	}
	a, b := e.a.rangeIn(within), e.b.rangeIn(within)
	toA, toB := b, a
	if e.op != equal {
		toA.Lo, toB.Hi = math.MinInt64, math.MaxInt64
	}
	if e.op == less {
		if b.Hi == math.MinInt64 || a.Lo == math.MaxInt64 {
			return event.Nothing
		}
		toA.Hi, toB.Lo = b.Hi-1, a.Lo+1
	}
	return e.b.narrow(toB, e.a.narrow(toA, within))
}

func (e *compare) mask(b event.Batch, keep []bool, s *scratch) {
	v, w := s.ints.take(len(keep)), s.ints.take(len(keep))
	e.a.eval(b, v, s)
	e.b.eval(b, w, s)
	switch e.op {
	case less:
		for i, n := range v {
			keep[i] = bit(n < w[i])&bit(keep[i]) != 0
		}
	case atMost:
		for i, n := range v {
			keep[i] = bit(n <= w[i])&bit(keep[i]) != 0
		}
	case equal:
		for i, n := range v {
			keep[i] = bit(n == w[i])&bit(keep[i]) != 0
		}
	}
	s.ints.give(2)
}

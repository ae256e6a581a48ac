package exprs

import (
	"math"

	"github.com/evq-project/evq/io/event"
)

// Range returns bounds of the value for the events that lie in a box: no event has a value outside. lo > hi where the
// box is empty.
func (v Value) Range(box event.Box) (lo, hi int64) {
	if box.Empty() {
		return nothing.Lo, nothing.Hi
	}
	r := v.rangeIn(box)
	return r.Lo, r.Hi
}

// rangeIn is Range of a box that is not empty.
func (v Value) rangeIn(box event.Box) Interval {
	t := v.term()
	switch {
	case t.kind == ofColumn:
		return columnRange(t.col, box)
	case box == event.Everything:
		return t.all
	}
	return t.rangeOf(func(a Value) Interval { return a.rangeIn(box) })
}

// rangeOf computes the bounds of a value from those of its operands. Every operation is monotone in each operand, or
// takes its extremes at their ends.
func (t *term) rangeOf(of func(Value) Interval) Interval {
	var a, b Interval
	switch len(t.args) {
	case 2:
		a, b = of(t.args[0]), of(t.args[1])
	case 1:
		a = of(t.args[0])
	}
	switch t.kind {
	case ofConst:
		return Interval{t.n, t.n}
	case ofAdd:
		return Interval{addSat(a.Lo, b.Lo), addSat(a.Hi, b.Hi)}
	case ofSub:
		return Interval{subSat(a.Lo, b.Hi), subSat(a.Hi, b.Lo)}
	case ofMul:
		return hull(mulSat(a.Lo, b.Lo), mulSat(a.Lo, b.Hi), mulSat(a.Hi, b.Lo), mulSat(a.Hi, b.Hi))
	case ofNeg:
		return Interval{subSat(0, a.Hi), subSat(0, a.Lo)}
	case ofDiv:
		return Interval{floorDiv(a.Lo, t.n), floorDiv(a.Hi, t.n)}
	case ofMod:
		if floorDiv(a.Lo, t.n) == floorDiv(a.Hi, t.n) {
			return Interval{floorMod(a.Lo, t.n), floorMod(a.Hi, t.n)}
		}
		return Interval{0, t.n - 1}
	case ofAnd:
		return andRange(a, b)
	case ofCall:
		return t.fn.rangeOf(t.args, of)
	}
	return t.all
}

func andRange(a, b Interval) Interval {
	switch {
	case a.Lo == a.Hi && b.Lo == b.Hi:
		return Interval{a.Lo & b.Lo, a.Lo & b.Lo}
	case a.Lo >= 0 && b.Lo >= 0:
		return Interval{0, min(a.Hi, b.Hi)}
	case a.Lo >= 0:
		return Interval{0, a.Hi}
	case b.Lo >= 0:
		return Interval{0, b.Hi}
	}
	return Interval{math.MinInt64, max(a.Hi, b.Hi)}
}

// columnRange returns the side of a box that bounds a column.
func columnRange(c column, b event.Box) Interval {
	switch c {
	case colX:
		return Interval{int64(b.X0), int64(b.X1)}
	case colY:
		return Interval{int64(b.Y0), int64(b.Y1)}
	case colP:
		return Interval{int64(b.P0), int64(b.P1)}
	}
	return Interval{b.T0, b.T1}
}

// columnBox returns the part of a box in which a column lies in r.
func columnBox(c column, r Interval, b event.Box) event.Box {
	r = r.meet(columnRange(c, b))
	if r.empty() {
		return event.Nothing
	}
	switch c {
	case colT:
		b.T0, b.T1 = r.Lo, r.Hi
	case colX:
		b.X0, b.X1 = uint16(r.Lo), uint16(r.Hi)
	case colY:
		b.Y0, b.Y1 = uint16(r.Lo), uint16(r.Hi)
	case colP:
		b.P0, b.P1 = int8(r.Lo), int8(r.Hi)
	}
	return b
}

// narrow returns the part of a box in which the value can lie in r: it goes down the tree and undoes one operation
// after the other, with the ranges of the other operands.
func (v Value) narrow(r Interval, b event.Box) event.Box {
	if b.Empty() || r.empty() || !v.rangeIn(b).meets(r) {
		return event.Nothing
	}
	t := v.term()
	switch t.kind {
	case ofColumn:
		return columnBox(t.col, r, b)
	case ofMod:
		if t.args[0].rangeIn(b).within(Interval{0, t.n - 1}) {
			return t.args[0].narrow(r, b)
		}
	case ofAnd:
		for _, a := range t.args { // a & b <= a where a is not negative
			if a.rangeIn(b).Lo >= 0 && r.Lo > 0 && !b.Empty() {
				b = a.narrow(Interval{r.Lo, math.MaxInt64}, b)
			}
		}
	case ofAdd, ofSub, ofMul, ofDiv, ofNeg:
		for i, a := range t.args {
			other := anything
			if len(t.args) == 2 {
				other = t.args[1-i].rangeIn(b)
			}
			in, _ := t.invert(i, r, other)
			if b = a.narrow(in, b); b.Empty() {
				return b
			}
		}
	}
	return b
}

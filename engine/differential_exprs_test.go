package engine_test

import (
	"slices"

	"github.com/evq-project/evq/exprs"
)

// A number is an integer of one event, for evq and for plain Go.
type number struct {
	v  exprs.Value
	is func(ev) int64
}

// A condition is a predicate, for evq and for plain Go.
type condition struct {
	e     exprs.Expr
	holds func(ev) bool
}

func (g *generator) column() number {
	switch g.r.IntN(7) {
	case 0:
		return number{exprs.T, func(e ev) int64 { return e.t }}
	case 1, 2:
		return number{exprs.X, func(e ev) int64 { return e.x }}
	case 3, 4:
		return number{exprs.Y, func(e ev) int64 { return e.y }}
	}
	return number{exprs.P, func(e ev) int64 { return e.p }}
}

func floorDiv(a, by int64) int64 {
	q := a / by
	if a%by < 0 {
		q--
	}
	return q
}

// number draws an integer whose value stays far from the ends of int64.
func (g *generator) number(depth int) number {
	if depth == 0 || g.r.IntN(3) == 0 {
		return g.column()
	}
	a, c := g.number(depth-1), 1+g.r.Int64N(9)
	switch g.r.IntN(9) {
	case 0:
		return number{a.v.Div(c), func(e ev) int64 { return floorDiv(a.is(e), c) }}
	case 1:
		return number{a.v.Mod(c), func(e ev) int64 { return a.is(e) - floorDiv(a.is(e), c)*c }}
	case 2:
		return number{a.v.Neg(), func(e ev) int64 { return -a.is(e) }}
	case 3:
		return number{exprs.Abs(a.v), func(e ev) int64 { return max(a.is(e), -a.is(e)) }}
	case 4:
		return number{a.v.Add(exprs.Const(c - 5)), func(e ev) int64 { return a.is(e) + c - 5 }}
	}
	b := g.number(depth - 1)
	switch g.r.IntN(5) {
	case 0:
		return number{exprs.Min(a.v, b.v), func(e ev) int64 { return min(a.is(e), b.is(e)) }}
	case 1:
		return number{exprs.Max(a.v, b.v), func(e ev) int64 { return max(a.is(e), b.is(e)) }}
	case 2:
		return number{a.v.Sub(b.v), func(e ev) int64 { return a.is(e) - b.is(e) }}
	case 3:
		return number{a.v.BitAnd(exprs.Const(c)), func(e ev) int64 { return a.is(e) & c }}
	}
	return number{a.v.Add(b.v), func(e ev) int64 { return a.is(e) + b.is(e) }}
}

// near draws a constant that a number of this recording may well have.
func (g *generator) near(n number) int64 {
	if len(g.evs) > 0 && g.r.IntN(5) > 0 {
		return n.is(g.evs[g.r.IntN(len(g.evs))]) + g.r.Int64N(3) - 1
	}
	return g.r.Int64N(24) - 4
}

func (g *generator) condition(depth int) condition {
	if depth > 0 && g.r.IntN(3) > 0 {
		a := g.condition(depth - 1)
		if g.r.IntN(4) == 0 {
			return condition{exprs.Not(a.e), func(e ev) bool { return !a.holds(e) }}
		}
		b := g.condition(depth - 1)
		if g.r.IntN(2) == 0 {
			return condition{exprs.And(a.e, b.e), func(e ev) bool { return a.holds(e) && b.holds(e) }}
		}
		return condition{exprs.Or(a.e, b.e), func(e ev) bool { return a.holds(e) || b.holds(e) }}
	}
	if g.r.IntN(6) == 0 {
		return g.region()
	}
	a := g.number(g.r.IntN(3))
	lo := g.near(a)
	hi := max(lo, g.near(a))
	switch g.r.IntN(7) {
	case 0, 1:
		return condition{a.v.Between(lo, hi), func(e ev) bool { return lo <= a.is(e) && a.is(e) <= hi }}
	case 2:
		return condition{a.v.Lt(lo), func(e ev) bool { return a.is(e) < lo }}
	case 3:
		return condition{a.v.Ge(lo), func(e ev) bool { return a.is(e) >= lo }}
	case 4:
		in := []int64{lo, hi, g.near(a), g.near(a)}
		return condition{a.v.In(in...), func(e ev) bool { return slices.Contains(in, a.is(e)) }}
	}
	b := g.number(g.r.IntN(2))
	switch g.r.IntN(3) {
	case 0:
		return condition{exprs.Lt(a.v, b.v), func(e ev) bool { return a.is(e) < b.is(e) }}
	case 1:
		return condition{exprs.Ge(a.v, b.v), func(e ev) bool { return a.is(e) >= b.is(e) }}
	}
	return condition{exprs.Ne(a.v, b.v), func(e ev) bool { return a.is(e) != b.is(e) }}
}

func (g *generator) region() condition {
	x, y := g.r.Int64N(20), g.r.Int64N(14)
	switch g.r.IntN(8) {
	case 0:
		return condition{exprs.True, func(ev) bool { return true }}
	case 1:
		return condition{exprs.False, func(ev) bool { return false }}
	case 2, 3:
		radius := 1 + g.r.Int64N(9)
		e, err := exprs.Circle(x, y, radius)
		if err != nil {
			panic(err)
		}
		return condition{e, func(e ev) bool { return (e.x-x)*(e.x-x)+(e.y-y)*(e.y-y) <= radius*radius }}
	}
	x1, y1 := x+g.r.Int64N(12), y+g.r.Int64N(12)
	return condition{exprs.InRect(x, y, x1, y1), func(e ev) bool { return e.x >= x && e.x <= x1 && e.y >= y && e.y <= y1 }}
}

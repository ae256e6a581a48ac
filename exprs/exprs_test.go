package exprs_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

func batch(r *rand.Rand, n int) event.Batch {
	b := event.NewBuffer(n)
	t := int64(-20)
	for range n {
		t += r.Int64N(3)
		b.Append(t, uint16(r.IntN(12)), uint16(r.IntN(9)), int8(r.IntN(2)))
	}
	return b.Batch()
}

func mask(e exprs.Expr, b event.Batch) []bool {
	keep := make([]bool, b.Len())
	for i := range keep {
		keep[i] = true
	}
	e.Mask(b, keep)
	return keep
}

func TestPredicates(t *testing.T) {
	b := batch(rand.New(rand.NewPCG(1, 1)), 2000)
	for _, c := range []struct {
		expr exprs.Expr
		text string
		want func(t, x, y, p int64) bool
	}{
		{exprs.X.Lt(6), "x <= 5", func(_, x, _, _ int64) bool { return x < 6 }},
		{exprs.X.Ge(6), "x >= 6", func(_, x, _, _ int64) bool { return x >= 6 }},
		{exprs.P.Eq(1), "p = 1", func(_, _, _, p int64) bool { return p == 1 }},
		{exprs.P.Ne(1), "p != 1", func(_, _, _, p int64) bool { return p == 0 }},
		{exprs.T.Between(-5, 40), "t between -5 and 40", func(t, _, _, _ int64) bool { return -5 <= t && t <= 40 }},
		{exprs.Y.Mod(2).Eq(1), "y % 2 = 1", func(_, _, y, _ int64) bool { return y%2 == 1 }},
		{exprs.X.Div(4).Eq(2), "x // 4 = 2", func(_, x, _, _ int64) bool { return x/4 == 2 }},
		{exprs.T.Div(10).Eq(-2), "t // 10 = -2", func(t, _, _, _ int64) bool { return -20 <= t && t < -10 }},
		{exprs.InRect(2, 3, 4, 5), "x between 2 and 4 and y between 3 and 5",
			func(_, x, y, _ int64) bool { return 2 <= x && x <= 4 && 3 <= y && y <= 5 }},
		{exprs.Or(exprs.X.Eq(1), exprs.And(exprs.Y.Eq(2), exprs.P.Eq(0))), "x = 1 or (y = 2 and p = 0)",
			func(_, x, y, p int64) bool { return x == 1 || y == 2 && p == 0 }},
		{exprs.Not(exprs.Or(exprs.X.Eq(1), exprs.Y.Eq(2))), "not (x = 1 or y = 2)",
			func(_, x, y, _ int64) bool { return x != 1 && y != 2 }},
		{exprs.X.Lt(math.MinInt64), "false", func(_, _, _, _ int64) bool { return false }},
		{exprs.And(), "true", func(_, _, _, _ int64) bool { return true }},
	} {
		if got := c.expr.String(); got != c.text {
			t.Errorf("prints %q, want %q", got, c.text)
		}
		box, keep, simple := c.expr.Box(), mask(c.expr, b), mask(exprs.Simplify(c.expr), b)
		for i := range keep {
			ev := [4]int64{b.T()[i], int64(b.X()[i]), int64(b.Y()[i]), int64(b.P()[i])}
			want := c.want(ev[0], ev[1], ev[2], ev[3])
			if keep[i] != want || simple[i] != want {
				t.Fatalf("%v of event %v: mask %v, simplified %v, want %v", c.expr, ev, keep[i], simple[i], want)
			}
			if want && !inBox(box, ev) {
				t.Fatalf("%v holds for %v, which lies outside its box %v", c.expr, ev, box)
			}
		}
	}
}

func inBox(b event.Box, e [4]int64) bool {
	return b.T0 <= e[0] && e[0] <= b.T1 && int64(b.X0) <= e[1] && e[1] <= int64(b.X1) &&
		int64(b.Y0) <= e[2] && e[2] <= int64(b.Y1) && int64(b.P0) <= e[3] && e[3] <= int64(b.P1)
}

func TestBoxes(t *testing.T) {
	for _, c := range []struct {
		expr exprs.Expr
		want string
	}{
		{exprs.X.Lt(640), "x<=639"},
		{exprs.X.Lt(1 << 20), ""},
		{exprs.X.Lt(0), "nothing"},
		{exprs.X.Div(16).Eq(3), "x=48..63"},
		{exprs.T.Div(50000).Between(2, 3), "t=100000..199999"},
		{exprs.T.Div(1000).Ge(math.MaxInt64 / 10), "nothing"},
		{exprs.X.Mod(2).Eq(1), ""},
		{exprs.X.Mod(2).Eq(7), "nothing"},
		{exprs.P.Eq(2), "nothing"},
		{exprs.And(exprs.X.Ge(3), exprs.X.Le(9), exprs.T.Lt(0)), "t<=-1 x=3..9"},
		{exprs.Or(exprs.X.Eq(3), exprs.X.Eq(9)), "x=3..9"},
		{exprs.Or(exprs.X.Eq(3), exprs.Y.Eq(9)), ""},
		{exprs.Not(exprs.X.Eq(3)), ""},
		{parse("x + 10 < 50"), "x<=39"},
		{parse("100 - 2 * x >= 41"), "x<=29"},
		{parse("x < y"), "x<=65534 y>=1"},
		{parse("x < y and y < 10"), "x<=8 y=1..9"},
		{parse("y < 10 and x < y"), "x<=8 y=1..9"},
		{parse("x + y <= 20 and x >= 5"), "x=5..20 y<=15"},
		{parse("x >= 5 and x + y <= 20"), "x=5..20 y<=15"},
		{parse("t - x = 1000"), "t=1000..66535"},
		{parse("not (x < 5 or t > 9)"), "t<=9 x>=5"},
		{parse("x & 12 >= 8"), "x>=8"},
		{parse("x * y > 100"), ""},
		{parse("circle(10, 10, 3) at (x // 2, y)"), "x=14..27 y=7..13"},
		{parse("t in (5, 9) and abs(x) < 3"), "t=5..9"},
	} {
		if got := c.expr.Box().String(); got != c.want {
			t.Errorf("box of %v is %q, want %q", c.expr, got, c.want)
		}
	}
}

func parse(text string) exprs.Expr {
	e, err := exprs.Parse(text)
	if err != nil {
		panic(text + ": " + err.Error())
	}
	return e
}

func TestSimplify(t *testing.T) {
	for _, c := range []struct {
		expr exprs.Expr
		want string
	}{
		{exprs.And(exprs.X.Ge(3), exprs.X.Le(9)), "x between 3 and 9"},
		{exprs.And(exprs.X.Ge(9), exprs.X.Le(3)), "false"},
		{exprs.And(exprs.X.Ge(0), exprs.Y.Le(70000)), "true"},
		{exprs.And(exprs.P.Ge(0), exprs.Y.Le(7)), "y <= 7"},
		{exprs.Or(exprs.P.Eq(3), exprs.Y.Le(7)), "y <= 7"},
		{exprs.Or(exprs.P.Between(0, 1), exprs.Y.Le(7)), "true"},
		{exprs.Not(exprs.Not(exprs.Y.Le(7))), "y <= 7"},
		{exprs.And(exprs.Y.Le(7), exprs.And(exprs.X.Le(5), exprs.Y.Le(3))), "y <= 3 and x <= 5"},
		{exprs.X.Mod(2).Between(0, 1), "true"},
		{parse("x + 10 < 50"), "x <= 39"},
		{parse("2 * x < 101"), "x <= 50"},
		{parse("-3 * x > -10"), "x <= 3"},
		{parse("t // 1000 = 5"), "t between 5000 and 5999"},
		{parse("7 - (t - 3) // 2 >= 4"), "t <= 10"},
		{parse("t + 5 < -9223372036854775807"), "false"},
		{parse("t - 5 <= -9223372036854775808"), "t <= -9223372036854775803"},
		{parse("-6 * t between -9223372036854775807 and -9223372036854775804"), "t = 1537228672809129301"},
		{parse("2 * x = 7"), "false"},
		{parse("x % 100000 < 5"), "x <= 4"},
		{parse("p != 1"), "p = 0"},
		{parse("not (x < 5 or y = 3)"), "x >= 5 and y != 3"},
		{parse("not (x < 5 and y < 3)"), "x >= 5 or y >= 3"},
		{parse("not rect(1, 1, 5, 5)"), "not (x between 1 and 5 and y between 1 and 5)"},
		{parse("x = 1 or x = 2 or x = 3"), "x between 1 and 3"},
		{parse("x = 1 or x = 9 or x = 5"), "x in (1, 5, 9)"},
		{parse("x in (1, 2, 3, 70000)"), "x between 1 and 3"},
		{parse("x in (1, 5, 9) and x > 4"), "x in (5, 9)"},
		{parse("x < 100 and x != 5 and x != 7"), "x <= 99 and x not in (5, 7)"},
		{parse("x < 5 or x >= 5"), "true"},
		{parse("x = 3 and x != 3"), "false"},
		{parse("circle(1,1,5) and p = 1 and not circle(1,1,5)"), "false"},
		{parse("circle(1,1,5) or p = 1 or not circle(1,1,5)"), "true"},
		{parse("x < y and x < y and p = 1"), "x < y and p = 1"},
		{parse("x < y and x > 10 and y < 9"), "false"},
		{parse("x + 1 > x - 70000"), "true"},
		{parse("x <= x or p = 1"), "true"},
		{parse("-(t // 1) in (-1, 1, 2, 11)"), "t between -2 and -1 or t in (-11, 1)"},
		{parse("rect(0, 0, 319, 239)"), "x <= 319 and y <= 239"},
	} {
		if got := exprs.Simplify(c.expr).String(); got != c.want {
			t.Errorf("%v simplifies to %q, want %q", c.expr, got, c.want)
		}
	}
}

// TestRandomPredicates holds Simplify and Box to the mask on predicates that nobody thought of.
func TestRandomPredicates(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	b := batch(r, 600)
	for range 500 {
		e := random(r, 3)
		keep, simple, box := mask(e, b), mask(exprs.Simplify(e), b), e.Box()
		for i := range keep {
			if keep[i] != simple[i] {
				t.Fatalf("%v and its simplification %v disagree on event %d", e, exprs.Simplify(e), i)
			}
			ev := [4]int64{b.T()[i], int64(b.X()[i]), int64(b.Y()[i]), int64(b.P()[i])}
			if keep[i] && !inBox(box, ev) {
				t.Fatalf("%v holds for %v, outside its box %v", e, ev, box)
			}
		}
	}
}

func random(r *rand.Rand, depth int) exprs.Expr {
	if depth > 0 {
		a, b := random(r, depth-1), random(r, depth-1)
		switch r.IntN(4) {
		case 0:
			return exprs.And(a, b)
		case 1:
			return exprs.Or(a, b)
		case 2:
			return exprs.Not(a)
		}
	}
	v := []exprs.Value{exprs.T, exprs.X, exprs.Y, exprs.P}[r.IntN(4)]
	switch r.IntN(3) {
	case 0:
		v = v.Div(1 + r.Int64N(5))
	case 1:
		v = v.Mod(1 + r.Int64N(5))
	}
	lo := r.Int64N(16) - 6
	return v.Between(lo, lo+r.Int64N(9)-1)
}

// TestDeepTrees: no rewriting doubles its work from one level to the next, which a hundred levels would not survive.
func TestDeepTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	rows := randomRows(r, 200)
	b := batchOf(rows)
	for range 30 {
		p := randomPredicate(r, 0)
		for range 90 {
			q, leaf := p, randomPredicate(r, 0)
			switch r.IntN(3) {
			case 0:
				p = predicate{exprs.And(leaf.e, q.e), func(e row) bool { return leaf.holds(e) && q.holds(e) }}
			case 1:
				p = predicate{exprs.Or(q.e, leaf.e), func(e row) bool { return q.holds(e) || leaf.holds(e) }}
			case 2:
				p = predicate{exprs.Not(exprs.And(q.e, leaf.e)), func(e row) bool { return !(q.holds(e) && leaf.holds(e)) }}
			}
		}
		simple, box := exprs.Simplify(p.e), p.e.Box()
		keep := mask(simple, b)
		for i, e := range rows {
			if want := p.holds(e); keep[i] != want || want && !inBox(box, e) {
				t.Fatalf("%v of %v: %v, want %v, box %v", simple, e, keep[i], want, box)
			}
		}
	}
}

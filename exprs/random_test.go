package exprs_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

// A row is one event: t, x, y, p.
type row [4]int64

// A value is an expression beside a plain function that says what it must be, computed in unbounded integers.
type value struct {
	v  exprs.Value
	is func(row) int64
}

type predicate struct {
	e     exprs.Expr
	holds func(row) bool
}

var columns = []exprs.Value{exprs.T, exprs.X, exprs.Y, exprs.P}

// clamped computes in unbounded integers and stops at the ends of int64.
func clamped(op func(z, a, b *big.Int) *big.Int, a, b int64) int64 {
	z := op(new(big.Int), big.NewInt(a), big.NewInt(b))
	switch {
	case z.IsInt64():
		return z.Int64()
	case z.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func number(r *rand.Rand) int64 {
	switch r.IntN(12) {
	case 0:
		return math.MinInt64 + r.Int64N(3)
	case 1:
		return math.MaxInt64 - r.Int64N(3)
	case 2:
		return r.Int64() >> r.IntN(64)
	}
	return r.Int64N(24) - 8
}

func randomValue(r *rand.Rand, depth int) value {
	if depth == 0 || r.IntN(5) == 0 {
		if r.IntN(4) == 0 {
			n := number(r)
			return value{exprs.Const(n), func(row) int64 { return n }}
		}
		c := r.IntN(4)
		return value{columns[c], func(e row) int64 { return e[c] }}
	}
	a, by := randomValue(r, depth-1), 1+r.Int64N(9)
	if r.IntN(8) == 0 {
		by = 1 + r.Int64()
	}
	divided := func(op func(z, a, b *big.Int) *big.Int) func(row) int64 { // Euclid's and floor division agree here
		return func(e row) int64 { return clamped(op, a.is(e), by) }
	}
	switch k := r.IntN(10); k {
	case 0:
		return value{a.v.Div(by), divided((*big.Int).Div)}
	case 1:
		return value{a.v.Mod(by), divided((*big.Int).Mod)}
	case 2:
		return value{a.v.Neg(), func(e row) int64 { return clamped((*big.Int).Sub, 0, a.is(e)) }}
	case 3:
		return value{exprs.Abs(a.v), func(e row) int64 { return max(a.is(e), clamped((*big.Int).Sub, 0, a.is(e))) }}
	default:
		b := randomValue(r, depth-1)
		pair := func(op func(z, a, b *big.Int) *big.Int) func(row) int64 {
			return func(e row) int64 { return clamped(op, a.is(e), b.is(e)) }
		}
		switch k {
		case 4:
			return value{a.v.BitAnd(b.v), pair((*big.Int).And)}
		case 5:
			return value{exprs.Min(a.v, b.v), func(e row) int64 { return min(a.is(e), b.is(e)) }}
		case 6:
			return value{exprs.Max(a.v, b.v), func(e row) int64 { return max(a.is(e), b.is(e)) }}
		case 7:
			return value{a.v.Sub(b.v), pair((*big.Int).Sub)}
		case 8:
			return value{a.v.Mul(b.v), pair((*big.Int).Mul)}
		}
		return value{a.v.Add(b.v), pair((*big.Int).Add)}
	}
}

func randomPredicate(r *rand.Rand, depth int) predicate {
	if depth > 0 {
		a := randomPredicate(r, depth-1)
		if r.IntN(4) == 0 {
			return predicate{exprs.Not(a.e), func(e row) bool { return !a.holds(e) }}
		}
		b := randomPredicate(r, depth-1)
		if r.IntN(2) == 0 {
			return predicate{exprs.And(a.e, b.e), func(e row) bool { return a.holds(e) && b.holds(e) }}
		}
		return predicate{exprs.Or(a.e, b.e), func(e row) bool { return a.holds(e) || b.holds(e) }}
	}
	a := randomValue(r, r.IntN(4))
	lo := number(r)
	hi := lo
	if d := r.Int64N(9) - 1; lo < math.MaxInt64-8 {
		hi += d
	}
	switch r.IntN(7) {
	case 0:
		return predicate{a.v.Between(lo, hi), func(e row) bool { return lo <= a.is(e) && a.is(e) <= hi }}
	case 1:
		return predicate{a.v.Lt(lo), func(e row) bool { return a.is(e) < lo }}
	case 2:
		return predicate{a.v.Ge(lo), func(e row) bool { return a.is(e) >= lo }}
	case 3:
		numbers := make([]int64, r.IntN(6))
		for i := range numbers {
			numbers[i] = number(r)
		}
		return predicate{a.v.In(numbers...), func(e row) bool { return slices.Contains(numbers, a.is(e)) }}
	case 4:
		return randomRegion(r, a)
	}
	b := randomValue(r, r.IntN(3))
	switch r.IntN(3) {
	case 0:
		return predicate{exprs.Lt(a.v, b.v), func(e row) bool { return a.is(e) < b.is(e) }}
	case 1:
		return predicate{exprs.Le(a.v, b.v), func(e row) bool { return a.is(e) <= b.is(e) }}
	}
	return predicate{exprs.Ne(a.v, b.v), func(e row) bool { return a.is(e) != b.is(e) }}
}

func randomRegion(r *rand.Rand, x value) predicate {
	cx, cy, radius := r.Int64N(12), r.Int64N(12), r.Int64N(6)
	e, err := exprs.Circle(cx, cy, radius)
	if err != nil {
		panic(err)
	}
	holds := func(x, y int64) bool {
		if max(x, -x) > 100 || max(y, -y) > 100 || x < 0 || y < 0 { // pixels only
			return false
		}
		return (x-cx)*(x-cx)+(y-cy)*(y-cy) <= radius*radius
	}
	if r.IntN(2) == 0 {
		return predicate{e, func(e row) bool { return holds(e[1], e[2]) }}
	}
	moved, _ := exprs.At(e, x.v, exprs.Y)
	return predicate{moved, func(e row) bool { return holds(x.is(e), e[2]) }}
}

// randomRows are events small and extreme, in time order.
func randomRows(r *rand.Rand, n int) []row {
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{number(r), r.Int64N(14), r.Int64N(12), r.Int64N(2)}
		if r.IntN(9) == 0 {
			rows[i][1] = 65535 - r.Int64N(2)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return slices.Compare(a[:1], b[:1]) })
	return rows
}

func batchOf(rows []row) event.Batch {
	b := event.NewBuffer(len(rows))
	for _, e := range rows {
		b.Append(e[0], uint16(e[1]), uint16(e[2]), int8(e[3]))
	}
	return b.Batch()
}

func TestRandomValues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	rows := randomRows(r, 1500)
	b := batchOf(rows)
	got := make([]int64, b.Len())
	for range 600 {
		v := randomValue(r, 1+r.IntN(4))
		v.v.Eval(b, got)
		box := event.Everything
		if r.IntN(2) == 0 {
			box.T0, box.X1, box.Y0 = -r.Int64N(4), uint16(r.IntN(20)), uint16(r.IntN(8))
		}
		lo, hi := v.v.Range(box)
		for i, e := range rows {
			if want := v.is(e); got[i] != want {
				t.Fatalf("%v of %v is %d, want %d", v.v, e, got[i], want)
			}
			if inBox(box, e) && (got[i] < lo || got[i] > hi) {
				t.Fatalf("%v of %v is %d, outside %d to %d of box %v", v.v, e, got[i], lo, hi, box)
			}
		}
		again, err := exprs.ParseValue(v.v.String())
		if err != nil || !again.Equal(v.v) {
			t.Fatalf("%v is read as %v, %v", v.v, again, err)
		}
	}
}

// TestRandomTrees holds the mask, the box, Simplify, Parse and String to the plain function.
func TestRandomTrees(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	rows := randomRows(r, 1100)
	b := batchOf(rows)
	for range 700 {
		p := randomPredicate(r, r.IntN(4))
		simple := exprs.Simplify(p.e)
		read, err := exprs.Parse(p.e.String())
		if err != nil || read.String() != p.e.String() {
			t.Fatalf("%v is read as %v, %v", p.e, read, err)
		}
		if twice := exprs.Simplify(simple).String(); twice != simple.String() {
			t.Errorf("%v simplifies to %v and that to %v", p.e, simple, twice)
		}
		keep, keepSimple, keepRead := mask(p.e, b), mask(simple, b), mask(read, b)
		box, simpleBox := p.e.Box(), simple.Box()
		for i, e := range rows {
			want := p.holds(e)
			if keep[i] != want || keepSimple[i] != want || keepRead[i] != want {
				t.Fatalf("%v of %v: %v; simplified to %v: %v; read: %v; want %v", p.e, e, keep[i], simple, keepSimple[i], keepRead[i], want)
			}
			if want && (!inBox(box, e) || !inBox(simpleBox, e)) {
				t.Fatalf("%v holds for %v, outside its box %v or its simplification's %v", p.e, e, box, simpleBox)
			}
		}
	}
}

// TestSubstitute compares a substituted predicate with the predicate of the substituted event.
func TestSubstitute(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	rows := randomRows(r, 300)
	b := batchOf(rows)
	for range 500 {
		p := randomPredicate(r, r.IntN(3))
		var c [4]value
		for i := range c {
			c[i] = randomValue(r, r.IntN(3))
		}
		e := exprs.Substitute(p.e, exprs.Columns{T: c[0].v, X: c[1].v, Y: c[2].v, P: c[3].v})
		for i, keep := range mask(e, b) {
			old := rows[i]
			if moved := (row{c[0].is(old), c[1].is(old), c[2].is(old), c[3].is(old)}); keep != p.holds(moved) {
				t.Fatalf("%v became %v, which is %v of %v", p.e, e, keep, old)
			}
		}
	}
	same := exprs.Substitute(exprs.Lt(exprs.X, exprs.Y), exprs.Columns{X: exprs.Const(3)})
	if same.String() != "y >= 4" {
		t.Errorf("columns left out do not stay: %v", same)
	}
}

func TestZeroValueIsTime(t *testing.T) {
	var v exprs.Value
	if v.String() != "t" || !v.Equal(exprs.T) || v.Add(exprs.Const(1)).String() != "t + 1" {
		t.Errorf("%v", v)
	}
}

package exprs

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
)

// A Value is an integer computed from one event: a column, or a column divided or reduced. Values are group
// keys, and comparing one with a constant makes a predicate.
type Value struct {
	col column
	ops []op
}

type column uint8

const (
	colT column = iota
	colX
	colY
	colP
)

// The four fields of an event: the time in microseconds, the pixel, and the polarity (0 = OFF, 1 = ON).
var (
	T = Value{col: colT}
	X = Value{col: colX}
	Y = Value{col: colY}
	P = Value{col: colP}
)

// An op is one step applied to the value so far, with a positive constant.
type op struct {
	kind opKind
	by   int64
}

type opKind uint8

const (
	floorDiv opKind = iota
	mod
)

// Div divides by a positive constant, rounding towards minus infinity. It panics where by < 1.
func (v Value) Div(by int64) Value { return v.with(op{floorDiv, by}) }

// Mod is the remainder of Div, from 0 to by-1. It panics where by < 1.
func (v Value) Mod(by int64) Value { return v.with(op{mod, by}) }

func (v Value) with(o op) Value {
	if o.by < 1 {
		panic(fmt.Sprintf("exprs: %v divided by %d", v, o.by))
	}
	return Value{v.col, append(v.ops[:len(v.ops):len(v.ops)], o)}
}

// String prints the value as users write it, such as y // 2.
func (v Value) String() string {
	s := string("txyp"[v.col])
	for i, o := range v.ops {
		if i > 0 {
			s = "(" + s + ")"
		}
		s += [...]string{" // ", " % "}[o.kind] + fmt.Sprint(o.by)
	}
	return s
}

// Equal reports whether both values are computed alike.
func (v Value) Equal(o Value) bool { return v.String() == o.String() }

// Columns are the columns it reads beside t.
func (v Value) Columns() event.Columns {
	return [...]event.Columns{colT: 0, colX: event.ColX, colY: event.ColY, colP: event.ColP}[v.col]
}

// Eval computes the value of each event into dst, which is as long as b.
func (v Value) Eval(b event.Batch, dst []int64) {
	switch v.col {
	case colT:
		copy(dst, b.T())
	case colX:
		widen(dst, b.X())
	case colY:
		widen(dst, b.Y())
	case colP:
		widen(dst, b.P())
	}
	for _, o := range v.ops {
		o.apply(dst)
	}
}

func widen[N uint16 | int8](dst []int64, src []N) {
	for i, n := range src {
		dst[i] = int64(n)
	}
}

func (o op) apply(v []int64) {
	for i, n := range v {
		q, r := n/o.by, n%o.by
		if r < 0 { // Go rounds towards zero
			q, r = q-1, r+o.by
		}
		if o.kind == floorDiv {
			v[i] = q
		} else {
			v[i] = r
		}
	}
}

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
func (v Value) Between(lo, hi int64) Expr { return &between{v, lo, hi} }

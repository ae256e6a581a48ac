package exprs

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/evq-project/evq/io/event"
)

// A Value is an integer computed from one event: a column, a constant, or arithmetic on them. Values are group keys,
// and comparing two makes a predicate. They are int64; what would leave int64 stays at its end, so that
// x + 9223372036854775807 is 9223372036854775807 and no comparison turns round. The zero Value is T.
type Value struct{ of *term }

// A term is a node of a value's tree. It never changes.
type term struct {
	kind kind
	col  column  // of a column
	n    int64   // of a constant; the divisor of // and %
	args []Value // operands
	fn   *Func   // of a call

	all    Interval // what it can be for any event
	cols   event.Columns
	height int
}

type kind uint8

const (
	ofColumn kind = iota
	ofConst
	ofAdd
	ofSub
	ofMul
	ofDiv
	ofMod
	ofAnd
	ofNeg
	ofCall
)

// operators are how the operations of two values are written.
var operators = [...]string{ofAdd: "+", ofSub: "-", ofMul: "*", ofDiv: "//", ofMod: "%", ofAnd: "&", ofCall: ""}

type column uint8

const (
	colT column = iota
	colX
	colY
	colP
)

// The four fields of an event: the time in microseconds, the pixel, and the polarity (0 = OFF, 1 = ON).
var (
	T = newColumn(colT, 0)
	X = newColumn(colX, event.ColX)
	Y = newColumn(colY, event.ColY)
	P = newColumn(colP, event.ColP)
)

func newColumn(c column, reads event.Columns) Value {
	return Value{&term{col: c, cols: reads, all: columnRange(c, event.Everything)}}
}

// term returns the root of the tree.
func (v Value) term() *term {
	if v.of == nil {
		return T.of
	}
	return v.of
}

// Const is the value n for every event.
func Const(n int64) Value { return Value{&term{kind: ofConst, n: n, all: Interval{n, n}}} }

// Add is the sum.
func (v Value) Add(w Value) Value { return newTerm(ofAdd, 0, v, w) }

// Sub is the difference.
func (v Value) Sub(w Value) Value { return newTerm(ofSub, 0, v, w) }

// Mul is the product.
func (v Value) Mul(w Value) Value { return newTerm(ofMul, 0, v, w) }

// BitAnd is the bitwise and of two's complements.
func (v Value) BitAnd(w Value) Value { return newTerm(ofAnd, 0, v, w) }

// Neg changes the sign.
func (v Value) Neg() Value { return newTerm(ofNeg, 0, v) }

// Div divides by a positive constant, rounding towards minus infinity. It panics where by < 1.
func (v Value) Div(by int64) Value { return newTerm(ofDiv, v.divisor(by), v) }

// Mod is the remainder of Div, from 0 to by-1. It panics where by < 1.
func (v Value) Mod(by int64) Value { return newTerm(ofMod, v.divisor(by), v) }

func (v Value) divisor(by int64) int64 {
	if by < 1 {
		panic(fmt.Sprintf("exprs: %v divided by %d", v, by))
	}
	return by
}

// newTerm makes an operation; of constants alone it is a constant.
func newTerm(k kind, n int64, args ...Value) Value {
	if k == ofDiv && n == 1 {
		return args[0]
	}
	t := &term{kind: k, n: n, args: args}
	t.derive()
	if t.all.Lo == t.all.Hi && t.cols == 0 && isConst(args...) {
		return Const(t.all.Lo)
	}
	return Value{t}
}

// derive sets what follows from the operands.
func (t *term) derive() {
	for _, a := range t.args {
		t.cols |= a.term().cols
		t.height = max(t.height, a.term().height+1)
	}
	t.all = t.rangeOf(func(v Value) Interval { return v.term().all })
}

func isConst(values ...Value) bool {
	for _, v := range values {
		if v.term().kind != ofConst {
			return false
		}
	}
	return true
}

// constant returns the number a value is for every event.
func (v Value) constant() (n int64, ok bool) { return v.term().n, isConst(v) }

// column returns the column that a value is.
func (v Value) column() (c column, ok bool) { return v.term().col, v.term().kind == ofColumn }

// String prints the value as users write it, such as y // 2; operations within operations stand in brackets where a
// reader could doubt the order.
func (v Value) String() string { return string(v.append(nil)) }

func (v Value) append(to []byte) []byte {
	t := v.term()
	switch t.kind {
	case ofColumn:
		return append(to, "txyp"[t.col])
	case ofConst:
		return strconv.AppendInt(to, t.n, 10)
	case ofNeg:
		return t.args[0].appendIn(append(to, '-'), t.args[0].atomic())
	case ofCall:
		to = append(append(to, t.fn.Name...), '(')
		return append(appendList(to, t.args), ')')
	}
	left := t.args[0].term()
	bare := t.args[0].atomic() || left.kind == ofNeg
	if t.kind == ofAdd || t.kind == ofSub {
		bare = bare || left.kind != ofAnd
	}
	to = t.args[0].appendIn(to, bare)
	to = append(append(append(to, ' '), operators[t.kind]...), ' ')
	if t.kind == ofDiv || t.kind == ofMod {
		return strconv.AppendInt(to, t.n, 10)
	}
	right := t.args[1].term().kind
	bare = t.args[1].atomic() || (t.kind == ofAdd || t.kind == ofSub) && (right == ofMul || right == ofDiv || right == ofMod)
	return t.args[1].appendIn(to, bare)
}

// atomic reports whether a value needs no brackets anywhere.
func (v Value) atomic() bool {
	k := v.term().kind
	return k == ofColumn || k == ofConst && v.term().n >= 0 || k == ofCall
}

func (v Value) appendIn(to []byte, bare bool) []byte {
	if bare {
		return v.append(to)
	}
	return append(v.append(append(to, '(')), ')')
}

func appendList(to []byte, values []Value) []byte {
	for i, v := range values {
		if i > 0 {
			to = append(to, ", "...)
		}
		to = v.append(to)
	}
	return to
}

// Equal reports whether both values are computed alike.
func (v Value) Equal(w Value) bool {
	return v.term() == w.term() || bytes.Equal(v.append(nil), w.append(nil))
}

// Columns are the columns it reads beside t.
func (v Value) Columns() event.Columns { return v.term().cols }

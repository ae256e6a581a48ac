package exprs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// A Func is a named function of one event. Exactly one of Eval and Test is set by a program that adds its own; the
// functions of Funcs may instead stand for sets of pixels or for group keys. A function must be pure, and serves any
// number of goroutines.
type Func struct {
	Name  string // lower case letters, digits and _; a letter first
	Usage string // how it is written, such as max(a, b, ...)
	Doc   string
	Kind  Kind
	Min   int // how many arguments it takes at least
	Max   int // and at most; -1 for any number

	// Eval computes dst[i] of args[0][i], args[1][i] and so on, which it must not change.
	Eval func(dst []int64, args [][]int64)
	// Range returns bounds of the result from those of the arguments. It may be nil; then nothing is pruned by it.
	Range func(args []Interval) Interval
	// Test clears keep[i] where the predicate does not hold for args[0][i], args[1][i] and so on.
	Test func(keep []bool, args [][]int64)

	pixels func(args []operand, load func(name string) (*Bitmap, error)) (Expr, error)
	keys   func(args []int64) ([]Key, error)
}

// A Kind is what a function yields.
type Kind uint8

// What functions yield: an integer, true or false, or group keys.
const (
	Integer Kind = iota
	Predicate
	Keys
)

// String names the kind.
func (k Kind) String() string { return [...]string{"integer", "predicate", "keys"}[k] }

// ErrCall reports a function that is called with what it does not take.
var ErrCall = errors.New("exprs: no such call")

// Call computes an integer function.
func Call(f *Func, args ...Value) (Value, error) {
	if f.Kind != Integer || f.Eval == nil {
		return Value{}, fmt.Errorf("%w: %s is no integer function", ErrCall, f.Name)
	}
	if err := f.takes(len(args)); err != nil {
		return Value{}, err
	}
	return newCall(f, args), nil
}

func newCall(f *Func, args []Value) Value {
	t := &term{kind: ofCall, fn: f, args: args}
	t.derive()
	if isConst(args...) {
		var out [1]int64
		of := make([][]int64, len(args))
		for i, a := range args {
			of[i] = []int64{a.term().n}
		}
		f.Eval(out[:], of)
		return Const(out[0])
	}
	return Value{t}
}

// Test makes a predicate of a function.
func Test(f *Func, args ...Value) (Expr, error) {
	if f.Kind != Predicate || f.Test == nil {
		return nil, fmt.Errorf("%w: %s is no predicate of values", ErrCall, f.Name)
	}
	if err := f.takes(len(args)); err != nil {
		return nil, err
	}
	return &test{f, args}, nil
}

func (f *Func) takes(n int) error {
	if n >= f.Min && (f.Max < 0 || n <= f.Max) {
		return nil
	}
	return fmt.Errorf("%w: %s takes other than %d arguments; write %s", ErrCall, f.Name, n, f.Usage)
}

// check reports what makes a function unfit for text.
func (f *Func) check() error {
	switch {
	case !isName(f.Name) || f.Name != strings.ToLower(f.Name) || reserved(f.Name):
		return fmt.Errorf("exprs: function %q cannot be written; its name is lower case letters, digits and _, and no word of the language", f.Name)
	case (f.Eval == nil) == (f.Test == nil), (f.Kind == Integer) != (f.Eval != nil):
		return fmt.Errorf("exprs: function %s needs Eval where it is an integer, and Test where it is a predicate", f.Name)
	}
	return nil
}

func (f *Func) rangeOf(args []Value, of func(Value) Interval) Interval {
	if f.Range == nil {
		return anything
	}
	in := make([]Interval, len(args))
	for i, a := range args {
		in[i] = of(a)
	}
	return f.Range(in)
}

// test holds where a function of values does.
type test struct {
	fn   *Func
	args []Value
}

func (e *test) Box() event.Box                  { return event.Everything }
func (e *test) box(within event.Box) event.Box  { return within }
func (e *test) Mask(b event.Batch, keep []bool) { maskBlocks(e, b, keep) }

func (e *test) String() string {
	return string(append(appendList([]byte(e.fn.Name+"("), e.args), ')'))
}

func (e *test) Columns() event.Columns {
	var c event.Columns
	for _, a := range e.args {
		c |= a.Columns()
	}
	return c
}

func (e *test) mask(b event.Batch, keep []bool, s *scratch) {
	s.withArgs(e.args, len(keep), func(a Value, to []int64) { a.eval(b, to, s) },
		func(args [][]int64) { e.fn.Test(keep, args) })
}

package exprs

import (
	"fmt"
	"strconv"
	"strings"
)

// A Formula is a number or a condition over one row of a table: arithmetic and comparisons of its columns, such as
// sum(p) / count. It says what is wanted; who has the rows computes it.
//
// Integers stay integers under + - * // %, and what would leave int64 stays at its end; / makes a float, as does a float
// among the operands. A row lacks the value where an operand has none, where a divisor is 0, and where a float would not
// be finite. // rounds towards minus infinity, and % has the divisor's sign.
type Formula struct {
	Op    Op
	Args  []*Formula
	Name  string    // of OpColumn: a column, or a name that is yet to be looked up
	Call  *FuncCall // of OpCall, which is yet to be looked up
	Int   int64     // of OpInt
	Float float64   // of OpFloat
	Pos   int       // where it stands in the text that it was read from
}

// A FuncCall is a function of many events with its arguments, as text names it: the function is looked up by who reads
// the text.
type FuncCall struct {
	Func   string
	Args   []Value
	Params map[string]string // arguments by name, such as q=0.9
}

// An Op is what a formula does with its operands.
type Op uint8

// The operations: leaves, arithmetic, and what makes conditions.
const (
	OpInt Op = iota
	OpFloat
	OpColumn
	OpCall
	OpNeg
	OpAdd
	OpSub
	OpMul
	OpQuo // the quotient, a float
	OpDiv // the integer quotient
	OpMod
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpNot
	OpAnd
	OpOr
)

// formulaSigns are how operations of two operands are written, and how tightly they bind.
var formulaSigns = map[Op]struct {
	sign string
	rank int
}{
	OpOr: {"or", 1}, OpAnd: {"and", 2}, OpEq: {"=", 4}, OpNe: {"!=", 4}, OpLt: {"<", 4}, OpLe: {"<=", 4}, OpGt: {">", 4}, OpGe: {">=", 4},
	OpAdd: {"+", 5}, OpSub: {"-", 5}, OpMul: {"*", 6}, OpQuo: {"/", 6}, OpDiv: {"//", 6}, OpMod: {"%", 6},
}

// IsCondition reports whether it is true or false; else it is a number.
func (f *Formula) IsCondition() bool { return f.Op >= OpEq }

// IsFloat reports whether its numbers are floats, by what its columns are. An error says what they do not allow.
func (f *Formula) IsFloat(column func(name string) (float, ok bool)) (bool, error) {
	switch f.Op {
	case OpInt:
		return false, nil
	case OpFloat:
		return true, nil
	case OpColumn:
		float, ok := column(f.Name)
		if !ok {
			return false, &SyntaxError{Pos: f.Pos, Msg: fmt.Sprintf("there is no column %q", f.Name)}
		}
		return float, nil
	case OpCall:
		return false, &SyntaxError{Pos: f.Pos, Msg: fmt.Sprintf("nobody looked %s up", f.Call.Func)}
	}
	any := f.Op == OpQuo
	for _, a := range f.Args {
		float, err := a.IsFloat(column)
		if err != nil {
			return false, err
		}
		if float && (f.Op == OpDiv || f.Op == OpMod) {
			return false, &SyntaxError{Pos: a.Pos, Msg: fmt.Sprintf("%s is of integers, but %v has decimals; write /", formulaSigns[f.Op].sign, a)}
		}
		any = any || float
	}
	return any && !f.IsCondition(), nil
}

// Map returns the formula with each leaf replaced by what change makes of it.
func (f *Formula) Map(change func(leaf *Formula) (*Formula, error)) (*Formula, error) {
	if len(f.Args) == 0 {
		return change(f)
	}
	out := *f
	out.Args = make([]*Formula, len(f.Args))
	for i, a := range f.Args {
		var err error
		if out.Args[i], err = a.Map(change); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// String prints the formula as users write it.
func (f *Formula) String() string { return f.text(0) }

// text prints the formula, in brackets where it binds less than rank.
func (f *Formula) text(rank int) string {
	switch f.Op {
	case OpInt:
		return strconv.FormatInt(f.Int, 10)
	case OpFloat:
		s := strconv.FormatFloat(f.Float, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	case OpColumn:
		return columnText(f.Name)
	case OpCall:
		return f.Call.String()
	case OpNeg:
		return "-(" + f.Args[0].text(0) + ")"
	case OpNot:
		return bracketed("not "+f.Args[0].text(3), rank > 3)
	}
	at := formulaSigns[f.Op]
	left := at.rank
	if f.IsCondition() && f.Op < OpNot {
		left++ // comparisons do not follow one another
	}
	s := f.Args[0].text(left) + " " + at.sign + " " + f.Args[1].text(at.rank+1)
	return bracketed(s, at.rank < rank)
}

func bracketed(s string, in bool) string {
	if in {
		return "(" + s + ")"
	}
	return s
}

// columnText prints the name of a column: in quotes where it is no word, unless it reads as a call does.
func columnText(name string) string {
	if isName(name) || strings.HasSuffix(name, ")") && isName(name[:max(strings.IndexByte(name, '('), 0)]) {
		return name
	}
	return quote(name)
}

// String prints the call as users write it.
func (c *FuncCall) String() string {
	s := string(appendList([]byte(c.Func+"("), c.Args))
	for i, k := range sortedKeys(c.Params) {
		if i > 0 || len(c.Args) > 0 {
			s += ", "
		}
		v := c.Params[k]
		if !isName(v) && (v == "" || v[0] != '-' && !isDigit(v[0])) {
			v = quote(v)
		}
		s += k + "=" + v
	}
	return s + ")"
}

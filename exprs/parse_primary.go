package exprs

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// signed reads a primary and the minus before it. A number takes the minus in, for the least one has no positive.
func (p *parser) signed() (operand, error) {
	if !p.see("-") {
		return p.primary()
	}
	pos := p.tok.pos
	if err := p.deeper(); err != nil {
		return operand{}, err
	}
	defer func() { p.depth-- }()
	if err := p.next(); err != nil {
		return operand{}, err
	}
	if p.tok.is == isNumber {
		return p.number("-", pos)
	}
	o, err := p.signed()
	if err == nil {
		err = p.wants(o, isValue)
	}
	if err != nil {
		return o, err
	}
	v := o.val.Neg()
	return operand{pos: pos, val: v}, p.tall(v, pos)
}

func (p *parser) primary() (operand, error) {
	switch {
	case p.tok.is == isNumber:
		return p.number("", p.tok.pos)
	case p.tok.is == isWord:
		return p.word()
	case p.see("("):
		return p.brackets()
	case p.tok.is == isLiteral:
		return operand{}, p.fail(p.tok.pos, "a text stands where a number or a condition is expected; only mask takes one")
	}
	return operand{}, p.unexpected("a number, a column or a function")
}

func (p *parser) brackets() (operand, error) {
	pos := p.tok.pos
	if err := p.deeper(); err != nil {
		return operand{}, err
	}
	defer func() { p.depth-- }()
	if err := p.next(); err != nil {
		return operand{}, err
	}
	o, err := p.or()
	if err != nil {
		return o, err
	}
	o.pos = pos
	return o, p.skip(")")
}

// leaf bounds the length of what is made, and reads on.
func (p *parser) leaf(o operand) (operand, error) {
	if p.leaves++; p.leaves > maxLeaves {
		return o, p.fail(o.pos, "there are more than %d numbers, columns and words; shorten the text", maxLeaves)
	}
	return o, p.next()
}

// number reads the number that comes next, whose sign stands at pos.
func (p *parser) number(sign string, pos int) (operand, error) {
	text := p.tok.text
	digits := text
	base := 10
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseInt(sign+digits, base, 64)
	switch {
	case err == nil && isLetterOrDigit(digits):
	case base == 16 || run(text, isDigit) == len(text):
		return operand{}, p.fail(p.tok.pos, "%s is no integer from %d to %d", text, math.MinInt64, math.MaxInt64)
	case run(text, func(c byte) bool { return isDigit(c) || c == '.' }) == len(text):
		return operand{}, p.fail(p.tok.pos, "%s is no integer; with a unit of time it may have decimals, as in 2.5s", text)
	case len(text) > 64:
		return operand{}, p.fail(p.tok.pos, "a number of %d letters; 64 are possible", len(text))
	default:
		if n, err = event.ParseMicros(sign+text, ""); err != nil {
			return operand{}, &SyntaxError{Pos: p.tok.pos, Msg: err.Error(), Err: err}
		}
	}
	return p.leaf(operand{pos: pos, val: Const(n)})
}

// isLetterOrDigit reports whether there is no sign in front that ParseInt would take.
func isLetterOrDigit(s string) bool { return s != "" && (isDigit(s[0]) || isLetter(s[0])) }

// word reads a column, a constant or a function.
func (p *parser) word() (operand, error) {
	o := operand{pos: p.tok.pos}
	switch p.tok.text {
	case "t":
		o.val = T
	case "x":
		o.val = X
	case "y":
		o.val = Y
	case "p":
		o.val = P
	case "on":
		o.val = Const(1)
	case "off":
		o.val = Const(0)
	case "true":
		o.is, o.expr = isExpr, True
	case "false":
		o.is, o.expr = isExpr, False
	default:
		return p.function()
	}
	return p.leaf(o)
}

// find returns the function that the next token names.
func (p *parser) find() (*Func, error) {
	names := []string{"t", "x", "y", "p"}
	for i := range p.funcs {
		if p.funcs[i].Name == p.tok.text {
			return &p.funcs[i], nil
		}
		names = append(names, p.funcs[i].Name)
	}
	if reserved(p.tok.text) {
		return nil, p.unexpected("a number, a column or a function")
	}
	return nil, p.fail(p.tok.pos, "there is no %s; columns are t, x, y, p%s", p.tok.text, nearest(p.tok.text, names))
}

// function reads a call.
func (p *parser) function() (operand, error) {
	o := operand{pos: p.tok.pos}
	f, err := p.find()
	if err != nil {
		return o, err
	}
	if f.Kind == Keys {
		return o, p.fail(o.pos, "%s makes group keys; in an expression write x and y", f.Name)
	}
	if o, err = p.leaf(o); err != nil {
		return o, err
	}
	args, err := p.arguments(f)
	if err != nil {
		return o, err
	}
	if f.pixels != nil {
		return p.region(o.pos, f, args)
	}
	values := make([]Value, len(args))
	for i, a := range args {
		if err := p.wants(a, isValue); err != nil {
			return o, err
		}
		values[i] = a.val
	}
	if f.Test != nil {
		return operand{pos: o.pos, is: isExpr, expr: &test{f, values}}, nil
	}
	o.val = newCall(f, values)
	return o, p.tall(o.val, o.pos)
}

// arguments reads what stands in the brackets of a call.
func (p *parser) arguments(f *Func) ([]operand, error) {
	pos := p.tok.pos
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if err := p.skip("("); err != nil {
		return nil, err
	}
	var args []operand
	for more := !p.see(")"); more; {
		a := operand{pos: p.tok.pos, is: isText, text: p.tok.text}
		var err error
		if p.tok.is == isLiteral {
			a, err = p.leaf(a)
		} else {
			a, err = p.bits()
		}
		if err != nil {
			return nil, err
		}
		args = append(args, a)
		if more = p.see(","); more {
			if err := p.next(); err != nil {
				return nil, err
			}
		}
	}
	if err := p.skip(")"); err != nil {
		return nil, err
	}
	if f.takes(len(args)) != nil {
		return nil, p.fail(pos, "%s takes other than %d arguments; write %s", f.Name, len(args), f.Usage)
	}
	return args, nil
}

// region makes a set of pixels, and reads where it is looked up.
func (p *parser) region(pos int, f *Func, args []operand) (operand, error) {
	e, err := f.pixels(args, p.load)
	if err != nil {
		if at := (*SyntaxError)(nil); !errors.As(err, &at) {
			err = &SyntaxError{Pos: pos, Msg: err.Error(), Err: err}
		}
		return operand{}, err
	}
	o := operand{pos: pos, is: isExpr, expr: e}
	if !p.see("at") {
		return o, nil
	}
	at := p.tok.pos
	if err := p.next(); err != nil {
		return o, err
	}
	x, y, err := p.pair()
	if err != nil {
		return o, err
	}
	moved, ok := At(e, x, y)
	if !ok {
		return o, p.fail(at, "%s cannot be looked up elsewhere; compare the values themselves", f.Name)
	}
	o.expr = moved
	return o, nil
}

// pair reads two values in brackets.
func (p *parser) pair() (x, y Value, err error) {
	if err := p.skip("("); err != nil {
		return x, y, err
	}
	a, err := p.value()
	if err != nil {
		return x, y, err
	}
	if err := p.skip(","); err != nil {
		return x, y, err
	}
	b, err := p.value()
	if err != nil {
		return x, y, err
	}
	return a.val, b.val, p.skip(")")
}

package exprs

import (
	"errors"
	"fmt"
	"slices"
)

// The grammar, from what binds least to what binds most. Keywords, columns and functions may be written in capitals.
//
//	or         and { "or" and }
//	and        not { "and" not }
//	not        "not" not | comparison
//	comparison bits [ ("=" "==" "!=" "<>" "<" "<=" ">" ">=") bits
//	                | ["not"] "between" bits "and" bits | ["not"] "in" "(" number { "," number } ")" ]
//	bits       sum { "&" sum }
//	sum        product { ("+" | "-") product }
//	product    sign { "*" sign | ("//" | "%") positive number }
//	sign       "-" sign | primary
//	primary    number [unit] | "t" "x" "y" "p" | "on" "off" | "true" "false" | "(" or ")"
//	           | function "(" [ argument { "," argument } ] ")" [ "at" "(" bits "," bits ")" ]
//
// A number may have a unit of time (ns, us, ms, s, m, h), with decimals, and is then microseconds, rounded half to
// even; without a unit it is an integer, also in hexadecimal (0xff). on is 1 and off is 0.

// An Option widens what text may say.
type Option func(*parser)

// WithFuncs adds a program's own functions to those of Funcs.
func WithFuncs(own ...Func) Option { return func(p *parser) { p.own = append(p.own, own...) } }

// WithMasks says how mask('name') gets its pixels.
func WithMasks(load func(name string) (*Bitmap, error)) Option {
	return func(p *parser) { p.load = load }
}

// Text is bounded, so that none takes more than a moment or a bounded stack.
const (
	maxText   = 1 << 20 // bytes
	maxLeaves = 10000   // columns, numbers and words
	maxHeight = 100     // operations within operations
	maxDepth  = 1000    // brackets within brackets
)

// Parse reads a predicate, such as x < 640 and (p = 1 or y between 10 and 20). What String prints of a predicate
// Parse reads as an equal one. Errors are *SyntaxError, or an error that says which of the options is unfit.
func Parse(text string, opts ...Option) (Expr, error) {
	p, err := newParser(text, opts)
	if err != nil {
		return nil, err
	}
	e, err := p.or()
	if err == nil && p.tok.is != isEnd {
		err = p.unexpected("the end")
	}
	if err == nil {
		err = p.wants(e, isExpr)
	}
	if err != nil {
		return nil, p.place(err)
	}
	return e.expr, nil
}

// ParseValue reads an integer, such as (t - 5ms) // 1000.
func ParseValue(text string, opts ...Option) (Value, error) {
	p, err := newParser(text, opts)
	if err != nil {
		return Value{}, err
	}
	v, err := p.value()
	if err == nil && p.tok.is != isEnd {
		err = p.unexpected("the end")
	}
	if err != nil {
		return Value{}, p.place(err)
	}
	return v.val, nil
}

type parser struct {
	text  string
	at    int
	tok   token
	own   []Func
	funcs []Func
	load  func(name string) (*Bitmap, error)
	rows  bool // of formulas, which have the sign /

	depth, leaves int
}

// An operand is a part of text that was read.
type operand struct {
	pos    int
	is     operandKind
	val    Value
	expr   Expr
	text   string
	height int // of an expression
}

type operandKind uint8

const (
	isValue operandKind = iota
	isExpr
	isText
)

var operandNames = [...]string{isValue: "a number", isExpr: "a condition", isText: "a text"}

func newParser(text string, opts []Option) (*parser, error) {
	p := &parser{text: text}
	for _, o := range opts {
		o(p)
	}
	var err error
	if p.funcs, err = withFuncs(p.own); err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, p.place(p.fail(maxText, "the text is longer than %d bytes; shorten it", maxText))
	}
	return p, p.next()
}

// place adds the text to an error, and to one without a place the token it was met at.
func (p *parser) place(err error) error {
	s := &SyntaxError{}
	if !errors.As(err, &s) {
		s = &SyntaxError{Pos: p.tok.pos, Msg: err.Error(), Err: err}
	}
	s.Text = p.text
	return s
}

func (p *parser) fail(pos int, format string, args ...any) error {
	return &SyntaxError{Text: p.text, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) unexpected(want string) error {
	if p.tok.is == isEnd {
		return p.fail(p.tok.pos, "the text ends where %s is expected", want)
	}
	return p.fail(p.tok.pos, "%q stands where %s is expected", p.tok.text, want)
}

// see reports whether the next token is one of some words or signs.
func (p *parser) see(texts ...string) bool {
	return (p.tok.is == isSign || p.tok.is == isWord) && slices.Contains(texts, p.tok.text)
}

// skip reads the token that must come next.
func (p *parser) skip(text string) error {
	if !p.see(text) {
		return p.unexpected(text)
	}
	return p.next()
}

// wants reports an operand of the wrong kind.
func (p *parser) wants(o operand, is operandKind) error {
	if o.is == is {
		return nil
	}
	if is == isExpr {
		return p.fail(o.pos, "%s stands where a condition is expected; compare it, as in x < 640", operandNames[o.is])
	}
	return p.fail(o.pos, "%s stands where %s is expected", operandNames[o.is], operandNames[is])
}

// deeper bounds the stack; it is undone by p.depth--.
func (p *parser) deeper() error {
	if p.depth++; p.depth > maxDepth {
		return p.fail(p.tok.pos, "brackets nest deeper than %d; leave some out", maxDepth)
	}
	return nil
}

func (p *parser) or() (operand, error) {
	return p.chain("or", Or, func() (operand, error) { return p.chain("and", And, p.not) })
}

// chain reads conditions with a word between them.
func (p *parser) chain(word string, join func(...Expr) Expr, part func() (operand, error)) (operand, error) {
	first, err := part()
	if err != nil || !p.see(word) {
		return first, err
	}
	parts := []operand{first}
	for p.see(word) {
		if err := p.next(); err != nil {
			return first, err
		}
		o, err := part()
		if err != nil {
			return first, err
		}
		parts = append(parts, o)
	}
	out := operand{pos: first.pos, is: isExpr}
	exprs := make([]Expr, len(parts))
	for i, o := range parts {
		if err := p.wants(o, isExpr); err != nil {
			return first, err
		}
		exprs[i], out.height = o.expr, max(out.height, o.height)
	}
	out.expr = join(exprs...)
	return p.grown(out)
}

// grown counts an operation on conditions.
func (p *parser) grown(o operand) (operand, error) {
	if o.height++; o.height > maxHeight {
		return o, p.fail(o.pos, "conditions nest deeper than %d; split them", maxHeight)
	}
	return o, nil
}

func (p *parser) not() (operand, error) {
	if !p.see("not") {
		return p.comparison()
	}
	pos := p.tok.pos
	if err := p.deeper(); err != nil {
		return operand{}, err
	}
	defer func() { p.depth-- }()
	if err := p.next(); err != nil {
		return operand{}, err
	}
	o, err := p.not()
	if err == nil {
		err = p.wants(o, isExpr)
	}
	if err != nil {
		return o, err
	}
	return p.grown(operand{pos: pos, is: isExpr, expr: Not(o.expr), height: o.height})
}

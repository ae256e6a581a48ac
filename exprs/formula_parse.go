package exprs

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// The grammar of formulas, from what binds least to what binds most. Names are not looked up here, but for the functions
// of events inside a call.
//
//	list       item { "," item }
//	item       name "=" sum | sum [ "as" name ]
//	condition  and { "or" and }
//	and        not { "and" not }
//	not        "not" not | comparison
//	comparison sum [ ("=" "==" "!=" "<>" "<" "<=" ">" ">=") sum | ["not"] "between" sum "and" sum ]
//	sum        product { ("+" | "-") product }
//	product    sign { ("*" | "/" | "//" | "%") sign }
//	sign       "-" sign | number [unit] | name | 'column' | call | "(" condition ")"
//	call       name "(" [ argument { "," argument } ] ")"
//	argument   a value of one event | name "=" ["-"] number or word or 'text'

// A NamedFormula is a formula and what follows as or stands before =; the name is empty where nothing does.
type NamedFormula struct {
	Name string
	*Formula
}

// ParseFormulas reads a list of numbers over rows, such as count, mean(x // 2) as center, rate = count / seconds.
// Errors are those of Parse.
func ParseFormulas(text string, opts ...Option) ([]NamedFormula, error) {
	p, err := newParser(text, opts)
	if err != nil {
		return nil, err
	}
	p.rows = true
	var out []NamedFormula
	for {
		f, err := p.item()
		if err != nil {
			return nil, p.place(err)
		}
		out = append(out, f)
		switch {
		case len(out) > maxKeys:
			return nil, p.place(p.fail(p.tok.pos, "there are more than %d aggregates; leave some out", maxKeys))
		case p.tok.is == isEnd:
			return out, nil
		}
		if err := p.skip(","); err != nil {
			return nil, p.place(err)
		}
	}
}

// ParseCondition reads a condition over rows, such as count > 100 and sum(p) / count > 0.5. Errors are those of Parse.
func ParseCondition(text string, opts ...Option) (*Formula, error) {
	p, err := newParser(text, opts)
	if err != nil {
		return nil, err
	}
	p.rows = true
	f, err := p.condition()
	if err == nil && p.tok.is != isEnd {
		err = p.unexpected("the end")
	}
	if err == nil {
		err = p.kind(f, true)
	}
	if err != nil {
		return nil, p.place(err)
	}
	return f, nil
}

func (p *parser) item() (out NamedFormula, err error) {
	if p.tok.is == isWord && isName(p.tok.text) {
		before := *p
		out.Name = p.tok.text
		if err := p.next(); err != nil {
			return out, err
		}
		if p.see("=") {
			if err := p.next(); err != nil {
				return out, err
			}
			out.Formula, err = p.numeric()
			return out, err
		}
		*p, out.Name = before, ""
	}
	if out.Formula, err = p.numeric(); err != nil || !p.see("as") {
		return out, err
	}
	if err := p.next(); err != nil {
		return out, err
	}
	if p.tok.is != isWord || !isName(p.tok.text) {
		return out, p.unexpected("a name of at most 64 letters")
	}
	out.Name = p.tok.text
	return out, p.next()
}

// numeric reads a formula that is a number.
func (p *parser) numeric() (*Formula, error) {
	f, err := p.total()
	if err == nil {
		err = p.kind(f, false)
	}
	return f, err
}

// kind reports a number where a condition must stand, and the other way round.
func (p *parser) kind(f *Formula, condition bool) error {
	switch {
	case f.IsCondition() == condition:
		return nil
	case condition:
		return p.fail(f.Pos, "a number stands where a condition is expected; compare it, as in count > 100")
	}
	return p.fail(f.Pos, "a condition stands where a number is expected")
}

func (p *parser) condition() (*Formula, error) {
	return p.joined(p.conjunction, true, map[string]Op{"or": OpOr})
}

func (p *parser) conjunction() (*Formula, error) {
	return p.joined(p.negation, true, map[string]Op{"and": OpAnd})
}

func (p *parser) total() (*Formula, error) {
	return p.joined(p.factors, false, map[string]Op{"+": OpAdd, "-": OpSub})
}

func (p *parser) factors() (*Formula, error) {
	return p.joined(p.signedFormula, false, map[string]Op{"*": OpMul, "/": OpQuo, "//": OpDiv, "%": OpMod})
}

// joined reads parts with signs between them, from left to right.
func (p *parser) joined(part func() (*Formula, error), conditions bool, ops map[string]Op) (*Formula, error) {
	left, err := part()
	if err != nil {
		return nil, err
	}
	for {
		op, ok := ops[p.tok.text]
		if !ok || p.tok.is != isSign && p.tok.is != isWord {
			return left, nil
		}
		if err := p.next(); err != nil {
			return nil, err
		}
		right, err := part()
		if err != nil {
			return nil, err
		}
		if left, err = p.pairOf(op, left, right, conditions); err != nil {
			return nil, err
		}
	}
}

func (p *parser) pairOf(op Op, left, right *Formula, conditions bool) (*Formula, error) {
	for _, f := range []*Formula{left, right} {
		if err := p.kind(f, conditions); err != nil {
			return nil, err
		}
	}
	return &Formula{Op: op, Args: []*Formula{left, right}, Pos: left.Pos}, nil
}

func (p *parser) negation() (*Formula, error) {
	if !p.see("not") {
		return p.compared()
	}
	pos := p.tok.pos
	f, err := p.under(p.negation)
	if err == nil {
		err = p.kind(f, true)
	}
	return &Formula{Op: OpNot, Args: []*Formula{f}, Pos: pos}, err
}

// under reads over a token that stands before what part reads.
func (p *parser) under(part func() (*Formula, error)) (*Formula, error) {
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if err := p.next(); err != nil {
		return nil, err
	}
	return part()
}

var formulaComparisons = map[string]Op{
	"=": OpEq, "==": OpEq, "!=": OpNe, "<>": OpNe, "<": OpLt, "<=": OpLe, ">": OpGt, ">=": OpGe,
}

func (p *parser) compared() (*Formula, error) {
	left, err := p.total()
	if err != nil {
		return nil, err
	}
	if op, ok := formulaComparisons[p.tok.text]; ok && p.tok.is == isSign {
		right, err := p.after(p.total)
		if err != nil {
			return nil, err
		}
		if _, again := formulaComparisons[p.tok.text]; again && p.tok.is == isSign {
			return nil, p.fail(p.tok.pos, "comparisons do not follow one another; join them with and, or write between")
		}
		return p.pairOf(op, left, right, false)
	}
	not := p.see("not")
	if not {
		if err := p.next(); err != nil {
			return nil, err
		}
		if !p.see("between") {
			return nil, p.unexpected("between")
		}
	}
	if !p.see("between") {
		return left, nil
	}
	f, err := p.between(left)
	if not && err == nil {
		f = &Formula{Op: OpNot, Args: []*Formula{f}, Pos: left.Pos}
	}
	return f, err
}

// after reads over the next token and then a part.
func (p *parser) after(part func() (*Formula, error)) (*Formula, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	return part()
}

func (p *parser) between(left *Formula) (*Formula, error) {
	lo, err := p.after(p.total)
	if err != nil {
		return nil, err
	}
	if !p.see("and") {
		return nil, p.unexpected("and")
	}
	hi, err := p.after(p.total)
	if err != nil {
		return nil, err
	}
	from, err := p.pairOf(OpGe, left, lo, false)
	if err != nil {
		return nil, err
	}
	to, err := p.pairOf(OpLe, left, hi, false)
	if err != nil {
		return nil, err
	}
	return p.pairOf(OpAnd, from, to, true)
}

func (p *parser) signedFormula() (*Formula, error) {
	pos := p.tok.pos
	switch {
	case p.see("-"):
		f, err := p.under(func() (*Formula, error) {
			if p.tok.is == isNumber {
				return p.formulaNumber("-", pos)
			}
			return p.signedFormula()
		})
		if err != nil || len(f.Args) == 0 && f.Op <= OpFloat {
			return f, err
		}
		return &Formula{Op: OpNeg, Args: []*Formula{f}, Pos: pos}, p.kind(f, false)
	case p.see("("):
		f, err := p.under(p.condition)
		if err != nil {
			return nil, err
		}
		in := *f
		in.Pos = pos
		return &in, p.skip(")")
	case p.tok.is == isNumber:
		return p.formulaNumber("", pos)
	case p.tok.is == isLiteral:
		return p.leafOf(&Formula{Op: OpColumn, Name: p.tok.text, Pos: pos})
	case p.see("on", "off"):
		n := int64(0)
		if p.see("on") {
			n = 1
		}
		return p.leafOf(&Formula{Int: n, Pos: pos})
	case p.tok.is == isWord && isName(p.tok.text) && !p.see("and", "or", "not", "between", "in", "at", "as"):
		return p.named()
	}
	return nil, p.unexpected("a number, a column or an aggregate")
}

// leafOf bounds the length of what is made, and reads on.
func (p *parser) leafOf(f *Formula) (*Formula, error) {
	_, err := p.leaf(operand{pos: f.Pos})
	return f, err
}

// formulaNumber reads an integer, one with decimals, or a time in microseconds.
func (p *parser) formulaNumber(sign string, pos int) (*Formula, error) {
	text := sign + p.tok.text
	f := &Formula{Pos: pos}
	digits := run(p.tok.text, func(c byte) bool { return isDigit(c) || c == '.' })
	var err error
	switch rest := strings.ToLower(p.tok.text[digits:]); {
	case rest == "" && !strings.Contains(text, "."):
		if f.Int, err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, p.fail(p.tok.pos, "%s is no integer from %d to %d", text, math.MinInt64, math.MaxInt64)
		}
	case rest == "" || rest[0] == 'e' && run(rest[1:], isDigit) == len(rest)-1:
		f.Op = OpFloat
		if f.Float, err = strconv.ParseFloat(text, 64); err != nil {
			return nil, p.fail(p.tok.pos, "%s is no number", text)
		}
	case len(text) > 64:
		return nil, p.fail(p.tok.pos, "a number of %d letters; 64 are possible", len(text))
	default:
		if f.Int, err = event.ParseMicros(text, ""); err != nil {
			return nil, &SyntaxError{Pos: p.tok.pos, Msg: err.Error(), Err: err}
		}
	}
	return p.leafOf(f)
}

// named reads the name of a column or an aggregate, or a call.
func (p *parser) named() (*Formula, error) {
	f := &Formula{Op: OpColumn, Name: p.tok.text, Pos: p.tok.pos}
	if _, err := p.leafOf(f); err != nil || !p.see("(") {
		return f, err
	}
	call := &FuncCall{Func: f.Name}
	p.rows = false // arguments are values of events, in which / has no meaning
	err := p.callArguments(call)
	p.rows = true
	if err == nil {
		err = p.next() // over the closing bracket
	}
	return &Formula{Op: OpCall, Call: call, Pos: f.Pos}, err
}

// callArguments reads what stands in the brackets of a call, up to the closing one.
func (p *parser) callArguments(c *FuncCall) error {
	if err := p.next(); err != nil {
		return err
	}
	for first := true; !p.see(")"); first = false {
		if !first {
			if !p.see(",") {
				return p.unexpected(")")
			}
			if err := p.next(); err != nil {
				return err
			}
		}
		if ok, err := p.parameter(c); err != nil || ok {
			if err != nil {
				return err
			}
			continue
		}
		v, err := p.value()
		if err != nil {
			return err
		}
		c.Args = append(c.Args, v.val)
	}
	return nil
}

// parameter reads an argument by name; ok is false, and nothing read, where there is none.
func (p *parser) parameter(c *FuncCall) (ok bool, err error) {
	if p.tok.is != isWord || reserved(p.tok.text) {
		return false, nil
	}
	before, name := *p, p.tok.text
	if err := p.next(); err != nil {
		return false, err
	}
	if !p.see("=") {
		*p = before
		return false, nil
	}
	if _, twice := c.Params[name]; twice {
		return false, p.fail(before.tok.pos, "%s is given twice", name)
	}
	if err := p.next(); err != nil {
		return false, err
	}
	sign := ""
	if p.see("-") {
		sign = "-"
		if err := p.next(); err != nil {
			return false, err
		}
	}
	if p.tok.is != isNumber && (sign != "" || p.tok.is != isWord && p.tok.is != isLiteral) {
		return false, p.unexpected("the value of " + name)
	}
	if c.Params == nil {
		c.Params = map[string]string{}
	}
	c.Params[name] = sign + p.tok.text
	return true, p.next()
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

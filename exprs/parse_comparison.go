package exprs

// comparisons are the signs that compare, and what they make.
var comparisons = map[string]func(a, b Value) Expr{
	"=": Eq, "==": Eq, "!=": Ne, "<>": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge,
}

// comparison reads a value and what it is compared with, if anything.
func (p *parser) comparison() (operand, error) {
	left, err := p.bits()
	if err != nil {
		return left, err
	}
	out := operand{pos: left.pos, is: isExpr}
	switch op := comparisons[p.tok.text]; {
	case p.tok.is == isSign && op != nil:
		sign := p.tok.text
		right, err := p.right(left)
		if err != nil {
			return left, err
		}
		if p.tok.is == isSign && comparisons[p.tok.text] != nil {
			return left, p.fail(p.tok.pos, "comparisons do not follow one another; write a %s b and b %s c, or between", sign, p.tok.text)
		}
		out.expr = op(left.val, right.val)
	case p.see("not"):
		if err := p.next(); err != nil {
			return left, err
		}
		if !p.see("between", "in") {
			return left, p.unexpected("between or in")
		}
		e, err := p.membership(left)
		if err != nil {
			return left, err
		}
		out.expr = Not(e)
	case p.see("between", "in"):
		if out.expr, err = p.membership(left); err != nil {
			return left, err
		}
	default:
		return left, nil
	}
	return out, nil
}

// right reads over a sign and then the value behind it; left must be one too.
func (p *parser) right(left operand) (operand, error) {
	if err := p.wants(left, isValue); err != nil {
		return left, err
	}
	if err := p.next(); err != nil {
		return left, err
	}
	return p.value()
}

// value reads a value.
func (p *parser) value() (operand, error) {
	o, err := p.bits()
	if err != nil {
		return o, err
	}
	return o, p.wants(o, isValue)
}

// membership reads between lo and hi, or in (…).
func (p *parser) membership(left operand) (Expr, error) {
	if p.see("in") {
		return p.list(left)
	}
	lo, err := p.right(left)
	if err != nil {
		return nil, err
	}
	if err := p.skip("and"); err != nil {
		return nil, err
	}
	hi, err := p.value()
	if err != nil {
		return nil, err
	}
	a, okA := lo.val.constant()
	b, okB := hi.val.constant()
	if okA && okB {
		return left.val.Between(a, b), nil
	}
	return And(Ge(left.val, lo.val), Le(left.val, hi.val)), nil
}

func (p *parser) list(left operand) (Expr, error) {
	if err := p.wants(left, isValue); err != nil {
		return nil, err
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if err := p.skip("("); err != nil {
		return nil, err
	}
	var numbers []int64
	for {
		o, err := p.value()
		if err != nil {
			return nil, err
		}
		n, ok := o.val.constant()
		if !ok {
			return nil, p.fail(o.pos, "a list holds numbers; compare with %v by = and or", o.val)
		}
		numbers = append(numbers, n)
		if !p.see(",") {
			return left.val.In(numbers...), p.skip(")")
		}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
}

// bits reads values joined by &, sums of products the same by their signs.
func (p *parser) bits() (operand, error) { return p.operations(p.sum, "&") }
func (p *parser) sum() (operand, error)  { return p.operations(p.product, "+", "-") }
func (p *parser) product() (operand, error) {
	return p.operations(p.signed, "*", "//", "%")
}

func (p *parser) operations(part func() (operand, error), signs ...string) (operand, error) {
	left, err := part()
	if err != nil {
		return left, err
	}
	for p.tok.is == isSign && p.see(signs...) {
		sign := p.tok.text
		if err := p.wants(left, isValue); err != nil {
			return left, err
		}
		if err := p.next(); err != nil {
			return left, err
		}
		right, err := part()
		if err == nil {
			err = p.wants(right, isValue)
		}
		if err == nil {
			left.val, err = p.operate(sign, left.val, right)
		}
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

func (p *parser) operate(sign string, a Value, right operand) (Value, error) {
	b := right.val
	var v Value
	switch sign {
	case "&":
		v = a.BitAnd(b)
	case "+":
		v = a.Add(b)
	case "-":
		v = a.Sub(b)
	case "*":
		v = a.Mul(b)
	default:
		by, ok := b.constant()
		if !ok || by < 1 {
			return v, p.fail(right.pos, "what stands behind %s must be a number from 1 on, not %v", sign, b)
		}
		if v = a.Div(by); sign == "%" {
			v = a.Mod(by)
		}
	}
	return v, p.tall(v, right.pos)
}

// tall bounds the operations within operations.
func (p *parser) tall(v Value, pos int) error {
	if v.term().height > maxHeight {
		return p.fail(pos, "operations nest deeper than %d; split them", maxHeight)
	}
	return nil
}

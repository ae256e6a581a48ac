package exprs

// A FuncCall is a function of many events with its arguments, as text names it: the function is looked up by who reads
// the text.
type FuncCall struct {
	Func string
	Args []Value
	Name string // what follows as; empty where nothing does
}

// ParseCalls reads a list of calls, such as count, mean(x // 2) as center. A call without brackets has no argument.
// Errors are those of Parse.
func ParseCalls(text string, opts ...Option) ([]FuncCall, error) {
	p, err := newParser(text, opts)
	if err != nil {
		return nil, err
	}
	var calls []FuncCall
	for {
		c, err := p.call()
		if err != nil {
			return nil, p.place(err)
		}
		calls = append(calls, c)
		switch {
		case len(calls) > maxKeys:
			return nil, p.place(p.fail(p.tok.pos, "there are more than %d aggregates; leave some out", maxKeys))
		case p.tok.is == isEnd:
			return calls, nil
		}
		if err := p.skip(","); err != nil {
			return nil, p.place(err)
		}
	}
}

func (p *parser) call() (c FuncCall, err error) {
	if p.tok.is != isWord || !isName(p.tok.text) {
		return c, p.unexpected("the name of an aggregate")
	}
	c.Func = p.tok.text
	if err := p.next(); err != nil {
		return c, err
	}
	if p.see("(") {
		if c.Args, err = p.valueList(); err != nil {
			return c, err
		}
	}
	if !p.see("as") {
		return c, nil
	}
	if err := p.next(); err != nil {
		return c, err
	}
	if p.tok.is != isWord || !isName(p.tok.text) {
		return c, p.unexpected("a name of at most 64 letters")
	}
	c.Name = p.tok.text
	return c, p.next()
}

// valueList reads values in brackets, or none: ().
func (p *parser) valueList() (out []Value, err error) {
	if err := p.skip("("); err != nil {
		return nil, err
	}
	for !p.see(")") {
		if len(out) > 0 {
			if err := p.skip(","); err != nil {
				return nil, err
			}
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		out = append(out, v.val)
	}
	return out, p.next()
}

package exprs

// Columns gives each column of an event as a value of another event. One that is the zero Value stays as it is.
type Columns struct{ T, X, Y, P Value }

// of returns what stands for a column.
func (c Columns) of(col column) Value {
	v := [...]Value{colT: c.T, colX: c.X, colY: c.Y, colP: c.P}[col]
	if v.of == nil {
		return [...]Value{colT: T, colX: X, colY: Y, colP: P}[col]
	}
	return v
}

// Substitute puts values in the place of the columns. Evaluated for the old event, the result is what v would be for
// the new one.
func (v Value) Substitute(c Columns) Value {
	t := v.term()
	switch t.kind {
	case ofColumn:
		return c.of(t.col)
	case ofConst:
		return v
	}
	args := make([]Value, len(t.args))
	for i, a := range t.args {
		args[i] = a.Substitute(c)
	}
	if t.kind == ofCall {
		return newCall(t.fn, args)
	}
	return newTerm(t.kind, t.n, args...)
}

// Substitute puts values in the place of the columns. A filter above a projection is the substituted filter below it,
// apart from events that the projection drops.
func Substitute(e Expr, c Columns) Expr {
	switch e := e.(type) {
	case *between:
		return &between{e.v.Substitute(c), e.in}
	case *list:
		moved := *e
		moved.v = e.v.Substitute(c)
		return &moved
	case *compare:
		a, b := e.a.Substitute(c), e.b.Substitute(c)
		return [...]func(a, b Value) Expr{less: Lt, atMost: Le, equal: Eq}[e.op](a, b)
	case *region:
		moved := *e
		moved.x, moved.y = e.x.Substitute(c), e.y.Substitute(c)
		return &moved
	case *test:
		args := make([]Value, len(e.args))
		for i, a := range e.args {
			args[i] = a.Substitute(c)
		}
		return &test{e.fn, args}
	case not:
		return Not(Substitute(e.of, c))
	case all:
		return And(substituted(e, c)...)
	case some:
		return Or(substituted(e, c)...)
	}
	return e
}

func substituted(parts []Expr, c Columns) []Expr {
	out := make([]Expr, len(parts))
	for i, p := range parts {
		out[i] = Substitute(p, c)
	}
	return out
}

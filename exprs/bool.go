package exprs

import (
	"strings"

	"github.com/evq-project/evq/io/event"
)

// And holds where every one of its parts does. And() is True.
func And(parts ...Expr) Expr {
	var flat all
	for _, p := range parts {
		if a, ok := p.(all); ok {
			flat = append(flat, a...)
		} else {
			flat = append(flat, p)
		}
	}
	switch len(flat) {
	case 0:
		return True
	case 1:
		return flat[0]
	}
	return flat
}

// Or holds where at least one of its parts does. Or() is False.
func Or(parts ...Expr) Expr {
	var flat some
	for _, p := range parts {
		if a, ok := p.(some); ok {
			flat = append(flat, a...)
		} else {
			flat = append(flat, p)
		}
	}
	switch len(flat) {
	case 0:
		return False
	case 1:
		return flat[0]
	}
	return flat
}

// Not holds where its part does not.
func Not(e Expr) Expr {
	switch e := e.(type) {
	case not:
		return e.Expr
	case constant:
		return !e
	}
	return not{e}
}

// InRect holds where x0 <= x <= x1 and y0 <= y <= y1: both corners belong to it.
func InRect(x0, y0, x1, y1 int64) Expr { return And(X.Between(x0, x1), Y.Between(y0, y1)) }

type all []Expr

func (all) isExpr() {}

func (e all) String() string { return join(e, " and ") }

func (e all) Columns() event.Columns { return columnsOf(e) }

func (e all) Box() event.Box {
	b := event.Everything
	for _, p := range e {
		b = b.Intersect(p.Box())
	}
	return b
}

func (e all) Mask(b event.Batch, keep []bool) {
	for _, p := range e {
		p.Mask(b, keep)
	}
}

type some []Expr

func (some) isExpr() {}

func (e some) String() string { return join(e, " or ") }

func (e some) Columns() event.Columns { return columnsOf(e) }

func (e some) Box() event.Box {
	b := event.Nothing
	for _, p := range e {
		b = b.Hull(p.Box())
	}
	return b
}

func (e some) Mask(b event.Batch, keep []bool) {
	room := make([]bool, 2*len(keep))
	any, part := room[:len(keep)], room[len(keep):]
	for _, p := range e {
		copy(part, keep)
		p.Mask(b, part)
		for i, k := range part {
			any[i] = any[i] || k
		}
	}
	copy(keep, any)
}

type not struct{ Expr }

func (not) isExpr()          {}
func (e not) String() string { return "not (" + e.Expr.String() + ")" }
func (not) Box() event.Box   { return event.Everything }

func (e not) Mask(b event.Batch, keep []bool) {
	holds := make([]bool, len(keep))
	copy(holds, keep)
	e.Expr.Mask(b, holds)
	for i, h := range holds {
		keep[i] = keep[i] && !h
	}
}

// join prints the parts, those of another boolean kind in brackets.
func join(parts []Expr, sep string) string {
	s := make([]string, len(parts))
	for i, p := range parts {
		s[i] = p.String()
		switch p.(type) {
		case all, some:
			s[i] = "(" + s[i] + ")"
		}
	}
	return strings.Join(s, sep)
}

func columnsOf(parts []Expr) event.Columns {
	var c event.Columns
	for _, p := range parts {
		c |= p.Columns()
	}
	return c
}

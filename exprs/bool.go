package exprs

import (
	"math"
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
		return e.of
	case constant:
		return !e
	}
	return not{e}
}

// InRect holds where x0 <= x <= x1 and y0 <= y <= y1: both corners belong to it.
func InRect(x0, y0, x1, y1 int64) Expr { return And(X.Between(x0, x1), Y.Between(y0, y1)) }

type all []Expr

func (e all) String() string                  { return join(e, " and ") }
func (e all) Columns() event.Columns          { return columnsOf(e) }
func (e all) Mask(b event.Batch, keep []bool) { maskBlocks(e, b, keep) }

// Box goes through the parts twice, for what a part says may narrow an earlier one.
func (e all) Box() event.Box { return e.box(e.box(event.Everything)) }

func (e all) box(b event.Box) event.Box {
	for _, p := range e {
		b = p.box(b)
	}
	return b
}

func (e all) mask(b event.Batch, keep []bool, s *scratch) {
	for i := 0; i < len(e); i++ {
		if i+1 < len(e) && maskRect(e[i], e[i+1], b, keep) {
			i++
			continue
		}
		e[i].mask(b, keep, s)
	}
}

// maskRect masks by two ranges of coordinates at once; it reports false where the parts are other ones.
func maskRect(e, f Expr, b event.Batch, keep []bool) bool {
	r, okR := e.(*between)
	q, okQ := f.(*between)
	if !okR || !okQ {
		return false
	}
	c, lowC, okC := r.v.coordinate()
	d, lowD, okD := q.v.coordinate()
	if !okC || !okD || !has(b, c) || !has(b, d) {
		return false
	}
	inRect(coordinates(b, c), coordinates(b, d), lowC, lowD, r.in, q.in, keep)
	return true
}

type some []Expr

func (e some) String() string                  { return join(e, " or ") }
func (e some) Columns() event.Columns          { return columnsOf(e) }
func (e some) Box() event.Box                  { return e.box(event.Everything) }
func (e some) Mask(b event.Batch, keep []bool) { maskBlocks(e, b, keep) }

func (e some) box(within event.Box) event.Box {
	b := event.Nothing
	for _, p := range e {
		b = b.Hull(p.box(within))
	}
	return b
}

func (e some) mask(b event.Batch, keep []bool, s *scratch) {
	held, part := s.bools.take(len(keep)), s.bools.take(len(keep))
	clear(held)
	for _, p := range e {
		copy(part, keep)
		p.mask(b, part, s)
		for i, k := range part {
			held[i] = bit(held[i])|bit(k) != 0
		}
	}
	copy(keep, held)
	s.bools.give(2)
}

type not struct{ of Expr }

func (e not) Columns() event.Columns          { return e.of.Columns() }
func (e not) Box() event.Box                  { return e.box(event.Everything) }
func (e not) Mask(b event.Batch, keep []bool) { maskBlocks(e, b, keep) }

func (e not) String() string {
	switch of := e.of.(type) {
	case *between:
		if of.in.Lo == of.in.Hi || of.in.Lo > math.MinInt64 && of.in.Hi < math.MaxInt64 {
			return of.text("not ")
		}
	case *list:
		return of.text("not ")
	case *compare:
		if of.op == equal {
			return of.text(" != ")
		}
	case *region, *test:
		return "not " + of.String()
	}
	return "not (" + e.of.String() + ")"
}

// box says something where the opposite is no opposite.
func (e not) box(within event.Box) event.Box {
	switch of := opposite(e.of).(type) {
	case not:
		return within
	default:
		return of.box(within)
	}
}

func (e not) mask(b event.Batch, keep []bool, s *scratch) {
	holds := s.bools.take(len(keep))
	copy(holds, keep)
	e.of.mask(b, holds, s)
	for i, h := range holds {
		keep[i] = bit(keep[i])&^bit(h) != 0
	}
	s.bools.give(1)
}

// opposite negates a predicate, inside it where that is no longer: by De Morgan, and by turning comparisons.
func opposite(e Expr) Expr {
	switch e := e.(type) {
	case all:
		return Or(opposites(e)...)
	case some:
		return And(opposites(e)...)
	case *between:
		if s := newSet([]Interval{e.in}).complement(anything); len(s) == 1 {
			return e.v.Between(s[0].Lo, s[0].Hi)
		}
	case *compare:
		switch e.op {
		case less:
			return &compare{atMost, e.b, e.a}
		case atMost:
			return &compare{less, e.b, e.a}
		}
	}
	return Not(e)
}

func opposites(parts []Expr) []Expr {
	out := make([]Expr, len(parts))
	for i, p := range parts {
		out[i] = opposite(p)
	}
	return out
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

package exprs

import (
	"math"
	"slices"

	"github.com/evq-project/evq/io/event"
)

// Simplify returns an equal predicate that asks for less. Arithmetic on one value moves to the other side of its
// comparison; what is said of one value in a conjunction or a disjunction becomes one set of ranges; parts that always
// or never hold are folded, as are repetitions and contradictions; and opposites move inside where that helps. To
// simplify the result again changes nothing.
func Simplify(e Expr) Expr {
	e = simplify(e)
	for range maxPasses { // a part that was rewritten may meet another
		again := simplify(e)
		if again.String() == e.String() {
			break
		}
		e = again
	}
	return e
}

// maxPasses bounds how often a predicate is simplified; two passes are the rule.
const maxPasses = 8

// simplify is one pass.
func simplify(e Expr) Expr {
	if v, s, ok := setOf(e); ok {
		return emit(v, s)
	}
	switch e := e.(type) {
	case *compare:
		return simplifyCompare(e)
	case *region:
		if e.boundX.empty() || e.Box().Empty() {
			return False
		}
	case all:
		return simplifyAll(e)
	case some:
		return simplifySome(e)
	case not:
		return simplifyNot(e)
	}
	return e
}

// setOf returns the value that a predicate speaks of and the numbers for which it holds; ok is false where it speaks
// of several.
func setOf(e Expr) (v Value, s set, ok bool) {
	switch e := e.(type) {
	case *between:
		v, s = solve(e.v, newSet([]Interval{e.in}))
		return v, s, true
	case *list:
		v, s = solve(e.v, newSet(singles(e.numbers)))
		return v, s, true
	case not:
		v, s, ok = setOf(e.of)
		return v, s.complement(anything), ok
	case all:
		return setOfParts(e, meetOf)
	case some:
		return setOfParts(e, unionOf)
	}
	return v, nil, false
}

func setOfParts(parts []Expr, join func([]set) set) (v Value, s set, ok bool) {
	sets := make([]set, 0, len(parts))
	for i, p := range parts {
		w, r, ok := setOf(p)
		if !ok || i > 0 && !v.Equal(w) {
			return v, nil, false
		}
		v, sets = w, append(sets, r)
	}
	return v, join(sets), true
}

func singles(numbers []int64) []Interval {
	out := make([]Interval, len(numbers))
	for i, n := range numbers {
		out[i] = Interval{n, n}
	}
	return out
}

// solve undoes arithmetic with constants: v lies in s exactly where the value it returns lies in the set it returns.
func solve(v Value, s set) (Value, set) {
	for {
		t := v.term()
		i, other := 0, anything
		switch len(t.args) {
		case 2:
			if isConst(t.args[0]) {
				i = 1
			}
			n, ok := t.args[1-i].constant()
			if !ok {
				return v, s
			}
			other = Interval{n, n}
		case 1:
		default:
			return v, s
		}
		if t.kind == ofCall || t.kind == ofMod && !t.args[0].term().all.within(Interval{0, t.n - 1}) ||
			t.kind == ofDiv && len(s) > 2 { // many numbers are shorter than as many ranges
			return v, s
		}
		var parts []Interval
		for _, r := range s {
			in, exact := t.invert(i, r, other)
			if t.kind == ofMod {
				in, exact = r, true
			}
			if !exact {
				return v, s
			}
			parts = append(parts, in)
		}
		v, s = t.args[i], newSet(parts)
	}
}

// emit writes a set of numbers as a predicate, as short as it can be.
func emit(v Value, s set) Expr {
	limits := v.term().all
	s = s.intersect(set{limits})
	if len(s) == 0 {
		return False
	}
	span := Interval{s[0].Lo, s[len(s)-1].Hi}
	if len(s) == 1 {
		return inside(v, span)
	}
	if numbers, ok := s.singles(); ok {
		return v.In(numbers...)
	}
	gaps := s.complement(span)
	if numbers, ok := gaps.singles(); ok {
		return andUnlessTrue(inside(v, span), Not(v.In(numbers...)))
	}
	if len(gaps) == 1 && span == limits {
		return Not(v.Between(gaps[0].Lo, gaps[0].Hi))
	}
	var parts []Expr
	var single []int64
	for _, r := range s {
		if r.Lo == r.Hi {
			single = append(single, r.Lo)
		} else {
			parts = append(parts, inside(v, r))
		}
	}
	if len(single) > 0 {
		parts = append(parts, v.In(single...))
	}
	return Or(parts...)
}

// inside holds where v lies in an interval; sides that exclude nothing stay open.
func inside(v Value, r Interval) Expr {
	limits := v.term().all
	switch {
	case limits.within(r):
		return True
	case r.Lo == r.Hi:
		return v.Eq(r.Lo)
	}
	if r.Lo <= limits.Lo {
		r.Lo = math.MinInt64
	}
	if r.Hi >= limits.Hi {
		r.Hi = math.MaxInt64
	}
	return v.Between(r.Lo, r.Hi)
}

func andUnlessTrue(a, b Expr) Expr {
	if a == True {
		return b
	}
	return And(a, b)
}

func simplifyCompare(e *compare) Expr {
	a, b := e.a.term().all, e.b.term().all
	same := e.a.Equal(e.b)
	switch {
	case e.op == equal && same, e.op == less && a.Hi < b.Lo, e.op == atMost && (same || a.Hi <= b.Lo):
		return True
	case e.op == equal && !a.meets(b), e.op == less && (same || a.Lo >= b.Hi), e.op == atMost && a.Lo > b.Hi:
		return False
	}
	return e
}

// simplifyNot moves an opposite inside a disjunction always, and inside a conjunction where no part is one then.
func simplifyNot(e not) Expr {
	turned := opposite(e.of)
	outside := false
	switch t := turned.(type) {
	case not:
		outside = true
	case some:
		outside = slices.ContainsFunc(t, func(p Expr) bool {
			_, ok := p.(not)
			return ok
		})
	}
	if outside {
		return Not(simplify(e.of))
	}
	return simplify(turned)
}

func simplifyAll(e all) Expr {
	parts, folded := gather(flat[all](e), meetOf, False, True)
	if folded {
		return False
	}
	out := And(parts...)
	if out.Box() == event.Nothing {
		return False
	}
	return out
}

func simplifySome(e some) Expr {
	parts, folded := gather(flat[some](e), unionOf, True, False)
	if folded {
		return True
	}
	return Or(parts...)
}

// flat simplifies the parts and takes in those that are of the same kind themselves.
func flat[K interface {
	all | some
	Expr
}](e K) []Expr {
	var out []Expr
	for _, p := range []Expr(e) {
		p = simplify(p)
		if same, ok := p.(K); ok {
			out = append(out, []Expr(same)...)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// gather joins the parts of a conjunction or a disjunction that speak of one value, each where the first stood, and
// leaves out repetitions and the parts that change nothing. folded says that the whole is the constant end.
func gather(parts []Expr, join func([]set) set, end, idle Expr) (out []Expr, folded bool) {
	type about struct {
		v    Value
		sets []set
		at   int
	}
	values := map[string]*about{}
	var order []*about
	seen := map[string]bool{}
	for _, p := range parts {
		if v, s, ok := setOf(p); ok {
			name := v.String()
			if old := values[name]; old != nil {
				old.sets = append(old.sets, s)
				continue
			}
			values[name] = &about{v, []set{s}, len(out)}
			order = append(order, values[name])
			out = append(out, nil)
			continue
		}
		name := p.String()
		switch {
		case p == end || seen[Not(p).String()]:
			return nil, true
		case p == idle || seen[name]:
			continue
		}
		seen[name] = true
		out = append(out, p)
	}
	for _, a := range order {
		out[a.at] = emit(a.v, join(a.sets))
	}
	kept := out[:0]
	for _, p := range out {
		switch p {
		case end:
			return nil, true
		case idle:
		default:
			kept = append(kept, p)
		}
	}
	return kept, false
}

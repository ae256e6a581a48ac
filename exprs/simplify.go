package exprs

import (
	"math"
	"slices"
)

// Simplify returns an equal predicate that asks for less: ranges of one value in a conjunction become one
// range, parts that always or never hold are folded, and nested parts of one kind are joined.
func Simplify(e Expr) Expr {
	switch e := e.(type) {
	case *between:
		return simplifyBetween(e)
	case all:
		return simplifyAll(e)
	case some:
		return simplifySome(e)
	case not:
		return Not(Simplify(e.Expr))
	}
	return e
}

func simplifyBetween(e *between) Expr {
	lo, hi := e.v.limits()
	switch {
	case e.lo > e.hi || e.hi < lo || e.lo > hi:
		return False
	case e.lo <= lo && e.hi >= hi:
		return True
	}
	return e
}

// limits returns the range of values that v can take for any event.
func (v Value) limits() (lo, hi int64) {
	switch v.col {
	case colT:
		lo, hi = math.MinInt64, math.MaxInt64
	case colP:
		hi = 1
	default:
		hi = math.MaxUint16
	}
	for _, o := range v.ops {
		if o.kind == mod {
			lo, hi = 0, o.by-1
			continue
		}
		ends := []int64{lo, hi}
		o.apply(ends)
		lo, hi = ends[0], ends[1]
	}
	return lo, hi
}

func simplifyAll(e all) Expr {
	var parts []Expr
	for _, p := range flatten(e) {
		switch p := p.(type) {
		case constant:
			if !p {
				return False
			}
		case *between:
			at := slices.IndexFunc(parts, func(q Expr) bool {
				b, ok := q.(*between)
				return ok && b.v.Equal(p.v)
			})
			if at < 0 {
				parts = append(parts, p)
				continue
			}
			old := parts[at].(*between)
			both := &between{p.v, max(p.lo, old.lo), min(p.hi, old.hi)}
			if both.lo > both.hi {
				return False
			}
			parts[at] = both
		default:
			if !has(parts, p) {
				parts = append(parts, p)
			}
		}
	}
	return And(parts...)
}

func simplifySome(e some) Expr {
	var parts []Expr
	for _, p := range e {
		p = Simplify(p)
		switch c, ok := p.(constant); {
		case ok && bool(c):
			return True
		case ok:
		case !has(parts, p):
			parts = append(parts, p)
		}
	}
	return Or(parts...)
}

// flatten simplifies the parts of a conjunction and takes in those that are conjunctions themselves.
func flatten(e all) []Expr {
	var out []Expr
	for _, p := range e {
		if s, ok := Simplify(p).(all); ok {
			out = append(out, s...)
		} else {
			out = append(out, Simplify(p))
		}
	}
	return out
}

func has(parts []Expr, p Expr) bool {
	return slices.ContainsFunc(parts, func(q Expr) bool { return q.String() == p.String() })
}

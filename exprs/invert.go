package exprs

import (
	"math"
	"math/bits"
)

// A bound is an end of an interval: a number, or what lies below (side -1) or above (side 1) all of int64.
type bound struct {
	n    int64
	side int
}

var below, above = bound{side: -1}, bound{side: 1}

// to makes an interval of its ends.
func (lo bound) to(hi bound) Interval {
	if lo.side > 0 || hi.side < 0 {
		return nothing
	}
	r := Interval{lo.n, hi.n}
	if lo.side < 0 {
		r.Lo = math.MinInt64
	}
	if hi.side > 0 {
		r.Hi = math.MaxInt64
	}
	return r
}

func addBound(a, b int64) bound {
	s := a + b
	if (a^s)&(b^s) < 0 {
		return bound{side: int(a>>63) | 1}
	}
	return bound{n: s}
}

func subBound(a, b int64) bound {
	d := a - b
	if (a^b)&(a^d) < 0 {
		return bound{side: int(a>>63) | 1}
	}
	return bound{n: d}
}

func mulBound(a, b int64) bound {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if int64(hi)-(a>>63)&b-(b>>63)&a != int64(lo)>>63 {
		return bound{side: int((a^b)>>63) | 1}
	}
	return bound{n: int64(lo)}
}

// invert returns an interval that holds operand i wherever the result lies in r and the other operand in other.
// Where exact, the result lies in r for every number of it too, provided that other is one number. An end of r that
// is an end of int64 bounds nothing, as results stop there.
func (t *term) invert(i int, r, other Interval) (in Interval, exact bool) {
	lo, hi := below, above
	isLo, isHi := r.Lo > math.MinInt64, r.Hi < math.MaxInt64
	switch {
	case t.kind == ofAdd:
		if isLo {
			lo = subBound(r.Lo, other.Hi)
		}
		if isHi {
			hi = subBound(r.Hi, other.Lo)
		}
	case t.kind == ofSub && i == 0:
		if isLo {
			lo = addBound(r.Lo, other.Lo)
		}
		if isHi {
			hi = addBound(r.Hi, other.Hi)
		}
	case t.kind == ofSub || t.kind == ofNeg:
		if t.kind == ofNeg {
			other = Interval{0, 0}
		}
		if isHi {
			lo = subBound(other.Lo, r.Hi)
		}
		if isLo {
			hi = subBound(other.Hi, r.Lo)
		}
	case t.kind == ofDiv:
		if isLo {
			lo = mulBound(r.Lo, t.n)
		}
		if isHi { // the last number of the last group
			if hi = mulBound(r.Hi+1, t.n); hi.side == 0 {
				hi = subBound(hi.n, 1)
			}
		}
	case t.kind == ofMul && other.Lo == other.Hi:
		return mulInverse(r, other.Lo)
	default:
		return anything, false
	}
	return lo.to(hi), true
}

// mulInverse returns the factors whose product with c lies in r.
func mulInverse(r Interval, c int64) (in Interval, exact bool) {
	isLo, isHi := r.Lo > math.MinInt64, r.Hi < math.MaxInt64
	if c < 0 { // v*c in r is v*-c in -r
		if c == math.MinInt64 || r.Hi == math.MinInt64 {
			return anything, false
		}
		isLo, isHi = isHi, isLo
		r, c = Interval{subSat(0, r.Hi), subSat(0, r.Lo)}, -c
	}
	if c == 0 {
		return anything, false
	}
	in = anything
	if isLo {
		in.Lo = ceilDiv(r.Lo, c)
	}
	if isHi {
		in.Hi = floorDiv(r.Hi, c)
	}
	return in, true
}

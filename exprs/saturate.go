package exprs

import (
	"math"
	"math/bits"
)

// Arithmetic stops at the ends of int64 instead of wrapping around: a sum that is too large stays the largest number,
// so that every operation is monotone and a comparison never turns round.

// edge is the end of int64 on the side of n's sign.
func edge(n int64) int64 { return math.MaxInt64 ^ n>>63 }

func addSat(a, b int64) int64 {
	s := a + b
	if (a^s)&(b^s) < 0 { // the sum lacks the sign that both have
		return edge(a)
	}
	return s
}

func subSat(a, b int64) int64 {
	d := a - b
	if (a^b)&(a^d) < 0 {
		return edge(a)
	}
	return d
}

func mulSat(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if int64(hi)-(a>>63)&b-(b>>63)&a != int64(lo)>>63 { // the high half of the signed product
		return edge(a ^ b)
	}
	return int64(lo)
}

// floorDiv divides by a positive number, rounding towards minus infinity.
func floorDiv(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// floorMod is the remainder of floorDiv, from 0 to by-1.
func floorMod(n, by int64) int64 {
	r := n % by
	if r < 0 {
		r += by
	}
	return r
}

// ceilDiv divides by a positive number, rounding towards plus infinity.
func ceilDiv(n, by int64) int64 {
	q := n / by
	if n%by > 0 {
		q++
	}
	return q
}

// Integers computes an operation of formulas on two integers: OpAdd, OpSub, OpMul, OpDiv or OpMod. ok is false where the
// divisor is 0.
func Integers(op Op, a, b int64) (v int64, ok bool) {
	switch op {
	case OpAdd:
		return addSat(a, b), true
	case OpSub:
		return subSat(a, b), true
	case OpMul:
		return mulSat(a, b), true
	}
	if b == 0 {
		return 0, false
	}
	q, r := a/b, a%b
	if r != 0 && (r < 0) != (b < 0) {
		q, r = q-1, r+b
	}
	if a == math.MinInt64 && b == -1 {
		q = math.MaxInt64
	}
	if op == OpMod {
		return r, true
	}
	return q, true
}

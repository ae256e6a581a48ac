package exprs

import (
	"math"
	"math/bits"

	"github.com/evq-project/evq/io/event"
)

// Eval computes the value of each event into dst, which is as long as b. A column that b lacks reads as 0.
func (v Value) Eval(b event.Batch, dst []int64) {
	if _, ok := v.column(); ok {
		v.eval(b, dst, nil)
		return
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for i := 0; i < b.Len(); i += blockLen {
		j := min(i+blockLen, b.Len())
		v.eval(b.Slice(i, j), dst[i:j], s)
	}
}

// eval computes a block.
func (v Value) eval(b event.Batch, dst []int64, s *scratch) {
	t := v.term()
	switch t.kind {
	case ofColumn:
		load(t.col, b, dst)
	case ofConst:
		fill(dst, t.n)
	case ofCall:
		s.withArgs(t.args, len(dst), func(a Value, to []int64) { a.eval(b, to, s) },
			func(args [][]int64) { t.fn.Eval(dst, args) })
	case ofNeg:
		t.args[0].eval(b, dst, s)
		subFrom(dst, 0)
	case ofDiv:
		t.args[0].eval(b, dst, s)
		divide(dst, t.n)
	case ofMod:
		t.args[0].eval(b, dst, s)
		remain(dst, t.n)
	default:
		t.evalPair(b, dst, s)
	}
}

// evalPair computes an operation of two values; a constant operand costs no block.
func (t *term) evalPair(b event.Batch, dst []int64, s *scratch) {
	safe := t.all.Lo > math.MinInt64 && t.all.Hi < math.MaxInt64 // it cannot reach the ends: plain operations do
	left, right := t.args[0], t.args[1]
	n, isLeft := left.constant()
	m, isRight := right.constant()
	switch {
	case isRight:
		left.eval(b, dst, s)
		t.kind.withConst(dst, m, safe)
	case isLeft && t.kind == ofSub:
		right.eval(b, dst, s)
		subFrom(dst, n)
	case isLeft:
		right.eval(b, dst, s)
		t.kind.withConst(dst, n, safe)
	default:
		left.eval(b, dst, s)
		other := s.ints.take(len(dst))
		right.eval(b, other, s)
		t.kind.withBlock(dst, other, safe)
		s.ints.give(1)
	}
}

func load(c column, b event.Batch, dst []int64) {
	switch c {
	case colT:
		copy(dst, b.T())
	case colX:
		widen(dst, b.X())
	case colY:
		widen(dst, b.Y())
	case colP:
		widen(dst, b.P())
	}
}

func widen[N uint16 | int8](dst []int64, src []N) {
	if len(src) < len(dst) {
		clear(dst)
	}
	for i, n := range src {
		dst[i] = int64(n)
	}
}

func fill(dst []int64, n int64) {
	for i := range dst {
		dst[i] = n
	}
}

// withConst computes v[i] op n. Where it is safe no result can leave int64.
func (k kind) withConst(v []int64, n int64, safe bool) {
	switch {
	case k == ofAdd && safe:
		for i := range v {
			v[i] += n
		}
	case k == ofAdd:
		for i, m := range v {
			v[i] = addSat(m, n)
		}
	case k == ofSub && safe:
		for i := range v {
			v[i] -= n
		}
	case k == ofSub:
		for i, m := range v {
			v[i] = subSat(m, n)
		}
	case k == ofMul && safe:
		for i := range v {
			v[i] *= n
		}
	case k == ofMul:
		for i, m := range v {
			v[i] = mulSat(m, n)
		}
	case k == ofAnd:
		for i := range v {
			v[i] &= n
		}
	}
}

// withBlock computes v[i] op w[i]. Where it is safe no result can leave int64.
func (k kind) withBlock(v, w []int64, safe bool) {
	w = w[:len(v)]
	switch {
	case k == ofAdd && safe:
		for i := range v {
			v[i] += w[i]
		}
	case k == ofAdd:
		for i, m := range v {
			v[i] = addSat(m, w[i])
		}
	case k == ofSub && safe:
		for i := range v {
			v[i] -= w[i]
		}
	case k == ofSub:
		for i, m := range v {
			v[i] = subSat(m, w[i])
		}
	case k == ofMul && safe:
		for i := range v {
			v[i] *= w[i]
		}
	case k == ofMul:
		for i, m := range v {
			v[i] = mulSat(m, w[i])
		}
	case k == ofAnd:
		for i := range v {
			v[i] &= w[i]
		}
	}
}

func subFrom(v []int64, n int64) {
	for i, m := range v {
		v[i] = subSat(n, m)
	}
}

// divide divides by a constant: a power of two is a shift, and values that lie near each other, as times of a batch do, are
// multiplied by a reciprocal.
func divide(v []int64, by int64) {
	if by&(by-1) == 0 {
		shift := bits.TrailingZeros64(uint64(by))
		for i := range v {
			v[i] >>= shift & 63
		}
		return
	}
	from, near := spread(v, by)
	if !near {
		for i, n := range v {
			v[i] = floorDiv(n, by)
		}
		return
	}
	first, inverse := from/by, reciprocal(by)
	for i, n := range v {
		q, _ := bits.Mul64(inverse, uint64(n-from))
		v[i] = first + int64(q)
	}
}

// remain reduces modulo a constant, as divide divides.
func remain(v []int64, by int64) {
	if by&(by-1) == 0 {
		for i := range v {
			v[i] &= by - 1
		}
		return
	}
	from, near := spread(v, by)
	if !near {
		for i, n := range v {
			v[i] = floorMod(n, by)
		}
		return
	}
	inverse := reciprocal(by)
	for i, n := range v {
		n -= from
		q, _ := bits.Mul64(inverse, uint64(n))
		v[i] = n - int64(q)*by
	}
}

// spread returns the largest multiple of by that is not above any value, and whether all values lie less than 2^32 above
// it, which is what a reciprocal is exact for.
func spread(v []int64, by int64) (from int64, near bool) {
	if len(v) == 0 || by > math.MaxUint32 {
		return 0, false
	}
	lo, hi := v[0], v[0]
	for _, n := range v {
		lo, hi = min(lo, n), max(hi, n)
	}
	if lo < math.MinInt64+by {
		return 0, false // the multiple is no int64
	}
	from = floorDiv(lo, by) * by
	return from, uint64(hi)-uint64(from) <= math.MaxUint32
}

// reciprocal is 2^64/by, rounded up: the upper half of its product with n < 2^32 is n/by, for by < 2^32 that is no power
// of two. Source: Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019.
func reciprocal(by int64) uint64 { return math.MaxUint64/uint64(by) + 1 }

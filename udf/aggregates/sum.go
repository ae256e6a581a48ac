package aggregates

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// ErrOverflow reports a sum beyond 64-bit integers.
var ErrOverflow = errors.New("the sum does not fit in 64 bits; take the mean, or make smaller groups")

// A wide is an integer of 128 bits in two's complement. No sum of fewer than 2^64 integers of 64 bits overflows it.
type wide struct {
	hi int64
	lo uint64
}

func (w wide) plus(v int64) wide {
	lo, carry := bits.Add64(w.lo, uint64(v), 0)
	return wide{w.hi + v>>63 + int64(carry), lo}
}

// narrow returns w where it fits in 64 bits.
func (w wide) narrow() (v int64, ok bool) {
	v = int64(w.lo)
	return v, w.hi == v>>63
}

// big returns w as an integer without bounds.
func (w wide) big() *big.Int {
	v := big.NewInt(w.hi)
	return v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(w.lo))
}

type sums struct{ of []wide }

// Add implements udf.Accumulator.
func (s *sums) Add(args [][]int64, of []int32, groups int) error {
	s.of = grown(s.of, groups, wide{})
	sums, vs := s.of, args[0]
	for i, g := range of {
		sums[g] = sums[g].plus(vs[i])
	}
	return nil
}

// Values implements udf.Accumulator.
func (s *sums) Values(_ event.Window, dst *udf.Column) error {
	for _, w := range s.of {
		v, ok := w.narrow()
		if !ok {
			return fmt.Errorf("%v: %w", w.big(), ErrOverflow)
		}
		dst.Ints = append(dst.Ints, v)
	}
	return nil
}

// Reset implements udf.Accumulator.
func (s *sums) Reset() { s.of = s.of[:0] }

type means struct {
	sums
	number counts
}

// Add implements udf.Accumulator.
func (m *means) Add(args [][]int64, of []int32, groups int) error {
	return errors.Join(m.sums.Add(args, of, groups), m.number.Add(nil, of, groups))
}

// Values implements udf.Accumulator.
func (m *means) Values(_ event.Window, dst *udf.Column) error {
	out := floats(dst, len(m.of))
	for i, w := range m.of {
		out[i] = quotient(w, m.number.n[i])
	}
	return nil
}

// quotient returns w/n, n > 0, rounded once: the division of floats is, where both are exact.
func quotient(w wide, n int64) float64 {
	const exact = 1 << 53
	if v, ok := w.narrow(); ok && v <= exact && v >= -exact && n <= exact {
		return float64(v) / float64(n)
	}
	f, _ := new(big.Rat).SetFrac(w.big(), big.NewInt(n)).Float64()
	return f
}

// Reset implements udf.Accumulator.
func (m *means) Reset() {
	m.sums.Reset()
	m.number.Reset()
}

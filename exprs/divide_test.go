package exprs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Division and remainder of a column are those of its numbers one by one, wherever the numbers lie.
func TestDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 3000 {
		by := int64(1) + r.Int64N(1<<r.IntN(40))
		from, reach := r.Int64()<<r.IntN(3)-r.Int64N(1<<40), int64(1)<<r.IntN(45)
		if r.IntN(4) == 0 {
			from = []int64{math.MinInt64, math.MaxInt64 - reach, -5, 0}[r.IntN(4)]
		}
		v := make([]int64, r.IntN(20))
		for i := range v {
			v[i] = from + r.Int64N(reach)
		}
		q, m := slices.Clone(v), slices.Clone(v)
		divide(q, by)
		remain(m, by)
		for i, n := range v {
			if q[i] != floorDiv(n, by) || m[i] != floorMod(n, by) {
				t.Fatalf("%d by %d: %d, remainder %d, of the values %v", n, by, q[i], m[i], v)
			}
		}
	}
}

package mixeddensity

import (
	"math"
	"sort"
)

// maxBins is the largest number of bins for which RVT's single precision keeps the last event inside: of 33
// bins, it falls in bin 33.
const maxBins = 32

// bin returns the bin of an event at the part q of its window: the plain rule, which firsts inverts. All steps
// are in single precision, as torch takes them; q is float32(t-t0) / float32(max(t1-t0, 1)).
func bin(q float32, bins int) int {
	q = min(max(q, 1e-6), 1-1e-6)
	halvings := float32(math.Log(float64(q))) / float32(math.Log(0.5))
	return int(max(float32(bins)-halvings, 0))
}

// firsts returns for each bin the smallest q in [0, 1] that falls in it or a later one. The rule is monotone in
// q, so they say all of it, and do not depend on the window: no event needs a logarithm.
func firsts(bins int) []float32 {
	out := make([]float32, bins)
	for k := range out {
		// Floats that are not negative are in the order of their bits.
		bits := sort.Search(int(math.Float32bits(1)), func(i int) bool { return bin(math.Float32frombits(uint32(i)), bins) >= k })
		out[k] = math.Float32frombits(uint32(bits))
	}
	return out
}

// before returns how many of the times t, which are in order, lie before the part first of the window from t0 to
// t1.
func before(t []int64, t0, t1 int64, first float32) int {
	span := float32(max(uint64(t1-t0), 1)) // right also where an int64 does not hold the difference
	return sort.Search(len(t), func(i int) bool { return float32(uint64(t[i]-t0))/span >= first })
}

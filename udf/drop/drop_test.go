package drop

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf/filtertest"
)

func naive(f Filter) func(event.Batch) []bool {
	return func(b event.Batch) []bool {
		r := rand.New(rand.NewPCG(f.Seed, stream))
		keep := make([]bool, b.Len())
		for i := range keep {
			keep[i] = float64(r.Uint64()>>11)/(1<<53) >= f.P
		}
		return keep
	}
}

func TestConformance(t *testing.T) {
	for _, f := range []Filter{{P: 0}, {P: 1}, {P: 0.5}, {P: 0.1, Seed: math.MaxUint64}} {
		t.Run(f.String(), func(t *testing.T) { filtertest.Run(t, f, naive(f)) })
	}
}

// The share that is dropped is P within five standard deviations, and neighbours in the stream are independent.
func TestShare(t *testing.T) {
	const n = 1 << 18
	b := eventtest.Recording(1, n, filtertest.Size)
	for _, p := range []float64{0, 1e-3, 0.25, 0.5, 0.9, 1} {
		for seed := range uint64(3) {
			keep := filtertest.Sift(t, Filter{P: p, Seed: seed}, b, filtertest.Size, n)
			var dropped, pairs int
			for i, k := range keep {
				if !k {
					dropped++
					if i > 0 && !keep[i-1] {
						pairs++
					}
				}
			}
			within(t, "dropped", dropped, p)
			within(t, "pairs", pairs, p*p)
		}
	}
}

func within(t *testing.T, what string, got int, p float64) {
	t.Helper()
	const n = 1 << 18
	if d := math.Abs(float64(got) - n*p); d > 5*math.Sqrt(3*n*p*(1-p))+1 {
		t.Errorf("p=%g: %d %s of %d", p, got, what, n)
	}
}

// Other seeds drop other events.
func TestSeeds(t *testing.T) {
	b := eventtest.Recording(1, 1000, filtertest.Size)
	a, c := filtertest.Sift(t, Filter{P: 0.5, Seed: 1}, b, filtertest.Size, 1000), filtertest.Sift(t, Filter{P: 0.5, Seed: 2}, b, filtertest.Size, 1000)
	same := 0
	for i := range a {
		if a[i] == c[i] {
			same++
		}
	}
	if same < 400 || same > 600 {
		t.Errorf("two seeds agree on %d of 1000 events", same)
	}
}

func TestEntry(t *testing.T) {
	f, err := Entry.Make(map[string]string{"p": "0.25", "seed": "18446744073709551615"})
	if err != nil || f != (Filter{P: 0.25, Seed: math.MaxUint64}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []map[string]string{{"p": "1.1"}, {"p": "-0.1"}, {"p": "NaN"}, {"seed": "-1"}, {"seed": "1.5"}} {
		if f, err := Entry.Make(bad); err == nil {
			t.Errorf("%v made %v", bad, f)
		}
	}
	if _, err := (Filter{P: math.NaN()}).Open(filtertest.Size); err == nil {
		t.Error("p=NaN was opened")
	}
}

func BenchmarkSift(b *testing.B) { filtertest.Bench(b, Filter{P: 0.5}) }

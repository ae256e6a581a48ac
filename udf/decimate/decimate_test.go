package decimate

import (
	"math"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf/filtertest"
)

func naive(f Filter) func(event.Batch) []bool {
	return func(b event.Batch) []bool {
		count := map[[2]uint16]int{}
		keep := make([]bool, b.Len())
		for i := range keep {
			at := [2]uint16{b.X()[i], b.Y()[i]}
			if f.Stream {
				at = [2]uint16{}
			}
			count[at]++
			keep[i] = count[at]%f.N == 0
		}
		return keep
	}
}

func TestConformance(t *testing.T) {
	for _, f := range []Filter{{N: 1}, {N: 2}, {N: 3}, {N: math.MaxInt32}, {N: 1, Stream: true}, {N: 3, Stream: true}, {N: math.MaxInt32, Stream: true}} {
		t.Run(f.String(), func(t *testing.T) { filtertest.Run(t, f, naive(f)) })
	}
}

func TestEntry(t *testing.T) {
	f, err := Entry.Make(map[string]string{"n": "5", "by": "stream"})
	if err != nil || f != (Filter{N: 5, Stream: true}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []int{-1, 0, math.MaxInt32 + 1} {
		if _, err := (Filter{N: bad}).Open(filtertest.Size); err == nil {
			t.Errorf("one event in %d was opened", bad)
		}
	}
}

func BenchmarkSift(b *testing.B) {
	for _, f := range []Filter{{N: 2}, {N: 2, Stream: true}} {
		b.Run(f.String(), func(b *testing.B) { filtertest.Bench(b, f) })
	}
}

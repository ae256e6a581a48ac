package dedup

import (
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf/filtertest"
)

type key struct {
	t    int64
	x, y uint16
	p    int8
}

func naive(b event.Batch) []bool {
	seen := map[key]bool{}
	keep := make([]bool, b.Len())
	for i, t := range b.T() {
		k := key{t, b.X()[i], b.Y()[i], b.P()[i]}
		keep[i] = !seen[k]
		seen[k] = true
	}
	return keep
}

func TestConformance(t *testing.T) {
	if !slices.Contains(naive(filtertest.Recordings()["dense"]), false) {
		t.Fatal("no recording holds an event twice; the test shows nothing")
	}
	filtertest.Run(t, Filter{}, naive)
}

// The twin may stand far from its event, and in another batch; another polarity, place or time is no twin.
func TestTwins(t *testing.T) {
	b := event.New([]int64{1, 1, 1, 1, 1, 2, 2}, []uint16{3, 3, 4, 3, 3, 3, 3}, []uint16{5, 5, 5, 4, 5, 5, 5}, []int8{0, 1, 0, 0, 0, 0, 0})
	want := []bool{true, true, true, true, false, true, false}
	for _, batch := range []int{1, 2, 7} {
		if got := filtertest.Sift(t, Filter{}, b, filtertest.Size, batch); !slices.Equal(got, want) {
			t.Errorf("in batches of %d: %v", batch, got)
		}
	}
}

func TestIdempotent(t *testing.T) {
	b := filtertest.Recordings()["dense"]
	once := filtertest.Kept(b, filtertest.Sift(t, Filter{}, b, filtertest.Size, 100))
	if slices.Contains(filtertest.Sift(t, Filter{}, once, filtertest.Size, 7), false) {
		t.Error("it drops what it kept")
	}
}

func TestEntry(t *testing.T) {
	if f, err := Entry.Make(nil); err != nil || f != (Filter{}) {
		t.Errorf("%v, %v", f, err)
	}
}

func BenchmarkSift(b *testing.B) { filtertest.Bench(b, Filter{}) }

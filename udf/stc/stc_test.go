package stc

import (
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf/filtertest"
	"github.com/evq-project/evq/udf/trail"
)

type burst struct {
	t      int64
	p      int8
	events int
}

func naive(f Filter) func(event.Batch) []bool {
	return func(b event.Batch) []bool {
		last := map[[2]uint16]burst{}
		keep := make([]bool, b.Len())
		for i, t := range b.T() {
			at := [2]uint16{b.X()[i], b.Y()[i]}
			now, ok := last[at]
			if !ok || now.p != b.P()[i] || t-now.t > f.Threshold {
				now.events = 0
			}
			now = burst{t, b.P()[i], now.events + 1}
			keep[i] = now.events == 2 || now.events > 2 && f.Trail
			last[at] = now
		}
		return keep
	}
}

func TestConformance(t *testing.T) {
	for _, f := range []Filter{{Threshold: 10_000}, {Threshold: 10_000, Trail: true}, {}, {Trail: true}, {Threshold: 1 << 31}} {
		t.Run(f.String(), func(t *testing.T) { filtertest.Run(t, f, naive(f)) })
	}
}

// With its trail, the filter keeps exactly what the trail filter drops: all but the first event of a burst.
func TestComplementsTrail(t *testing.T) {
	for name, b := range filtertest.Recordings() {
		first := filtertest.Sift(t, trail.Filter{Threshold: 700}, b, filtertest.Size, 100)
		for i, k := range filtertest.Sift(t, Filter{Threshold: 700, Trail: true}, b, filtertest.Size, 100) {
			if k == first[i] {
				t.Fatalf("%s: event %d is kept by both or by none", name, i)
			}
		}
	}
}

func TestEntry(t *testing.T) {
	f, err := Entry.Make(map[string]string{"threshold": "2ms", "cut_trail": "false"})
	if err != nil || f != (Filter{Threshold: 2000, Trail: true}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []int64{-1, 1<<31 + 1} {
		if _, err := (Filter{Threshold: bad}).Open(filtertest.Size); err == nil {
			t.Errorf("a threshold of %d us was opened", bad)
		}
	}
}

func BenchmarkSift(b *testing.B) { filtertest.Bench(b, Filter{Threshold: 10_000}) }

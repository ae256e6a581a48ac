package refractory

import (
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf/filtertest"
)

type pixel struct{ x, y uint16 }

// naive says the rule with a map and 64-bit times.
func naive(f Filter) func(event.Batch) []bool {
	return func(b event.Batch) []bool {
		last := map[pixel]int64{}
		keep := make([]bool, b.Len())
		for i, t := range b.T() {
			at := pixel{b.X()[i], b.Y()[i]}
			before, fired := last[at]
			keep[i] = !fired || t-before > f.Period
			if keep[i] || f.Seen {
				last[at] = t
			}
		}
		return keep
	}
}

func TestConformance(t *testing.T) {
	for _, f := range []Filter{{Period: 1000}, {Period: 1000, Seen: true}, {}, {Period: 1}, {Period: 1 << 31, Seen: true}} {
		t.Run(f.String(), func(t *testing.T) { filtertest.Run(t, f, naive(f)) })
	}
}

// What was kept against the kept is kept again, and against the seen too.
func TestIdempotent(t *testing.T) {
	b := eventtest.Recording(3, 5000, filtertest.Size)
	once := filtertest.Kept(b, filtertest.Sift(t, Filter{Period: 500}, b, filtertest.Size, 999))
	if once.Len() == 0 || once.Len() == b.Len() {
		t.Fatalf("%d of %d events are kept; the test shows nothing", once.Len(), b.Len())
	}
	for _, f := range []Filter{{Period: 500}, {Period: 500, Seen: true}} {
		if keep := filtertest.Sift(t, f, once, filtertest.Size, 999); slices.Contains(keep, false) {
			t.Errorf("%v drops what it kept", f)
		}
	}
}

func TestEntry(t *testing.T) {
	f, err := Entry.Make(map[string]string{"period": "2.5ms", "against": "seen"})
	if err != nil || f != (Filter{Period: 2500, Seen: true}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []string{"-1us", "1h", "x"} {
		if f, err := Entry.Make(map[string]string{"period": bad}); err == nil {
			t.Errorf("period=%s made %v", bad, f)
		}
	}
	for _, bad := range []int64{-1, 1<<31 + 1} {
		if _, err := (Filter{Period: bad}).Open(filtertest.Size); err == nil {
			t.Errorf("a period of %d us was opened", bad)
		}
	}
}

func BenchmarkSift(b *testing.B) {
	for _, f := range []Filter{{Period: 1000}, {Period: 1000, Seen: true}} {
		b.Run(f.String(), func(b *testing.B) { filtertest.Bench(b, f) })
	}
}

package trail

import (
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf/filtertest"
)

type fired struct {
	t int64
	p int8
}

func naive(f Filter) func(event.Batch) []bool {
	return func(b event.Batch) []bool {
		last := map[[2]uint16]fired{}
		keep := make([]bool, b.Len())
		for i, t := range b.T() {
			at := [2]uint16{b.X()[i], b.Y()[i]}
			before, ok := last[at]
			keep[i] = !ok || before.p != b.P()[i] || t-before.t > f.Threshold
			last[at] = fired{t, b.P()[i]}
		}
		return keep
	}
}

func TestConformance(t *testing.T) {
	for _, f := range []Filter{{10_000}, {0}, {1}, {1 << 31}} {
		t.Run(f.String(), func(t *testing.T) { filtertest.Run(t, f, naive(f)) })
	}
}

func TestEntry(t *testing.T) {
	if f, err := Entry.Make(map[string]string{"threshold": "2ms"}); err != nil || f != (Filter{2000}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []int64{-1, 1<<31 + 1} {
		if _, err := (Filter{bad}).Open(filtertest.Size); err == nil {
			t.Errorf("a threshold of %d us was opened", bad)
		}
	}
}

func BenchmarkSift(b *testing.B) { filtertest.Bench(b, Filter{10_000}) }

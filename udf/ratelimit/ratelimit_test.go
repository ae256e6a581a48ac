package ratelimit

import (
	"math/big"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf/filtertest"
)

// naive counts the events of every interval, with budgets in arithmetic without bounds.
func naive(f Filter) func(event.Batch) []bool {
	until := func(k *big.Int) *big.Int { // the events allowed before interval k
		v := new(big.Int).Mul(k, big.NewInt(f.Rate*f.Interval))
		return v.Div(v, big.NewInt(1_000_000)) // Euclidean, which is the floor
	}
	return func(b event.Batch) []bool {
		used := map[int64]int64{}
		keep := make([]bool, b.Len())
		for i, t := range b.T() {
			k := new(big.Int).Div(big.NewInt(t), big.NewInt(f.Interval))
			next := new(big.Int).Add(k, big.NewInt(1))
			budget := next.Sub(until(next), until(k)).Int64()
			if keep[i] = used[k.Int64()] < budget; keep[i] {
				used[k.Int64()]++
			}
		}
		return keep
	}
}

func TestConformance(t *testing.T) {
	for _, f := range []Filter{
		{Rate: 10_000_000, Interval: 1000}, {Rate: 12_345, Interval: 1000}, {Rate: 100_003, Interval: 777},
		{Rate: 1, Interval: 1}, {Rate: 999_999, Interval: 1}, {Rate: largest, Interval: largest}, {Rate: 700, Interval: 60_000_000},
	} {
		t.Run(f.String(), func(t *testing.T) { filtertest.Run(t, f, naive(f)) })
	}
}

func TestIdempotent(t *testing.T) {
	b := eventtest.Recording(3, 5000, filtertest.Size)
	f := Filter{Rate: 123_456, Interval: 1000}
	once := filtertest.Kept(b, filtertest.Sift(t, f, b, filtertest.Size, 999))
	if once.Len() == 0 || once.Len() == b.Len() {
		t.Fatalf("%d of %d events are kept; the test shows nothing", once.Len(), b.Len())
	}
	if slices.Contains(filtertest.Sift(t, f, once, filtertest.Size, 10), false) {
		t.Error("it drops what it kept")
	}
}

// A stream that is too fast everywhere comes out at the rate, to the event.
func TestRateIsExact(t *testing.T) {
	ts := make([]int64, 3_000_000)
	for i := range ts {
		ts[i] = int64(i) - 1_000_000
	}
	b := event.New(ts, nil, nil, nil)
	for _, f := range []Filter{{Rate: 333_333, Interval: 10}, {Rate: 7, Interval: 1000}, {Rate: 999_999, Interval: 1}} {
		if got := filtertest.Kept(addPixels(b), filtertest.Sift(t, f, b, filtertest.Size, 65536)).Len(); int64(got) != 3*f.Rate {
			t.Errorf("%v: %d events in 3 s", f, got)
		}
	}
}

func addPixels(b event.Batch) event.Batch {
	return event.New(b.T(), make([]uint16, b.Len()), make([]uint16, b.Len()), make([]int8, b.Len()))
}

func TestEntry(t *testing.T) {
	f, err := Entry.Make(map[string]string{"rate": "5000", "interval": "2ms"})
	if err != nil || f != (Filter{Rate: 5000, Interval: 2000}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []Filter{{0, 1}, {1, 0}, {largest + 1, 1}, {1, largest + 1}} {
		if _, err := bad.Open(filtertest.Size); err == nil {
			t.Errorf("%v was opened", bad)
		}
	}
}

func BenchmarkSift(b *testing.B) { filtertest.Bench(b, Filter{Rate: 1_000_000, Interval: 1000}) }

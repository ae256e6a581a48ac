package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/udf/aggregates"
)

// Events that are only counted make the groups that a map makes, also where a key leaves the range in which it was
// thought to lie, at whichever batch.
func TestTallyAsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for round := range 60 {
		ts := randomTimes(r, 1+r.IntN(600))
		mean := Agg{aggregates.Mean, []exprs.Value{exprs.X}} // which needs more than the number of events
		by := Grouping{
			Keys: []exprs.Value{exprs.X.Add(exprs.Const(-3)), exprs.T.Div(7)}[:r.IntN(3)],
			Aggs: []Agg{{Func: aggregates.Count}, {Func: aggregates.Rate}, mean}[:2+r.IntN(2)],
		}
		if r.IntN(3) == 0 {
			by.Where = exprs.X.Lt(5)
		}
		batch := 1 + r.IntN(80)
		want := all(t, &PlainGroup{In: WholeRecording(&batches{slices.Clone(ts), batch}, 1<<20), Grouping: by})
		for _, last := range []int64{ts[len(ts)-1] / 7, ts[len(ts)/2] / 7, ts[0] / 7} {
			dense := by
			dense.Ranges, dense.MaxSlots = []KeyRange{{-3, 20}, {ts[0] / 7, last}}[:len(by.Keys)], 1<<20
			op := &StreamGroup{In: &batches{slices.Clone(ts), batch}, Grouping: dense}
			got := all(t, op)
			if a, b := fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got); a != b {
				t.Fatalf("round %d, %v:\n%s, want\n%s", round, dense.Ranges, b, a)
			}
		}
	}
}

// Slots count no more events than they have room for.
func TestTallyEnds(t *testing.T) {
	s := newSlotIDs(0, []KeyRange{{5, 9}}, 100)
	if !s.count(0, [][]int64{{9, 6, 6}}, 3) {
		t.Fatal("three events are too many")
	}
	s.tally = mostTally - 1
	if s.count(0, [][]int64{{6, 6}}, 2) || s.count(0, [][]int64{{6, 10}}, 2) {
		t.Error("more is counted than there is room for, or a key that has no slot")
	}
	if got := s.settle(); !slices.Equal(got, []int64{2, 1}) || !slices.Equal(s.sorted(), []int32{0, 1}) {
		t.Errorf("groups have %d events, in the order %d", got, s.sorted())
	}
	of := make([]int32, 2)
	if !s.assign(0, [][]int64{{5, 9}}, of) || !slices.Equal(of, []int32{2, 1}) || !slices.Equal(s.sorted(), []int32{2, 0, 1}) {
		t.Errorf("afterwards events belong to %d, of %d", of, s.sorted())
	}
}

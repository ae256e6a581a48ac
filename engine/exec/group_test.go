package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/udf/aggregates"
)

// all drains groups of windows.
func all(t *testing.T, op GroupOp) (out []Groups) {
	t.Helper()
	for {
		g, err := op.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		g.Window.Hi, g.Window.Lo, g.Window.Since = g.Window.Hi-g.Window.Lo, 0, 0
		out = append(out, g)
	}
}

// Groups are found alike by a map, by hashing and by address, whether the ranges of the keys were known rightly, too
// narrowly, or make more places than there may be; window after window, with many groups and with few.
func TestGroupsAreFoundAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for round := range 30 {
		ts := randomTimes(r, 1+r.IntN(600))
		by := Grouping{
			Keys: []exprs.Value{exprs.X.Add(exprs.Const(-3)), exprs.T.Mod(5)}[:r.IntN(3)],
			Aggs: []Agg{{Func: aggregates.Count}, {aggregates.Last, []exprs.Value{exprs.T}}, {aggregates.Mean, []exprs.Value{exprs.X}},
				{aggregates.Distinct, []exprs.Value{exprs.X, exprs.Y}}, {aggregates.First, []exprs.Value{exprs.X}}},
		}
		switch r.IntN(3) {
		case 0:
			by.Bin = Binning{Bins: 1 + r.IntN(4)}
		case 1:
			by.Bin = Binning{Width: 1 + r.Int64N(30)}
		}
		if r.IntN(3) == 0 {
			by.Where = exprs.X.Lt(5)
		}
		windows := func() WindowOp {
			bounds := &EveryBounds{Length: 20, Hop: 20}
			return &TimeWindow{In: &batches{slices.Clone(ts), 1 + round}, Bounds: bounds, Max: 1 << 20}
		}
		want := all(t, &PlainGroup{In: windows(), Grouping: by})
		check := func(how string, op GroupOp) {
			t.Helper()
			got := all(t, op)
			if len(got) != len(want) {
				t.Fatalf("round %d, %s: %d windows, want %d", round, how, len(got), len(want))
			}
			for i := range got { // as text an empty column is one that is not there
				if a, b := fmt.Sprintf("%+v", want[i]), fmt.Sprintf("%+v", got[i]); a != b {
					t.Fatalf("round %d, %s:\n%s, want\n%s", round, how, b, a)
				}
			}
		}
		check("hash", &Group{In: windows(), Grouping: by})
		for _, ranges := range [][]KeyRange{{{-3, 4}, {0, 4}}, {{-3, -1}, {0, 4}}, {{0, 0}, {9, 9}}, {{-3, 1 << 40}, {0, 4}}} {
			dense := by
			dense.Ranges, dense.MaxSlots = ranges[:len(by.Keys)], 1000
			check(fmt.Sprintf("dense %v", dense.Ranges), &Group{In: windows(), Grouping: dense})
			if by.Bin.Bins == 0 {
				check(fmt.Sprintf("stream %v", dense.Ranges), &StreamGroup{In: &batches{slices.Clone(ts), 1 + round}, Bounds: &EveryBounds{Length: 20, Hop: 20}, Grouping: dense})
			}
		}
	}
}

// Bins of one microsecond are numbered beyond 32 bits: a window may last longer than 35 minutes.
func TestManyBins(t *testing.T) {
	const hour = 3_600_000_000
	for _, start := range []int64{5, -hour, 1_500_000_000_000_000} {
		by := Grouping{Bin: Binning{Width: 1}, Aggs: []Agg{{Func: aggregates.Count}}}
		ts := []int64{start, start + 1, start + hour, start + hour, start + 3*hour}
		want := []int64{0, 1, hour, 3 * hour}
		for name, op := range map[string]GroupOp{
			"plain":  &PlainGroup{In: WholeRecording(&batches{slices.Clone(ts), 2}, 100), Grouping: by},
			"hash":   &Group{In: WholeRecording(&batches{slices.Clone(ts), 2}, 100), Grouping: by},
			"stream": &StreamGroup{In: &batches{slices.Clone(ts), 2}, Grouping: by},
		} {
			g := all(t, op)
			if len(g) != 1 || !slices.Equal(g[0].Bins, want) || !slices.Equal(g[0].Values[0].Ints, []int64{1, 1, 2, 1}) {
				t.Errorf("%s: %+v", name, g)
			}
		}
	}
}

// More groups than memory allows are an error.
func TestTooManyGroups(t *testing.T) {
	ts := make([]int64, 500)
	for i := range ts {
		ts[i] = int64(i)
	}
	by := Grouping{Keys: []exprs.Value{exprs.T}, Aggs: []Agg{{Func: aggregates.Count}}, Max: 100}
	var many *TooManyGroupsError
	if _, err := (&StreamGroup{In: &batches{ts, 50}, Grouping: by}).Next(context.Background()); !errors.As(err, &many) || many.Max != 100 {
		t.Error(err)
	}
	by.Max = 500
	if _, err := (&StreamGroup{In: &batches{ts, 50}, Grouping: by}).Next(context.Background()); err != nil {
		t.Error(err)
	}
}

// FilterWindows leaves the windows where they are, and tells of the events since the one before.
func TestFilterWindows(t *testing.T) {
	op := &FilterWindows{
		In:   &TimeWindow{In: &batches{[]int64{1, 2, 3, 11, 12, 21, 22, 35}, 3}, Bounds: &EveryBounds{Length: 5, Hop: 10}, Gaps: true, Max: 100},
		Pred: exprs.T.Mod(2).Eq(0),
	}
	var got []string
	for {
		w, err := op.Next(context.Background())
		if err != nil {
			break
		}
		for _, win := range w.Windows {
			got = append(got, fmt.Sprintf("%d [%d, %d) %v since %v", win.Index, win.Start, win.End, w.Events.T()[win.Lo:win.Hi], w.Events.T()[win.Since:win.Hi]))
		}
	}
	want := []string{"0 [0, 5) [2] since [2]", "1 [10, 15) [12] since [12]", "2 [20, 25) [22] since [22]", "3 [30, 35) [] since []"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

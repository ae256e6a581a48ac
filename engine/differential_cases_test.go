package engine_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/enginetest"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/aggregates"
	"github.com/evq-project/evq/udf/eventcount"
	"github.com/evq-project/evq/udf/stackedhist"
)

// The cases here are what random queries found, written out, so that they stay what they are when the generator changes.

// A filter that keeps nothing does not undo a rotation below it, whichever rules there are to move it.
func TestNothingOfATurnedSensor(t *testing.T) {
	f := engine.Scan(eventtest.Source(eventtest.Recording(3, 300, small), small, 100)).Map(exprs.Rotate{Degrees: 270})
	for _, filtered := range []engine.Frame{
		f.Filter(exprs.X.Lt(0)),
		f.Map(exprs.Transpose{}, exprs.Transpose{}).Filter(exprs.And(exprs.X.Le(3), exprs.X.Ge(9))),
		f.Apply(made(t, engine.Filter, "refractory")).Filter(exprs.False),
	} {
		q := filtered.Window(engine.Ends([]int64{5000}, time.Millisecond)).Represent(made(t, engine.Represent, "time_surface"))
		want := enginetest.Agree(t, q)
		if len(want) != 1 || !want[0].Shape.Equal(tensor.Shape{2, small.Width, small.Height}) {
			t.Errorf("%d blocks: %v", len(want), want[0].Shape)
		}
	}
}

// A window without events has no mean, whether it comes before windows that have one or alone.
func TestNoMeanOfNothing(t *testing.T) {
	src := eventtest.Source(batchOf([]ev{{5, 1, 2, 1}, {6, 4, 2, 0}, {25, 3, 3, 1}}), small, 2)
	for _, opts := range [][]engine.Option{nil, {engine.Rules()}} {
		for _, c := range []struct {
			pred exprs.Expr
			want []cell
		}{
			{exprs.X.Ge(2), []cell{{float: true, f: 4}, {null: true}, {float: true, f: 3}}},
			{exprs.X.Eq(3), []cell{{null: true}, {null: true}, {float: true, f: 3}}},
			{exprs.False, []cell{{null: true}, {null: true}, {null: true}}},
		} {
			w := engine.Scan(src).Window(engine.Every(10 * time.Microsecond)).Filter(c.pred)
			a, err := ofTable(w.Group().Agg(engine.Agg(aggregates.Mean, exprs.X).As("mean"))).run(t.Context(), opts...)
			if err != nil || len(a.table.rows) != len(c.want) {
				t.Fatalf("%v: %+v", err, a.table)
			}
			for i, row := range a.table.rows {
				if got := row[len(row)-1]; got != c.want[i] {
					t.Errorf("where %v: the mean of window %d is %+v, want %+v", c.pred, i, got, c.want[i])
				}
			}
		}
	}
}

// A query may have any number of steps: rules that move a filter below one of them a round still end.
func TestManySteps(t *testing.T) {
	f := engine.Scan(eventtest.Source(eventtest.Recording(3, 500, small), small, 100))
	for range 40 {
		f = f.Map(exprs.Flip{}, exprs.ShiftTime{By: 3})
	}
	f = f.Filter(exprs.X.Lt(5))
	want, err := f.Collect(t.Context(), engine.Rules())
	if err != nil || want.Len() == 0 {
		t.Fatal(want.Len(), err)
	}
	got, err := f.Collect(t.Context())
	if d := eventtest.Diff(want, got); err != nil || d != "" {
		t.Error(err, d)
	}
}

// The largest limit there is keeps all blocks, of one representation or two.
func TestLargestLimit(t *testing.T) {
	f := engine.Scan(eventtest.Source(eventtest.Recording(3, 500, small), small, 100))
	count := eventcount.Count{}
	for _, reps := range [][]udf.Representation{{count}, {count, count}} {
		for _, opts := range [][]engine.Option{nil, {engine.Rules()}} {
			got, err := f.Window(engine.Count(100, 100)).Represent(reps...).Limit(math.MaxInt64).Collect(t.Context(), opts...)
			if err != nil || len(got) != 5*len(reps) {
				t.Errorf("%d blocks of %d representations: %v", len(got), len(reps), err)
			}
		}
	}
}

// A program's own source may give what is no polarity: that is an error in every way, and no panic.
func TestNoPolarity(t *testing.T) {
	for _, p := range []int8{-1, 2} {
		b := event.New([]int64{1, 2}, []uint16{1, 2}, []uint16{1, 2}, []int8{0, p})
		q := engine.Scan(eventtest.Source(b, small, 5)).Window(engine.WholeRecording()).StackedHistogram()
		for _, opts := range [][]engine.Option{nil, {engine.Rules()}} {
			if _, err := q.Collect(context.Background(), opts...); err == nil || !strings.Contains(err.Error(), "polarity") {
				t.Errorf("p = %d: %v", p, err)
			}
		}
	}
}

// A sensor of which halving leaves nothing is an error before anything runs.
func TestTooSmallToHalve(t *testing.T) {
	src := eventtest.Source(eventtest.Recording(3, 50, small), event.Geometry{Width: 1, Height: 5}, 100)
	q := engine.Scan(src).Window(engine.WholeRecording()).StackedHistogram(stackedhist.Downsample(2))
	for _, opts := range [][]engine.Option{nil, {engine.Rules()}} {
		if _, err := q.Collect(t.Context(), opts...); err == nil || !strings.Contains(err.Error(), "too small") {
			t.Error(err)
		}
	}
}

package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/plan"
)

// A span is what a window was found to be.
type span struct{ Start, End, Events int64 }

// spans runs a query over events at the given times and lists its windows.
func spans(t *testing.T, w engine.Windowing, times ...int64) (out []span) {
	t.Helper()
	rec := event.NewBuffer(len(times))
	for _, at := range times {
		rec.Append(at, 1, 1, 1)
	}
	q := engine.Scan(eventtest.Source(rec.Batch(), small, 2)).Window(w).StackedHistogram()
	for _, opts := range [][]engine.Option{nil, {engine.Rules()}} {
		var got []span
		err := q.Each(context.Background(), func(b tensor.Block) error {
			got = append(got, span{b.Start, b.End, b.Events})
			return nil
		}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(out, got); out != nil && d != "" {
			t.Errorf("as written the windows differ:\n%s", d)
		}
		out = got
	}
	return out
}

// TestWindowings looks at the windows that the frame's words give.
func TestWindowings(t *testing.T) {
	every := engine.Every(10 * time.Microsecond)
	for _, c := range []struct {
		name string
		by   engine.Windowing
		want []span
	}{
		{"every", every, []span{{10, 20, 1}, {20, 30, 2}, {30, 40, 0}, {40, 50, 1}}},
		{"origin", every.Origin(7), []span{{7, 17, 1}, {17, 27, 2}, {27, 37, 0}, {37, 47, 1}}},
		{"origin first", every.OriginFirst(), []span{{13, 23, 2}, {23, 33, 1}, {33, 43, 1}}},
		{"between", every.Between(0, 35), []span{{0, 10, 0}, {10, 20, 1}, {20, 30, 2}, {30, 40, 0}}},
		{"between, hopping", every.Hop(20*time.Microsecond).Between(20, 61), []span{{20, 30, 2}, {40, 50, 1}, {60, 70, 0}}},
		{"count", engine.Count(3, 0), []span{{13, 25, 3}, {41, 41, 1}}},
		{"complete", engine.Count(3, 0).Complete(), []span{{13, 25, 3}}},
		{"complete steps", engine.Count(2, 1).Complete(), []span{{13, 22, 2}, {22, 25, 2}, {25, 41, 2}}},
	} {
		if d := cmp.Diff(c.want, spans(t, c.by, 13, 22, 25, 41)); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
}

// TestSource queries what a frame keeps again.
func TestSource(t *testing.T) {
	rec := eventtest.Recording(10, 4000, small)
	mid := rec.T()[rec.Len()/2]
	src := eventtest.Source(rec, small, 300)
	if f := engine.Scan(src); f.Source() != src {
		t.Error("a frame of a whole recording is not the recording")
	}
	late := engine.Scan(src).Filter(exprs.T.Ge(mid)).Filter(exprs.X.Lt(9))
	for _, f := range []engine.Frame{late, late.Limit(100), late.Limit(100).Filter(exprs.P.Eq(1)), engine.Scan(src).Filter(exprs.X.Lt(0))} {
		want, err := f.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		again, err := engine.Scan(f.Source()).Collect(t.Context())
		if d := eventtest.Diff(again, want); err != nil || d != "" {
			t.Errorf("%v %s", err, d)
		}
		// A filter above may tell the source of a box; a limit below still counts from the first event on.
		want, err = f.Filter(exprs.Y.Eq(3)).Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		again, err = engine.Scan(f.Source()).Filter(exprs.Y.Eq(3)).Collect(t.Context())
		if d := eventtest.Diff(again, want); err != nil || d != "" {
			t.Errorf("filtered: %v %s", err, d)
		}
	}
	if info := late.Source().Info(); info.Events != -1 || info.Stats {
		t.Errorf("a filtered frame says %+v", info)
	}
	if _, err := engine.Scan(src).Limit(-1).Source().Scan(t.Context(), event.All); err == nil {
		t.Error("an invalid frame is scanned")
	}
}

// A triggered source has a trigger at each time.
type triggered struct {
	event.Source
	times []int64
}

func (s triggered) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	for _, at := range s.times {
		if want.Triggers == nil {
			break
		}
		if err := want.Triggers([]event.Trigger{{T: at, Channel: 2, Rising: true}}); err != nil {
			return nil, err
		}
	}
	return s.Source.Scan(ctx, want)
}

// TestConvertFrame converts what a frame keeps: its events, the triggers of its time, and what was done to them.
func TestConvertFrame(t *testing.T) {
	rec := eventtest.Recording(13, 4000, small)
	from, to := rec.T()[1000], rec.T()[3000]
	src := triggered{eventtest.Source(rec, small, 300), []int64{from - 1, from, to, to + 1}}
	f := engine.Scan(src).Filter(exprs.T.Between(from, to), exprs.P.Eq(1))
	path := filepath.Join(t.TempDir(), "part.parquet")
	var stats engine.Stats
	_, err := engine.Convert(t.Context(), f.Source(), path, engine.Facts(event.Field{Key: "filters", Value: "the middle"}), engine.Collected(&stats))
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store, err := engine.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // only read
	events, triggers, _ := formattest.Collect(t, store)
	if d := eventtest.Diff(events.Batch(), want); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]event.Trigger{{T: from, Channel: 2, Rising: true}, {T: to, Channel: 2, Rising: true}}, triggers); d != "" {
		t.Error(d)
	}
	w := stats.Written
	if n := int64(want.Len()); w.Events != n || w.Triggers != 2 || w.First != want.T()[0] || w.Last != want.T()[n-1] {
		t.Errorf("%+v", w)
	}
	if got := store.Info().Field("evq.filters"); got != "the middle" {
		t.Errorf("the store says of filters %q", got)
	}
}

// The zero values of queries, as functions return them beside an error, are errors and no panics.
func TestZeroQueries(t *testing.T) {
	ctx := context.Background()
	var f engine.Frame
	var q engine.Tensors
	var rows engine.Table
	_, e1 := f.Collect(ctx)
	_, e2 := f.Explain()
	_, e3 := q.Layouts()
	_, e4 := q.Collect(ctx)
	_, e5 := rows.Collect(ctx)
	_, e6 := rows.Schema()
	for i, err := range []error{e1, e2, e3, e4, e5, e6} {
		if !errors.Is(err, plan.ErrInvalid) {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
}

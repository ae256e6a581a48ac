package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/aggregates"
)

// A cancelStream never runs out of events, and cancels the run at its 40th batch.
type cancelStream struct {
	endlessStream
	cancel context.CancelFunc
	at     time.Time
	n      int
}

func (c *cancelStream) Next(ctx context.Context) (event.Batch, error) {
	if c.n++; c.n == 40 {
		c.at = time.Now()
		c.cancel()
	}
	return c.endlessStream.Next(ctx)
}

// patience is how long a cancelled run may go on before the test gives up on it. It ends within milliseconds; a machine
// that is busy with other things may take longer.
const patience = 30 * time.Second

// endless makes a source that cancels its run in the middle; at tells when it did.
func endless(cancel context.CancelFunc) (src event.Source, at func() time.Time) {
	var last *cancelStream
	src = rewired{eventtest.Source(event.Batch{}, small, 1), func(s event.Stream) event.Stream {
		last = &cancelStream{endlessStream: endlessStream{Stream: s}, cancel: cancel}
		return last
	}}
	return src, func() time.Time {
		if last == nil {
			return time.Time{}
		}
		return last.at
	}
}

func made[F any](t testing.TB, of func(string, ...engine.Option) (F, error), call string) F {
	t.Helper()
	f, err := of(call)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// operators has a query for each kind of operator, which reads on for as long as there are events.
func operators(t testing.TB) map[string]func(engine.Frame) any {
	ms := engine.Every(time.Millisecond)
	grid := make([]int64, 100_000)
	for i := range grid {
		grid[i] = int64(i) * 1000
	}
	represent := func(w engine.Windowed, calls ...string) engine.Tensors {
		var reps []udf.Representation
		for _, c := range calls {
			reps = append(reps, made(t, engine.Represent, c))
		}
		return w.Represent(reps...)
	}
	filter := func(call string) udf.Filter { return made(t, engine.Filter, call) }
	return map[string]func(engine.Frame) any{
		"scan":              func(f engine.Frame) any { return f },
		"filter":            func(f engine.Frame) any { return f.Filter(exprs.X.Lt(5)) },
		"filter of nothing": func(f engine.Frame) any { return f.Filter(exprs.Ne(exprs.T.Mod(2), exprs.P)) },
		"map":               func(f engine.Frame) any { return f.Map(exprs.Flip{}) },
		"apply":             func(f engine.Frame) any { return f.Apply(filter("refractory")) },
		"apply, learning":   func(f engine.Frame) any { return f.Apply(filter("hot_pixel")) },
		"limit":             func(f engine.Frame) any { return f.Limit(1 << 60) },
		"view":              func(f engine.Frame) any { return engine.Scan(f.Filter(exprs.X.Lt(5)).Source()) },
		"every":             func(f engine.Frame) any { return represent(f.Window(ms), "event_count") },
		"filter in windows": func(f engine.Frame) any { return represent(f.Window(ms).Filter(exprs.X.Lt(5)), "event_count") },
		"count":             func(f engine.Frame) any { return represent(f.Window(engine.Count(5000, 700)), "voxel_grid") },
		"count with gaps":   func(f engine.Frame) any { return represent(f.Window(engine.Count(50, 70_000_000)), "voxel_grid") },
		"ends":              func(f engine.Frame) any { return represent(f.Window(engine.Ends(grid, time.Second)), "sae") },
		"ends by count": func(f engine.Frame) any {
			return represent(f.Window(engine.EndsCount(grid, 500)), "tore:memory=window")
		},
		"intervals": func(f engine.Frame) any {
			return represent(f.Window(engine.Intervals(grid[:90_000], grid[10_000:], "")), "bina_rep")
		},
		"whole": func(f engine.Frame) any { return represent(f.Window(engine.WholeRecording()), "event_frame") },
		"what remembers": func(f engine.Frame) any {
			return represent(f.Window(ms.Hop(3*time.Millisecond)), "sae:memory=recording", "tore")
		},
		"several":         func(f engine.Frame) any { return represent(f.Window(ms), "event_count", "voxel_grid", "rvt") },
		"histogram":       func(f engine.Frame) any { return f.Window(ms).StackedHistogram() },
		"limit of blocks": func(f engine.Frame) any { return f.Window(ms).StackedHistogram().Limit(1 << 60) },
		"cells":           func(f engine.Frame) any { return f.Window(ms).StackedHistogram().Table() },
		"group":           func(f engine.Frame) any { return f.Window(ms).Bin(4).Group(exprs.X, exprs.T.Div(100)).Table },
		"group as events come": func(f engine.Frame) any {
			return f.Window(ms).Group(exprs.X).Agg(engine.Agg(aggregates.Distinct, exprs.Y))
		},
		"group of the recording": func(f engine.Frame) any { return f.Group(exprs.X).Table },
		"sort":                   func(f engine.Frame) any { return f.Window(ms).Group(exprs.X).OrderBy(engine.Order{Column: "count"}) },
	}
}

// each runs a query of any kind and drops what it yields.
func each(ctx context.Context, q any, opts ...engine.Option) error {
	switch q := q.(type) {
	case engine.Frame:
		return q.Each(ctx, func(event.Batch) error { return nil }, opts...)
	case engine.Tensors:
		return q.Each(ctx, func(tensor.Block) error { return nil }, opts...)
	case engine.Table:
		return q.Each(ctx, func(arrow.RecordBatch) error { return nil }, opts...)
	}
	return fmt.Errorf("%T is no query", q)
}

// TestCancelEveryOperator cancels a run without end in the middle of every kind of operator: it ends, and leaves no
// goroutine behind. (Of an endless stream p is t's last bit.)
func TestCancelEveryOperator(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, query := range operators(t) {
		for how, opts := range map[string][]engine.Option{"by all rules": nil, "as written": {engine.Rules()}, "on seven threads": {engine.Threads(7)}} {
			ctx, cancel := context.WithCancel(t.Context())
			src, at := endless(cancel)
			err := each(ctx, query(engine.Scan(src)), opts...)
			if took := time.Since(at()); !errors.Is(err, context.Canceled) || took > patience {
				t.Errorf("%s, %s: %v, %v after it was cancelled", name, how, err, took)
			}
			cancel()
		}
	}
	noneLeft(t, before)
}

// noneLeft fails where there are more goroutines than before. What has returned may still be on its way out.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

// TestCancelConversion cancels the conversion of a frame: no file is left.
func TestCancelConversion(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	src, _ := endless(cancel)
	dir := t.TempDir()
	_, err := engine.Convert(ctx, engine.Scan(src).Filter(exprs.X.Lt(5)).Source(), filepath.Join(dir, "out.parquet"))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if names := eventtest.Names(t, dir); len(names) > 0 {
		t.Errorf("left behind: %q", names)
	}
	noneLeft(t, before)
}

// TestCancelBetweenEvents cancels a run that is busy with windows between two events far apart, of which there are more
// than any machine makes: nothing is read that could notice.
func TestCancelBetweenEvents(t *testing.T) {
	before := runtime.NumGoroutine()
	src := eventtest.Source(batchOf([]ev{{0, 1, 2, 1}, {1 << 60, 1, 2, 1}}), small, 1)
	w := engine.Scan(src).Window(engine.Every(time.Microsecond))
	for name, q := range map[string]runnable{
		"group":  ofTable(w.Group(exprs.X).Table),
		"cells":  ofTable(w.StackedHistogram().Table()),
		"filter": ofTable(w.Filter(exprs.X.Lt(0)).Group(exprs.X).Table),
		"sort":   ofTable(w.Group(exprs.X).OrderBy(engine.Order{Column: "x"})),
	} {
		for _, opts := range [][]engine.Option{nil, {engine.Rules()}} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			done := make(chan error, 1)
			go func() {
				_, err := q.run(ctx, opts...)
				done <- err
			}()
			select {
			case err := <-done:
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", name, err)
				}
			case <-time.After(patience):
				t.Fatalf("%s goes on after it was cancelled", name)
			}
			cancel()
		}
	}
	noneLeft(t, before)
}

package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/enginetest"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
)

// TestFrameIsShared runs one frame from several goroutines, over a source in memory and over a store.
func TestFrameIsShared(t *testing.T) {
	src := eventtest.Source(eventtest.Recording(12, 20_000, small), small, 700)
	path := filepath.Join(t.TempDir(), "shared.parquet")
	toStore(t, src, path)
	rec, err := engine.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close() //nolint:errcheck // only read
	var first []tensor.Block
	for _, f := range []engine.Frame{engine.Scan(src), rec.Frame()} {
		q := f.Filter(exprs.X.Lt(14)).Window(engine.Every(5 * time.Millisecond)).StackedHistogram()
		want, err := q.Collect(t.Context())
		if err != nil || len(want) < 3 {
			t.Fatalf("%d blocks: %v", len(want), err)
		}
		if d := enginetest.Diff(want, first); first != nil && d != "" {
			t.Errorf("the store's blocks: %s", d)
		}
		first = want
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				got, err := q.Collect(t.Context())
				if d := enginetest.Diff(want, got); err != nil || d != "" {
					t.Errorf("beside others: %v %s", err, d)
				}
			})
		}
		group.Wait()
	}
}

// An endlessStream never runs out of events.
type endlessStream struct {
	event.Stream
	t int64
}

func (e *endlessStream) Next(ctx context.Context) (event.Batch, error) {
	if err := ctx.Err(); err != nil {
		return event.Batch{}, err
	}
	b := event.NewBuffer(1000)
	for range 1000 {
		e.t++
		b.Append(e.t, uint16(e.t%17), uint16(e.t%12), int8(e.t&1))
	}
	return b.Batch(), nil
}

// A cancelling sink cancels the run at its third block, and goes on taking blocks.
type cancelling struct {
	memorySink
	cancel context.CancelFunc
	at     time.Time
}

func (c *cancelling) Open(...tensor.Layout) (tensor.Sink, error) { return c, nil }
func (c *cancelling) Write(ctx context.Context, b tensor.Block) error {
	if err := c.memorySink.Write(ctx, b); len(c.blocks) != 3 || err != nil {
		return err
	}
	c.at = time.Now()
	c.cancel()
	return nil
}

// TestCancelInTheMiddle cancels a run without end: the output is dropped, and every goroutine ends.
func TestCancelInTheMiddle(t *testing.T) {
	before := runtime.NumGoroutine()
	src := rewired{eventtest.Source(event.Batch{}, small, 1), func(s event.Stream) event.Stream { return &endlessStream{Stream: s} }}
	for _, opts := range [][]engine.Option{nil, {engine.Rules()}, {engine.Threads(7)}} {
		ctx, cancel := context.WithCancel(t.Context())
		out := &cancelling{cancel: cancel}
		err := engine.Scan(src).Filter(exprs.X.Lt(12)).Window(engine.Every(time.Millisecond)).StackedHistogram().WriteTo(ctx, out, opts...)
		if !errors.Is(err, context.Canceled) || !out.aborted || out.closed {
			t.Errorf("%v, aborted %v, closed %v", err, out.aborted, out.closed)
		}
		if took := time.Since(out.at); took > 30*time.Second {
			t.Errorf("the run went on for %v", took)
		}
		cancel()
	}
	// What has returned may still be on its way out.
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

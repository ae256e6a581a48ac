package parquet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// A Writer writes a store. It keeps events in time order and refuses any others. Row groups are encoded side
// by side, one goroutine a group, and appended in order; memory is a few row groups per thread.
//
// The store appears under its name when Close returns nil, and its triggers, if there are any, beside it as
// NAME.triggers.parquet. A writer serves one goroutine.
type Writer struct {
	path     string
	facts    facts
	encoder  *encoder
	table    *table
	triggers *triggerWriter

	pool   *event.Pool
	fill   *event.Buffer // the group being filled
	events int64
	last   int64 // the time of the last event

	slots chan struct{} // one for each group that is being encoded or waits to be appended
	order chan *pending // the same groups in file order
	idle  chan struct{} // closed when the last group is appended
	ended bool

	mu  sync.Mutex
	err error // the first error of the background work
}

// A pending group is on its way through an encoder.
type pending struct {
	done chan struct{} // closed when the rest is set
	group
	out *output
	err error
}

// Create starts the store that will be called path. Compressions are none (default), zstd and lz4. The sink
// is a *Writer.
func Create(path string, h format.Header, o format.CreateOptions) (event.Sink, error) {
	l, err := eventLayout(o.Compression)
	if err != nil {
		return nil, err
	}
	trig, err := newTriggerWriter(TriggerPath(path), o.Compression)
	if err != nil {
		return nil, err
	}
	t, err := createTable(path, o.Force, l)
	if err != nil {
		return nil, err
	}
	threads := o.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	w := &Writer{path: path, facts: newFacts(h), encoder: newEncoder(l), table: t, triggers: trig,
		pool:  event.NewPool(groupLen),
		slots: make(chan struct{}, threads), order: make(chan *pending, threads), idle: make(chan struct{})}
	w.facts.duration = o.Duration()
	w.fill = w.pool.Get()
	go w.appendGroups()
	return w, nil
}

// Describe stores where the events came from: what their source said of itself, further facts such as the
// policies that were applied, and what the whole scan counted. It may be called any time before Close.
func (w *Writer) Describe(info event.Info, facts []event.Field, rep *event.Report) {
	w.facts.describe(info, facts, rep)
}

// Write adds events, which must not lie before those already written.
func (w *Writer) Write(ctx context.Context, b event.Batch) error {
	if err := w.check(b); err != nil {
		return err
	}
	for b.Len() > 0 {
		n := min(b.Len(), groupLen-w.fill.Len())
		w.fill.AppendBatch(b.Slice(0, n))
		w.events += int64(n)
		if w.fill.Len() == groupLen {
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
		b = b.Slice(n, b.Len())
	}
	return w.failure()
}

func (w *Writer) check(b event.Batch) error {
	if w.ended {
		return fmt.Errorf("writing %s: already closed", w.path)
	}
	t := b.T()
	if len(b.X()) != len(t) || len(b.Y()) != len(t) || len(b.P()) != len(t) {
		return fmt.Errorf("writing %s: a batch lacks columns; scan all of t, x, y, p", w.path)
	}
	last := w.last
	if w.events == 0 && len(t) > 0 {
		last = t[0]
	}
	for i, v := range t {
		if v < last {
			return fmt.Errorf("writing %s: event %d lies %d us before the one ahead of it; a store is sorted by time",
				w.path, w.events+int64(i), last-v)
		}
		last = v
	}
	w.last = last
	return nil
}

// flush sends the group being filled to an encoder; it waits while too many are on their way.
func (w *Writer) flush(ctx context.Context) error {
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	b, p := w.fill, &pending{done: make(chan struct{})}
	w.fill = w.pool.Get()
	go func() {
		defer close(p.done)
		p.group, p.out, p.err = w.encoder.encode(b)
		b.Release()
	}()
	w.order <- p
	return w.failure()
}

// appendGroups appends the encoded groups in order until order is closed.
func (w *Writer) appendGroups() {
	defer close(w.idle)
	for p := range w.order {
		<-p.done
		if p.err == nil && w.failure() == nil {
			p.err = w.table.append(p.group)
		}
		if p.err != nil {
			w.fail(p.err)
		}
		w.encoder.outputs.Put(p.out)
		<-w.slots
	}
}

func (w *Writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *Writer) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// WriteTriggers adds external triggers, in any order of time.
func (w *Writer) WriteTriggers(tr []event.Trigger) error {
	if w.ended {
		return fmt.Errorf("writing %s: already closed", w.path)
	}
	return w.triggers.write(tr)
}

// Close completes the store and gives it its name. Where that fails, nothing is left behind.
func (w *Writer) Close() error {
	if w.ended {
		return nil
	}
	if w.fill.Len() > 0 {
		if err := w.flush(context.Background()); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	w.stop()
	if err := w.failure(); err != nil {
		return errors.Join(err, w.drop())
	}
	kv, err := w.facts.keyValues()
	if err != nil {
		return errors.Join(err, w.drop())
	}
	if err := w.table.finish(kv); err != nil {
		return errors.Join(err, w.drop())
	}
	// The triggers come first: a store under its name is complete.
	if err := w.triggers.close(); err != nil {
		return errors.Join(err, w.drop())
	}
	return w.table.commit()
}

// Abort drops the store. After Close it does nothing.
func (w *Writer) Abort() error {
	if w.ended {
		return nil
	}
	w.stop()
	return w.drop()
}

// stop ends the background work.
func (w *Writer) stop() {
	w.ended = true
	close(w.order)
	<-w.idle
}

func (w *Writer) drop() error {
	err := errors.Join(w.triggers.abort(), w.table.abort())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Represent encodes windows with one or more representations, several windows at a time, each on a goroutine with
// encoders of its own; the blocks come out in the order of windows, and of representations within one.
type Represent struct {
	In       WindowOp
	Reps     []udf.Representation
	Geometry event.Geometry
	Device   accel.Device
	Threads  int

	pools   []*tensor.Pool
	blanks  []*blank // of each representation, nil where an empty window is not known to make zeros
	at      *task    // the window whose blocks are handed on, from part on
	part    int
	ordered chan *task // windows in order, encoded or not
	work    chan *task
	cancel  context.CancelFunc
	group   sync.WaitGroup
	off     atomic.Int64
	mu      sync.Mutex
	notes   []string // what the encoders had to tell, each sentence once
	ended   error    // why feed ended; set before it closes ordered
	err     error    // what ended the stream
}

// A task is one window on its way to a block.
type task struct {
	events event.Windowed // one window
	owner  *shared
	blocks []tensor.Block
	err    error
	done   chan struct{}
	// passing events lie in no window and make no block.
	passing bool
}

// shared releases the events of a run once its last window is encoded.
type shared struct {
	batch event.Batch
	left  atomic.Int64
}

func (s *shared) drop() {
	if s.left.Add(-1) == 0 {
		s.batch.Release()
	}
}

func (r *Represent) String() string {
	parts := make([]string, len(r.Reps))
	for i, rep := range r.Reps {
		l := rep.Layout(r.Geometry)
		parts[i] = fmt.Sprintf("%v, %v %v", rep, l.Shape, l.DType)
	}
	return fmt.Sprintf("represent %s, on %s, %d at a time", strings.Join(parts, "; "), r.Device.Name(), r.Threads)
}

// Peak returns the bytes of the blocks that may be on their way at a time: in each team one being made, and one that
// waits or is being read.
func (r *Represent) Peak() (n int64) {
	for _, rep := range r.Reps {
		n += int64(rep.Layout(r.Geometry).Bytes())
	}
	return n * int64(2*max(r.Threads, 1)+1)
}

// Input implements Operator.
func (r *Represent) Input() Operator { return r.In }

// OffSensor returns how many events were left out because they lay off the sensor; it is complete after
// io.EOF.
func (r *Represent) OffSensor() int64 { return r.off.Load() }

// Notes returns what the encoders had to tell; it is complete after Close.
func (r *Represent) Notes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.notes)
}

func (r *Represent) note(notes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range notes {
		if !slices.Contains(r.notes, n) {
			r.notes = append(r.notes, n)
		}
	}
}

// Next returns the block of the next window.
func (r *Represent) Next(ctx context.Context) (tensor.Block, error) {
	if r.err != nil {
		return tensor.Block{}, r.err
	}
	if r.ordered == nil {
		if r.err = r.start(ctx); r.err != nil {
			return tensor.Block{}, r.err
		}
	}
	if r.at == nil {
		t, ok := <-r.ordered
		if !ok {
			r.err = r.ended
			return tensor.Block{}, r.err
		}
		<-t.done
		if r.err = t.err; t.err != nil {
			return tensor.Block{}, t.err
		}
		r.at, r.part = t, 0
	}
	b := r.at.blocks[r.part]
	if r.part++; r.part == len(r.Reps) {
		r.at = nil
	}
	return b, nil
}

func (r *Represent) start(ctx context.Context) error {
	teams := make([][]udf.Encoder, max(r.Threads, 1))
	for i := range teams {
		for _, rep := range r.Reps {
			e, err := rep.Open(r.Geometry, r.Device)
			if err != nil {
				for _, team := range teams {
					r.dismiss(team)
				}
				return err
			}
			teams[i] = append(teams[i], e)
		}
	}
	ctx, r.cancel = context.WithCancel(ctx)
	for _, rep := range r.Reps {
		layout := rep.Layout(r.Geometry)
		r.pools = append(r.pools, tensor.NewPool(layout))
		var zeros *blank
		if b, ok := rep.(udf.Blanker); ok && b.Blank() {
			zeros = &blank{layout: layout}
		}
		r.blanks = append(r.blanks, zeros)
	}
	r.ordered, r.work = make(chan *task, len(teams)), make(chan *task)
	for _, team := range teams {
		r.group.Go(func() { r.encode(ctx, team) })
	}
	r.group.Go(func() { r.feed(ctx) })
	return nil
}

// feed hands the windows to the encoders, and in the same order to the reader, until there are no more.
func (r *Represent) feed(ctx context.Context) {
	defer close(r.ordered)
	defer close(r.work)
	for r.ended == nil {
		run, err := r.In.Next(ctx)
		if err != nil {
			r.ended = err
			return
		}
		owner := &shared{batch: run.Events}
		owner.left.Store(int64(max(len(run.Windows), 1)))
		if len(run.Windows) == 0 { // events between windows, for those who remember
			t := &task{events: run, owner: owner, done: make(chan struct{}), passing: true}
			if r.ended = r.give(ctx, t, r.work); r.ended != nil {
				return
			}
			continue
		}
		for _, w := range run.Windows {
			t := &task{events: event.Windowed{Events: run.Events, Windows: []event.Window{w}}, owner: owner, done: make(chan struct{})}
			if r.ended = r.hand(ctx, t); r.ended != nil {
				return
			}
		}
	}
}

// hand gives a window to the reader and to an encoder.
func (r *Represent) hand(ctx context.Context, t *task) error {
	for _, to := range []chan *task{r.ordered, r.work} {
		if err := r.give(ctx, t, to); err != nil {
			return err
		}
	}
	return nil
}

func (r *Represent) give(ctx context.Context, t *task, to chan *task) error {
	select {
	case to <- t:
		return nil
	case <-ctx.Done():
		t.err = ctx.Err()
		close(t.done)
		return t.err
	}
}

// encode makes the blocks of one window after another. An error of passing events ends the next window.
func (r *Represent) encode(ctx context.Context, team []udf.Encoder) {
	defer r.dismiss(team)
	var before error
	for t := range r.work {
		if t.passing {
			for _, e := range team {
				before = errors.Join(before, e.Encode(ctx, t.events, nil))
			}
		} else {
			t.err = before
			r.window(ctx, team, t)
		}
		t.owner.drop()
		close(t.done)
	}
}

func (r *Represent) window(ctx context.Context, team []udf.Encoder, t *task) {
	w := t.events.Windows[0]
	for i, e := range team {
		empty := w.Hi == w.Lo && r.blanks[i] != nil
		var b tensor.Block
		if empty {
			b = r.blanks[i].block()
		} else {
			b = r.pools[i].Get()
		}
		b.Part, b.Index, b.Start, b.End, b.Events = i, w.Index, w.Start, w.End, int64(w.Hi-w.Lo)
		t.blocks = append(t.blocks, b)
		if t.err == nil && !empty {
			if err := e.Encode(ctx, t.events, t.blocks[i:]); err != nil {
				t.err = fmt.Errorf("window %d: %w", w.Index, err)
			}
		}
	}
}

// A blank hands out the block of a window without events. Nobody changes a block, so that one memory serves all.
type blank struct {
	layout tensor.Layout
	once   sync.Once
	zeros  []byte
}

func (b *blank) block() tensor.Block {
	b.once.Do(func() { b.zeros = make([]byte, b.layout.Bytes()) })
	return tensor.Block{Shape: b.layout.Shape, DType: b.layout.DType, Data: b.zeros, Zero: true}
}

// dismiss closes encoders and counts what they left out. Representations of one query see the same events, so that
// the one that left out most tells how many.
func (r *Represent) dismiss(team []udf.Encoder) {
	off := int64(0)
	for _, e := range team {
		off = max(off, e.OffSensor())
		if n, ok := e.(udf.Noter); ok {
			r.note(n.Notes())
		}
		_ = e.Close()
	}
	r.off.Add(off)
}

// Close stops the encoders and the operators below.
func (r *Represent) Close() error {
	if r.cancel != nil {
		r.cancel()
		for range r.ordered { // let go of those that wait
		}
		r.group.Wait()
	}
	return r.In.Close()
}

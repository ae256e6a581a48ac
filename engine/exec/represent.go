package exec

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Represent encodes windows with a representation, several at a time, each on a goroutine with an encoder of
// its own; the blocks come out in window order.
type Represent struct {
	In       WindowOp
	Rep      udf.Representation
	Geometry event.Geometry
	Device   accel.Device
	Threads  int

	pool    *tensor.Pool
	ordered chan *task // windows in order, encoded or not
	work    chan *task
	cancel  context.CancelFunc
	group   sync.WaitGroup
	off     atomic.Int64
	ended   error // why feed ended; set before it closes ordered
	err     error // what ended the stream
}

// A task is one window on its way to a block.
type task struct {
	events event.Windowed // one window
	owner  *shared
	block  tensor.Block
	err    error
	done   chan struct{}
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
	return fmt.Sprintf("represent %v on %s, %v %v, %d at a time", r.Rep, r.Device.Name(),
		r.Rep.Layout(r.Geometry).Shape, r.Rep.Layout(r.Geometry).DType, r.Threads)
}

// Input implements Operator.
func (r *Represent) Input() Operator { return r.In }

// OffSensor returns how many events were left out because they lay off the sensor; it is complete after
// io.EOF.
func (r *Represent) OffSensor() int64 { return r.off.Load() }

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
	t, ok := <-r.ordered
	if !ok {
		r.err = r.ended
		return tensor.Block{}, r.err
	}
	<-t.done
	if t.err != nil {
		r.err = t.err
	}
	return t.block, t.err
}

func (r *Represent) start(ctx context.Context) error {
	encoders := make([]udf.Encoder, 0, max(r.Threads, 1))
	for range max(r.Threads, 1) {
		e, err := r.Rep.Open(r.Geometry, r.Device)
		if err != nil {
			for _, e := range encoders {
				_ = e.Close()
			}
			return err
		}
		encoders = append(encoders, e)
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.pool = tensor.NewPool(r.Rep.Layout(r.Geometry))
	r.ordered, r.work = make(chan *task, len(encoders)), make(chan *task)
	for _, e := range encoders {
		r.group.Go(func() { r.encode(ctx, e) })
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
		owner.left.Store(int64(len(run.Windows)))
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
		select {
		case to <- t:
		case <-ctx.Done():
			t.err = ctx.Err()
			close(t.done)
			return t.err
		}
	}
	return nil
}

func (r *Represent) encode(ctx context.Context, e udf.Encoder) {
	defer func() {
		r.off.Add(e.OffSensor())
		_ = e.Close()
	}()
	one := make([]tensor.Block, 1)
	for t := range r.work {
		w := t.events.Windows[0]
		b := r.pool.Get()
		b.Index, b.Start, b.End, b.Events = w.Index, w.Start, w.End, int64(w.Hi-w.Lo)
		one[0] = b
		if t.err = e.Encode(ctx, t.events, one); t.err != nil {
			t.err = fmt.Errorf("window %d: %w", w.Index, t.err)
		}
		t.block = b
		t.owner.drop()
		close(t.done)
	}
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

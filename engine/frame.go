package engine

import (
	"context"
	"time"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/stackedhist"
)

// A Frame is a lazy query that yields events. Frames are values: every verb returns a new one, and nothing
// runs before Collect, Each or WriteTo.
type Frame struct{ node plan.Node }

// Filter keeps the events that satisfy every predicate.
func (f Frame) Filter(preds ...exprs.Expr) Frame {
	return Frame{&plan.Filter{In: f.node, Pred: exprs.And(preds...)}}
}

// Apply keeps the events that filters with memory keep, in the order written.
func (f Frame) Apply(filters ...udf.Filter) Frame {
	for _, by := range filters {
		f = Frame{&plan.Apply{In: f.node, Filter: by}}
	}
	return f
}

// Map moves events: flips, crops, downsamples, shifts their time. Transforms apply in the order written.
func (f Frame) Map(transforms ...exprs.Transform) Frame {
	for _, by := range transforms {
		f = Frame{&plan.Map{In: f.node, By: by}}
	}
	return f
}

// AddRandom adds n events at random, always the same ones for a seed: uniform from the first event's time to the
// last's, over the sensor, and in polarity (as tonic's UniformNoise). The recording is read twice.
func (f Frame) AddRandom(n int64, seed uint64) Frame {
	return Frame{&plan.AddRandom{In: f.node, N: n, Seed: seed}}
}

// AddRandomIn is AddRandom in a rectangle of pixels; both corners belong to it.
func (f Frame) AddRandomIn(n int64, seed uint64, x0, y0, x1, y1 uint16) Frame {
	return Frame{&plan.AddRandom{In: f.node, N: n, Seed: seed, Region: &plan.Rect{X0: x0, Y0: y0, X1: x1, Y1: y1}}}
}

// Group groups the whole recording by keys. It is short for Window(WholeRecording()).Group.
func (f Frame) Group(keys ...exprs.Value) Grouped { return f.Window(WholeRecording()).Group(keys...) }

// Limit keeps the first n events.
func (f Frame) Limit(n int64) Frame { return Frame{&plan.Limit{In: f.node, N: n}} }

// Window cuts the events into windows: Every, Ends, Count or WholeRecording.
func (f Frame) Window(w Windowing) Windowed { return Windowed{&plan.Window{In: f.node, By: w.by}} }

// A Windowing says how events are cut into windows.
type Windowing struct{ by plan.Windowing }

// Every are half-open windows [a, b) of length d, one after the other on a grid through time 0 of the
// recording's clock.
func Every(d time.Duration) Windowing {
	return Windowing{plan.Every{Length: d.Microseconds(), Hop: d.Microseconds()}}
}

// Hop sets the time from one window's start to the next's. It concerns Every only.
func (w Windowing) Hop(d time.Duration) Windowing {
	return w.every(func(e *plan.Every) { e.Hop = d.Microseconds() })
}

// Origin sets a time, in microseconds, at which a window starts. It concerns Every only.
func (w Windowing) Origin(t int64) Windowing {
	return w.every(func(e *plan.Every) { e.Origin, e.FromFirst = t, false })
}

// OriginFirst makes a window start at the first event. It concerns Every only.
func (w Windowing) OriginFirst() Windowing {
	return w.every(func(e *plan.Every) { e.Origin, e.FromFirst = 0, true })
}

// Between yields every window that intersects from <= t < to, whether it holds events or not. It concerns
// Every only.
func (w Windowing) Between(from, to int64) Windowing {
	return w.every(func(e *plan.Every) { e.Range = &plan.TimeRange{From: from, To: to} })
}

func (w Windowing) every(change func(*plan.Every)) Windowing {
	if e, ok := w.by.(plan.Every); ok {
		change(&e)
		return Windowing{e}
	}
	return w
}

// Ends are RVT's windows: closed at both ends, one for each time of the grid (microseconds, not decreasing),
// each from span before it to it.
func Ends(grid []int64, span time.Duration) Windowing {
	return Windowing{plan.Ends{Times: grid, Span: span.Microseconds()}}
}

// Count are windows of n events, each step events after the one before; step 0 stands for n. The last may
// hold fewer.
func Count(n, step int64) Windowing {
	if step == 0 {
		step = n
	}
	return Windowing{plan.Count{N: n, Step: step}}
}

// EndsCount are RVT's windows of n events: for each time of the grid (microseconds, not decreasing), the last n
// events at or before it.
func EndsCount(grid []int64, n int64) Windowing { return Windowing{plan.EndsCount{Times: grid, N: n}} }

// Complete leaves out a last window with fewer events. It concerns Count only.
func (w Windowing) Complete() Windowing {
	if c, ok := w.by.(plan.Count); ok {
		c.Complete = true
		return Windowing{c}
	}
	return w
}

// Intervals are half-open windows [starts[i], ends[i]) that are given one by one, in microseconds; starts do not
// decrease. by says where they come from, for explain.
func Intervals(starts, ends []int64, by string) Windowing {
	return Windowing{plan.Intervals{Starts: starts, Ends: ends, By: by}}
}

// WholeRecording is one window from the first event to the last.
func WholeRecording() Windowing { return Windowing{plan.Whole{}} }

// A Windowed is a lazy query that yields windows of events.
type Windowed struct{ node plan.Node }

// StackedHistogram counts the events of each window by polarity, time bin and pixel. It is short for Bin,
// Where, Group and Dense, and gives the same bytes.
func (w Windowed) StackedHistogram(opts ...stackedhist.Option) Tensors {
	h, err := stackedhist.New(opts...)
	if err != nil {
		return Tensors{err: err}
	}
	return w.Represent(h)
}

// Filter keeps, in every window, the events that satisfy every predicate. The windows stay where they are, though
// fewer events lie in them.
func (w Windowed) Filter(preds ...exprs.Expr) Windowed {
	return Windowed{&plan.Filter{In: w.node, Pred: exprs.And(preds...)}}
}

// Represent encodes each window with one or more representations; a window then yields as many blocks, in order.
func (w Windowed) Represent(r ...udf.Representation) Tensors {
	if len(r) == 1 {
		if h, ok := r[0].(stackedhist.Histogram); ok {
			return Tensors{node: relational(w.node, h)}
		}
	}
	return Tensors{node: &plan.Represent{In: w.node, Reps: r}}
}

// Bin numbers the events of each window by time, from 0 to n-1, as RVT does: the bins divide the time from
// the window's first event to its last.
func (w Windowed) Bin(n int) Binned { return Binned{node: &plan.Bin{In: w.node, Bins: n}} }

// BinWidth numbers the events of each window by time, one bin for every d from the window's start.
func (w Windowed) BinWidth(d time.Duration) Binned {
	return Binned{node: &plan.Bin{In: w.node, Width: d.Microseconds(), Base: plan.WindowTime}}
}

// Group groups the events of each window by keys. Without keys a window is one group.
func (w Windowed) Group(keys ...exprs.Value) Grouped { return grouped(w.node, nil, keys) }

// A Binned is a lazy query that yields windows whose events are numbered by time.
type Binned struct {
	node  plan.Node
	where exprs.Expr
}

// OfWindow makes the bins divide the time from the window's start to its end.
func (b Binned) OfWindow() Binned {
	n := *b.node.(*plan.Bin)
	n.Base = plan.WindowTime
	b.node = &n
	return b
}

// Where leaves out events after they were binned, so that they still mark where a window's bins begin and end.
func (b Binned) Where(preds ...exprs.Expr) Binned {
	if b.where != nil {
		preds = append([]exprs.Expr{b.where}, preds...)
	}
	b.where = exprs.And(preds...)
	return b
}

// Group groups the events of each bin by keys.
func (b Binned) Group(keys ...exprs.Value) Grouped { return grouped(b.node, b.where, keys) }

// Collect runs the query and returns its events as one batch, which holds all of them in memory.
func (f Frame) Collect(ctx context.Context, opts ...Option) (event.Batch, error) {
	all := event.NewBuffer(0)
	err := f.Each(ctx, func(b event.Batch) error { all.AppendBatch(b); return nil }, opts...)
	return all.Batch(), err
}

// Each runs the query and calls do with one batch after another; a batch is valid until do returns.
func (f Frame) Each(ctx context.Context, do func(event.Batch) error, opts ...Option) error {
	r, err := prepare(f.node, opts)
	if err != nil {
		return err
	}
	op, err := r.lowering().events(r.node)
	if err != nil {
		return err
	}
	return r.run(ctx, op, func(ctx context.Context) error {
		b, err := op.Next(ctx)
		if err == nil {
			err = do(b)
			b.Release()
		}
		return err
	})
}

// WriteTo runs the query into a sink and completes it, or drops it on an error. Triggers are no part of a
// query: Convert takes them along.
func (f Frame) WriteTo(ctx context.Context, sink event.Sink, opts ...Option) error {
	if err := f.Each(ctx, func(b event.Batch) error { return sink.Write(ctx, b) }, opts...); err != nil {
		_ = sink.Abort() // the error that stopped the run says more
		return err
	}
	return sink.Close()
}

// Explain returns the plan as written, the rules that changed it, and the operators that will run.
func (f Frame) Explain(opts ...Option) (string, error) { return explain(f.node, opts) }

package engine

import (
	"context"
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/plan"
)

// A Tensors is a lazy query that yields one dense block per window.
type Tensors struct {
	node plan.Node
	err  error // what was wrong with the arguments
}

// Limit keeps the first n blocks.
func (q Tensors) Limit(n int64) Tensors {
	if q.err != nil {
		return q
	}
	return Tensors{node: &plan.Limit{In: q.node, N: n}}
}

// Collect runs the query and returns every block.
func (q Tensors) Collect(ctx context.Context, opts ...Option) ([]tensor.Block, error) {
	var all []tensor.Block
	err := q.Each(ctx, func(b tensor.Block) error { all = append(all, b.Clone()); return nil }, opts...)
	return all, err
}

// Each runs the query and calls do with one block after another; a block is valid until do returns.
func (q Tensors) Each(ctx context.Context, do func(tensor.Block) error, opts ...Option) error {
	return q.each(ctx, opts, nil, func(_ context.Context, b tensor.Block) error {
		err := do(b)
		b.Release()
		return err
	})
}

// WriteTo runs the query into an output, which appears under its name only when it is complete.
func (q Tensors) WriteTo(ctx context.Context, out tensor.Output, opts ...Option) error {
	var sink tensor.Sink
	open := func(l []tensor.Layout) (err error) {
		sink, err = out.Open(l...) // its errors name the output, as all of a sink's do
		return err
	}
	err := q.each(ctx, opts, open, func(ctx context.Context, b tensor.Block) error {
		if err := sink.Write(ctx, b); err != nil {
			return fmt.Errorf("window %d: %w", b.Index, err)
		}
		return nil
	})
	if sink == nil {
		return err
	}
	if err != nil {
		_ = sink.Abort() // the error that stopped the run says more
		return err
	}
	return sink.Close()
}

// each runs the query; open, where given, is told the blocks' layouts before the first.
func (q Tensors) each(ctx context.Context, opts []Option, open func([]tensor.Layout) error, do func(context.Context, tensor.Block) error) error {
	if q.err != nil {
		return q.err
	}
	r, err := prepare(q.node, opts)
	if err != nil {
		return err
	}
	layouts, err := r.layouts()
	if err != nil {
		return err
	}
	low := r.lowering()
	op, err := low.blocks(r.node)
	if err != nil {
		return err
	}
	if open != nil {
		if err := open(layouts); err != nil {
			_ = op.Close()
			return err
		}
	}
	return r.run(ctx, op, func(ctx context.Context) error {
		b, err := op.Next(ctx)
		if err != nil {
			return err
		}
		if b.Part == 0 {
			r.windows++
			if b.Events == 0 {
				r.empty++
			}
		}
		return do(ctx, b)
	})
}

// Layouts returns the shapes and types of the blocks that a window yields.
func (q Tensors) Layouts(opts ...Option) ([]tensor.Layout, error) {
	if q.err != nil {
		return nil, q.err
	}
	r, err := prepare(q.node, opts)
	if err != nil {
		return nil, err
	}
	return r.layouts()
}

// Explain returns the plan as written, the rules that changed it, and the operators that will run.
func (q Tensors) Explain(opts ...Option) (string, error) {
	if q.err != nil {
		return "", q.err
	}
	return explain(q.node, opts)
}

// layouts returns what the plan's blocks look like.
func (r *runner) layouts() ([]tensor.Layout, error) {
	if _, err := r.geometry(); err != nil {
		return nil, err
	}
	return plan.Layouts(r.node)
}

// geometry returns the sensor's size, or an error that says how far the events reach and how to give it.
func (r *runner) geometry() (event.Geometry, error) {
	g := plan.Geometry(r.node)
	if g.Known() {
		return g, nil
	}
	src := plan.Source(r.node).Source
	x, y, err := reach(src)
	if err != nil {
		return g, fmt.Errorf("%v: the sensor's size is not known; give it with --size WIDTHxHEIGHT (%w)", src, err)
	}
	return g, fmt.Errorf("%v: the sensor's size is not known; events reach x=%d, y=%d: give it with --size, such as --size %dx%d", src, x, y, x+1, y+1)
}

// reach returns the largest x and y of a recording. Where its header does not tell, the recording is read for them:
// a query that lacks the sensor's size fails all the same, and this says what to give.
func reach(src event.Source) (x, y int, err error) {
	if info := src.Info(); info.Stats {
		return int(info.Extent.X1), int(info.Extent.Y1), nil
	}
	want := event.Request{Columns: event.ColX | event.ColY, Box: event.Everything}
	_, err = event.Each(context.Background(), src, want, func(b event.Batch) error {
		for i, v := range b.X() {
			x, y = max(x, int(v)), max(y, int(b.Y()[i]))
		}
		return nil
	})
	return x, y, err
}

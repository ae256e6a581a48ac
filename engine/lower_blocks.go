package engine

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/plan/optimize"
	"github.com/evq-project/evq/udf"
)

func (l *lowering) blocks(n plan.Node) (exec.BlockOp, error) {
	op, err := l.blocksOf(n)
	return metered(l, op, err, func(tensor.Block) int { return 1 })
}

func (l *lowering) blocksOf(n plan.Node) (exec.BlockOp, error) {
	switch n := n.(type) {
	case *plan.Represent:
		return l.representOf(n)
	case *plan.Dense:
		return l.dense(n)
	case *plan.Limit:
		layouts, err := plan.Layouts(n.In)
		if err != nil {
			return nil, err
		}
		in, err := l.blocks(n.In)
		if err != nil {
			return nil, err
		}
		most := n.N
		if parts := int64(len(layouts)); most <= math.MaxInt64/parts { // else no recording reaches it
			most *= parts
		}
		return exec.LimitBlocks(in, most), nil
	}
	return nil, fmt.Errorf("engine: no operator yields the blocks of %q", n)
}

func (l *lowering) representOf(n *plan.Represent) (exec.BlockOp, error) {
	if w, ok := n.In.(*plan.Window); ok && n.Stream {
		return l.gradual(n, w.In)
	}
	for _, r := range n.Reps {
		if m, ok := r.(udf.Rememberer); ok && m.Remembers() {
			l.gaps = true
		}
	}
	in, err := l.windowsOf(n.In)
	if err != nil {
		return nil, err
	}
	g, err := l.geometry()
	if err != nil {
		return nil, err
	}
	device, err := l.pick()
	if err != nil {
		return nil, err
	}
	var layouts []tensor.Layout
	for _, r := range n.Reps {
		layouts = append(layouts, r.Layout(g))
	}
	threads, err := l.encoders(layouts...)
	if err != nil {
		return nil, err
	}
	if l.gaps { // what a block remembers, windows must bring in order
		threads = 1
	}
	op := &exec.Represent{In: in, Reps: n.Reps, Geometry: g, Device: device, Threads: threads}
	l.represent = op
	return op, nil
}

// gradual lowers the representations of a whole recording as events come.
func (l *lowering) gradual(n *plan.Represent, events plan.Node) (exec.BlockOp, error) {
	in, err := l.events(events)
	if err != nil {
		return nil, err
	}
	g, err := l.geometry()
	if err != nil {
		return nil, err
	}
	device, err := l.pick()
	if err != nil {
		return nil, err
	}
	var layouts []tensor.Layout
	for _, r := range n.Reps {
		layouts = append(layouts, r.Layout(g))
	}
	if _, err := l.encoders(layouts...); err != nil {
		return nil, err
	}
	op := &exec.Gradual{In: in, Reps: n.Reps, Geometry: g, Device: device, Foretold: foretold(events),
		Times: func() (exec.EventOp, error) { return (&lowering{runner: l.runner}).events(optimize.Times(events)) },
		Again: func() (exec.EventOp, error) { return (&lowering{runner: l.runner}).events(events) }}
	l.represent = op
	return op, nil
}

// foretold returns the times of the first and the last event where a recording whose every event is read tells them;
// otherwise nil.
func foretold(events plan.Node) *exec.Span {
	s, ok := events.(*plan.Scan)
	if !ok || s.Want.Box != event.Everything {
		return nil
	}
	info := s.Source.Info()
	if !info.Stats || info.Events <= 0 {
		return nil
	}
	return &exec.Span{First: info.Extent.T0, Last: info.Extent.T1}
}

// encoders returns how many windows may be encoded at a time: as many as there are threads and half of the memory has
// room for, three times their blocks, which are being made, wait, and are being written. Blocks that do not fit into
// memory twice are an error.
func (l *lowering) encoders(of ...tensor.Layout) (int, error) {
	size := int64(0)
	for _, o := range of {
		n, ok := o.Size()
		if ok && n == 0 {
			return 0, fmt.Errorf("engine: a block of %v %v has no element: the sensor is too small; downsample less, or crop less", o.Shape, o.DType)
		}
		if !ok || n > l.memory/2 || size+n > l.memory/2 {
			return 0, fmt.Errorf("engine: a block of %v %v does not fit twice into a memory of %d bytes; raise --memory, or count fewer bins or pixels",
				o.Shape, o.DType, l.memory)
		}
		size += n
	}
	return int(max(1, min(int64(l.threads), l.memory/2/(3*max(size, 1))))), nil
}

func (l *lowering) dense(n *plan.Dense) (exec.BlockOp, error) {
	of, err := n.Grouping()
	if err != nil {
		return nil, err
	}
	g, err := l.geometry()
	if err != nil {
		return nil, err
	}
	layout, err := n.Layout(g)
	if err != nil {
		return nil, err
	}
	if _, err := l.encoders(layout); err != nil {
		return nil, err
	}
	in, err := l.groups(of.Group)
	if err != nil {
		return nil, err
	}
	return &exec.Dense{In: in, Bins: of.Bin.Bins, Layout: layout, Cutoff: n.Cutoff, Wrap: n.Wrap}, nil
}

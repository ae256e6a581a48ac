package engine

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/plan"
)

// A lowering chooses an operator for each node. It is the only switch over nodes that knows how they run.
type lowering struct {
	*runner
	from      func(*plan.Scan) exec.EventOp // nil: scanOf
	scan      *exec.Scan
	represent *exec.Represent
}

// operator lowers a node of any kind.
func (l *lowering) operator(n plan.Node) (exec.Operator, error) {
	switch n.Kind() {
	case plan.Events:
		return l.events(n)
	case plan.Windows:
		return l.windowsOf(n)
	case plan.Rows:
		return l.table(n)
	}
	return l.blocks(n)
}

func (l *lowering) events(n plan.Node) (exec.EventOp, error) {
	switch n := n.(type) {
	case *plan.Scan:
		if l.from != nil {
			return l.from(n), nil
		}
		return l.scanOf(n), nil
	case *plan.Filter:
		in, err := l.events(n.In)
		if err != nil {
			return nil, err
		}
		return &exec.Filter{In: in, Pred: n.Pred}, nil
	case *plan.Limit:
		return limited(n, l.events, exec.LimitEvents)
	}
	return nil, fmt.Errorf("engine: no operator yields the events of %q", n)
}

// limited lowers a limit of what lower makes of its input.
func limited[T any](n *plan.Limit, lower func(plan.Node) (exec.Op[T], error), limit func(exec.Op[T], int64) exec.Op[T]) (exec.Op[T], error) {
	in, err := lower(n.In)
	if err != nil {
		return nil, err
	}
	return limit(in, n.N), nil
}

func (l *lowering) scanOf(n *plan.Scan) *exec.Scan {
	want := n.Want
	want.Threads = l.threads
	l.scan = &exec.Scan{Source: n.Source, Want: want}
	if l.progress != nil {
		total := n.Source.Info().Events
		if want.Box != event.Everything {
			total = -1 // skipped row groups would make it wrong
		}
		l.scan.Progress = func(done int64) { l.progress(done, total) }
	}
	return l.scan
}

func (l *lowering) windowsOf(n plan.Node) (exec.WindowOp, error) {
	w, ok := n.(*plan.Window)
	if !ok {
		return nil, fmt.Errorf("engine: no operator yields the windows of %q", n)
	}
	in, err := l.events(w.In)
	if err != nil {
		return nil, err
	}
	switch by := w.By.(type) {
	case plan.Ends:
		return &exec.TimeWindow{In: in, Bounds: &exec.EndsBounds{Times: by.Times, Span: by.Span}, Max: l.maxHeld()}, nil
	case plan.Every:
		b := &exec.EveryBounds{Length: by.Length, Hop: by.Hop, Origin: by.Origin, FromFirst: by.FromFirst}
		if by.Range != nil {
			b.Ranged, b.From, b.To = true, by.Range.From, by.Range.To
		}
		return &exec.TimeWindow{In: in, Bounds: b, Max: l.maxHeld()}, nil
	case plan.Count:
		return &exec.CountWindow{In: in, N: by.N, Step: by.Step, Complete: by.Complete, Max: l.maxHeld()}, nil
	case plan.EndsCount:
		return &exec.EndsCountWindow{In: in, Times: by.Times, N: int(min(by.N, math.MaxInt32)), Max: l.maxHeld()}, nil
	case plan.Whole:
		return exec.WholeRecording(in, l.maxHeld()), nil
	}
	return nil, fmt.Errorf("engine: no operator yields the windows of %q", n)
}

func (l *lowering) table(n plan.Node) (exec.TableOp, error) {
	switch n := n.(type) {
	case *plan.Group:
		return l.group(n)
	case *plan.Limit:
		return limited(n, l.table, exec.LimitRows)
	}
	return nil, fmt.Errorf("engine: no operator yields the table of %q", n)
}

func (l *lowering) group(n *plan.Group) (exec.TableOp, error) {
	g := &exec.HashGroup{Keys: n.Keys, Where: n.Where}
	in := n.In
	if b, ok := in.(*plan.Bin); ok {
		g.Bin = exec.Binning{Bins: b.Bins, Rounding: b.Rounding, WindowTime: b.Base == plan.WindowTime}
		in = b.In
	}
	var err error
	g.In, err = l.windowsOf(in)
	return g, err
}

func (l *lowering) blocks(n plan.Node) (exec.BlockOp, error) {
	switch n := n.(type) {
	case *plan.Represent:
		return l.representOf(n)
	case *plan.Dense:
		return l.dense(n)
	case *plan.Limit:
		return limited(n, l.blocks, exec.LimitBlocks)
	}
	return nil, fmt.Errorf("engine: no operator yields the blocks of %q", n)
}

func (l *lowering) representOf(n *plan.Represent) (exec.BlockOp, error) {
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
	threads, err := l.encoders(n.Rep.Layout(g))
	if err != nil {
		return nil, err
	}
	l.represent = &exec.Represent{In: in, Rep: n.Rep, Geometry: g, Device: device, Threads: threads}
	return l.represent, nil
}

// encoders returns how many blocks may be made at a time: as many as there are threads and half of the memory has
// room for, three blocks each, which are being made, wait, and are being written. A block that does not fit into
// memory twice is an error.
func (l *lowering) encoders(of tensor.Layout) (int, error) {
	size := int64(of.Bytes())
	if size <= 0 || size > l.memory/2 {
		return 0, fmt.Errorf("engine: a block of %v %v takes %d bytes, too many for a memory of %d; raise --memory, or count fewer bins or pixels",
			of.Shape, of.DType, size, l.memory)
	}
	return int(max(1, min(int64(l.threads), l.memory/2/(3*size)))), nil
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
	layout, err := denseLayout(n, g)
	if err != nil {
		return nil, err
	}
	if _, err := l.encoders(layout); err != nil {
		return nil, err
	}
	in, err := l.table(n.In)
	if err != nil {
		return nil, err
	}
	return &exec.Dense{In: in, Bins: of.Bin.Bins, Layout: layout, Cutoff: n.Cutoff, Wrap: n.Wrap}, nil
}

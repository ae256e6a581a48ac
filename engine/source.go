package engine

import (
	"context"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
)

// Source returns the frame as a source that can be scanned any number of times, so that what a query keeps can be
// converted. Its header is that of the recording, and so are its reports: they count what was read.
//
// Triggers have a time and no pixel: those within the range of times that the filters allow are passed on, at the
// times to which the transforms move them.
func (f Frame) Source() event.Source {
	scan := plan.Source(f.node)
	if f.node == scan {
		return scan.Source
	}
	return &view{Source: scan.Source, node: f.node}
}

// A view is a recording through a frame.
type view struct {
	event.Source // the recording
	node         plan.Node
}

// Geometry is the sensor's after the transforms.
func (v *view) Geometry() event.Geometry { return plan.Geometry(v.node) }

// Info says that only decoding tells how many events there are.
func (v *view) Info() event.Info {
	info := v.Source.Info()
	info.Events, info.Stats = -1, false
	info.Geometry = v.Geometry()
	return info
}

// Scan yields the frame's events. A limit counts events from the first on, so that the recording is told of no
// box but that of the filters below.
func (v *view) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	r, err := prepare(v.node, nil)
	if err != nil {
		return nil, err
	}
	in := plan.Source(r.node).Want
	in.Threads, in.Restartable = want.Threads, want.Restartable
	if to := want.Triggers; to != nil {
		in.Triggers = func(tr []event.Trigger) error { return v.triggers(tr, to) }
	}
	st, err := v.Source.Scan(ctx, in)
	if err != nil {
		return nil, err
	}
	low := r.lowering()
	low.from = func(*plan.Scan) exec.EventOp { return exec.Stream{Stream: st} }
	op, err := low.events(r.node)
	if err != nil {
		_ = st.Close() // the plan's error says more
		return nil, err
	}
	return &viewStream{op, st}, nil
}

// triggers passes on those within the view's times.
func (v *view) triggers(tr []event.Trigger, to func([]event.Trigger) error) error {
	var kept []event.Trigger
	for _, t := range tr {
		if at, ok := through(v.node, t.T); ok {
			t.T = at
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return to(kept)
}

// through returns where a time of the recording lies after the filters and transforms of a plan; ok is false where a
// filter leaves it out.
func through(n plan.Node, t int64) (at int64, ok bool) {
	switch n := n.(type) {
	case *plan.Scan:
		return t, true
	case *plan.Filter:
		at, ok = through(n.In, t)
		box := n.Pred.Box()
		return at, ok && at >= box.T0 && at <= box.T1
	case *plan.Map:
		by, err := n.Projection()
		if err != nil {
			return t, false // Validate says why
		}
		if at, ok = through(n.In, t); !ok {
			return at, false
		}
		moved := []int64{0}
		by.T.Eval(event.New([]int64{at}, []uint16{0}, []uint16{0}, []int8{0}), moved)
		return moved[0], true
	}
	return through(n.Input(), t)
}

// A viewStream is the operators of a view as a stream.
type viewStream struct {
	exec.EventOp
	in event.Stream
}

// Report is that of the recording: what decoding met.
func (s *viewStream) Report() *event.Report { return s.in.Report() }

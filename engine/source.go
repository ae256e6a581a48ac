package engine

import (
	"context"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
)

// Source returns the frame as a source that can be scanned any number of times, so that what a query keeps can be
// converted. Its geometry and header are those of the recording, and so are its reports: they count what was read.
//
// Triggers have a time and no pixel: those within the range of times that the filters allow are passed on.
func (f Frame) Source() event.Source {
	scan := plan.Source(f.node)
	if f.node == scan {
		return scan.Source
	}
	v := &view{Source: scan.Source, node: f.node, times: event.Everything}
	for n := f.node; n != nil; n = n.Input() {
		if n, ok := n.(*plan.Filter); ok {
			v.times = v.times.Intersect(n.Pred.Box())
		}
	}
	return v
}

// A view is a recording through a frame.
type view struct {
	event.Source // the recording
	node         plan.Node
	times        event.Box // its T0 and T1 hold every event of the view
}

// Info says that only decoding tells how many events there are.
func (v *view) Info() event.Info {
	info := v.Source.Info()
	info.Events, info.Stats = -1, false
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
		if t.T >= v.times.T0 && t.T <= v.times.T1 {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return to(kept)
}

// A viewStream is the operators of a view as a stream.
type viewStream struct {
	exec.EventOp
	in event.Stream
}

// Report is that of the recording: what decoding met.
func (s *viewStream) Report() *event.Report { return s.in.Report() }

package main

import (
	"context"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

// A filtered source is a recording through predicates, for convert, which reads sources. Triggers have a time
// and no pixel, so that only ranges of time concern them.
type filtered struct {
	event.Source
	pred exprs.Expr
	box  event.Box
}

func newFiltered(src event.Source, preds []exprs.Expr) event.Source {
	f := &filtered{Source: src, pred: exprs.And(preds...), box: event.Everything}
	for _, p := range preds {
		f.box = f.box.Intersect(p.Box())
	}
	return f
}

// Info says that only decoding tells how many events there are.
func (f *filtered) Info() event.Info {
	info := f.Source.Info()
	info.Events, info.Stats = -1, false
	return info
}

// Scan yields the events that satisfy the predicates.
func (f *filtered) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	want.Box = want.Box.Intersect(f.box)
	if want.Columns != 0 {
		want.Columns |= f.pred.Columns()
	}
	if to := want.Triggers; to != nil {
		want.Triggers = func(tr []event.Trigger) error {
			var kept []event.Trigger
			for _, t := range tr {
				if t.T >= f.box.T0 && t.T <= f.box.T1 {
					kept = append(kept, t)
				}
			}
			if len(kept) == 0 {
				return nil
			}
			return to(kept)
		}
	}
	st, err := f.Source.Scan(ctx, want)
	if err != nil {
		return nil, err
	}
	return &filteredStream{&exec.Filter{In: &streamOp{st}, Pred: f.pred}, st}, nil
}

// A filteredStream is the filter's operator as a stream.
type filteredStream struct {
	*exec.Filter
	in event.Stream
}

// Report is that of the recording: what decoding met.
func (s *filteredStream) Report() *event.Report { return s.in.Report() }

// A streamOp is a stream as an operator.
type streamOp struct{ event.Stream }

func (streamOp) String() string       { return "scan" }
func (streamOp) Input() exec.Operator { return nil }

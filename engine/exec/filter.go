package exec

import (
	"context"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

// Filter keeps the events that satisfy Pred.
type Filter struct {
	In   EventOp
	Pred exprs.Expr

	kept selector
}

func (f *Filter) String() string { return "filter " + f.Pred.String() }

// Input implements Operator.
func (f *Filter) Input() Operator { return f.In }

// Close implements Operator.
func (f *Filter) Close() error { return f.In.Close() }

// Next returns the kept events of the next batch that has any.
func (f *Filter) Next(ctx context.Context) (event.Batch, error) {
	return f.kept.next(ctx, f.In, func(b event.Batch) ([]bool, error) { return f.kept.mask(f.Pred, b), nil })
}

// next returns the events that mask keeps of the next batch of in that has any.
func (s *selector) next(ctx context.Context, in EventOp, mask func(event.Batch) ([]bool, error)) (event.Batch, error) {
	for {
		b, err := in.Next(ctx)
		if err != nil {
			return event.Batch{}, err
		}
		keep, err := mask(b)
		if err != nil {
			b.Release()
			return event.Batch{}, err
		}
		switch kept := s.indices(keep); {
		case len(kept) == b.Len():
			return b, nil
		case len(kept) > 0:
			out := s.compact(b, kept)
			b.Release()
			return out, nil
		}
		b.Release()
	}
}

package exec

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// Apply keeps the events that a filter with memory keeps. A filter that must learn reads First to its end before
// it reads In.
type Apply struct {
	In     EventOp
	Filter udf.Filter
	Sieve  udf.Sieve
	First  func() (EventOp, error) // the same events once more; only called where Sieve is a learner

	kept    selector
	learned bool
}

func (a *Apply) String() string {
	s := "apply " + a.Filter.String()
	if _, ok := a.Sieve.(udf.Learner); ok {
		s += ", in two passes: learn, then sift"
	}
	return s
}

// Input implements Operator.
func (a *Apply) Input() Operator { return a.In }

// Close implements Operator.
func (a *Apply) Close() error { return a.In.Close() }

// Next returns the kept events of the next batch that has any.
func (a *Apply) Next(ctx context.Context) (event.Batch, error) {
	if err := a.learn(ctx); err != nil {
		return event.Batch{}, err
	}
	return a.kept.next(ctx, a.In, func(b event.Batch) ([]bool, error) {
		keep := a.kept.all(b.Len())
		if err := a.Sieve.Sift(b, keep); err != nil {
			return nil, fmt.Errorf("%v: %w", a.Filter, err)
		}
		return keep, nil
	})
}

// learn makes the first pass where there is one to make.
func (a *Apply) learn(ctx context.Context) (err error) {
	l, ok := a.Sieve.(udf.Learner)
	if !ok || a.learned {
		return nil
	}
	a.learned = true
	op, err := a.First()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, op.Close()) }()
	for {
		b, err := op.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = l.Learn(b)
			b.Release()
		}
		if err != nil {
			return fmt.Errorf("%v: %w", a.Filter, err)
		}
	}
	if err := l.Learned(); err != nil {
		return fmt.Errorf("%v: %w", a.Filter, err)
	}
	return nil
}

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

	keep []bool
	pool *event.Pool
}

func (f *Filter) String() string { return "filter " + f.Pred.String() }

// Input implements Operator.
func (f *Filter) Input() Operator { return f.In }

// Close implements Operator.
func (f *Filter) Close() error { return f.In.Close() }

// Next returns the kept events of the next batch that has any.
func (f *Filter) Next(ctx context.Context) (event.Batch, error) {
	for {
		b, err := f.In.Next(ctx)
		if err != nil {
			return event.Batch{}, err
		}
		switch n := f.mask(b); {
		case n == b.Len():
			return b, nil
		case n > 0:
			out := f.compact(b, n)
			b.Release()
			return out, nil
		}
		b.Release()
	}
}

// mask sets f.keep for each event of b and returns how many are kept.
func (f *Filter) mask(b event.Batch) int {
	if cap(f.keep) < b.Len() {
		f.keep = make([]bool, b.Len())
	}
	f.keep = f.keep[:b.Len()]
	for i := range f.keep {
		f.keep[i] = true
	}
	f.Pred.Mask(b, f.keep)
	n := 0
	for _, k := range f.keep {
		if k {
			n++
		}
	}
	return n
}

// compact copies the n kept events of b.
func (f *Filter) compact(b event.Batch, n int) event.Batch {
	if f.pool == nil {
		f.pool = event.NewPool(b.Len())
	}
	out := f.pool.Get()
	out.T = keepIn(out.T, b.T(), f.keep, n)
	out.X = keepIn(out.X, b.X(), f.keep, n)
	out.Y = keepIn(out.Y, b.Y(), f.keep, n)
	out.P = keepIn(out.P, b.P(), f.keep, n)
	return out.Batch()
}

// keepIn writes the n kept values of v into dst, without a branch that the data decides.
func keepIn[N any](dst, v []N, keep []bool, n int) []N {
	if len(v) == 0 {
		return dst[:0]
	}
	if cap(dst) < n+1 {
		dst = make([]N, n+1)
	}
	dst = dst[:n+1] // one slot more, which takes what is dropped after the last
	at := 0
	for i, k := range keep {
		dst[at] = v[i]
		step := 0
		if k {
			step = 1
		}
		at += step
	}
	return dst[:n]
}

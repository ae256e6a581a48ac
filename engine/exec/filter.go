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

	yes, keep []bool // one for each event of a batch; yes is all true
	kept      []int32
	pool      *event.Pool
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
		switch kept := f.choose(b); {
		case len(kept) == b.Len():
			return b, nil
		case len(kept) > 0:
			out := f.compact(b, kept)
			b.Release()
			return out, nil
		}
		b.Release()
	}
}

// choose returns the indices of the events of b that are kept. No branch depends on the data.
func (f *Filter) choose(b event.Batch) []int32 {
	n := b.Len()
	if len(f.yes) < n {
		f.yes, f.keep, f.kept = make([]bool, n), make([]bool, n), make([]int32, n)
		for i := range f.yes {
			f.yes[i] = true
		}
	}
	keep, kept := f.keep[:n], f.kept[:n]
	copy(keep, f.yes)
	f.Pred.Mask(b, keep)
	at := 0
	for i, k := range keep {
		kept[at] = int32(i)
		step := 0
		if k {
			step = 1
		}
		at += step
	}
	return kept[:at]
}

// compact copies the kept events of b.
func (f *Filter) compact(b event.Batch, kept []int32) event.Batch {
	if f.pool == nil {
		f.pool = event.NewPool(b.Len())
	}
	out := f.pool.Get()
	out.T = gather(out.T, b.T(), kept)
	out.X = gather(out.X, b.X(), kept)
	out.Y = gather(out.Y, b.Y(), kept)
	out.P = gather(out.P, b.P(), kept)
	return out.Batch()
}

// gather writes the kept values of v into dst. A column that is not there stays away.
func gather[N any](dst, v []N, kept []int32) []N {
	if len(v) == 0 {
		return dst[:0]
	}
	if cap(dst) < len(kept) {
		dst = make([]N, len(kept))
	}
	dst = dst[:len(kept)]
	for j, i := range kept {
		dst[j] = v[i]
	}
	return dst
}

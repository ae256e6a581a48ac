package exec

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// again is an EventOp that yields one batch n times.
type again struct {
	batch event.Batch
	n     int
}

func (a *again) String() string  { return "again" }
func (a *again) Input() Operator { return nil }
func (a *again) Close() error    { return nil }
func (a *again) Next(context.Context) (event.Batch, error) {
	if a.n--; a.n < 0 {
		return event.Batch{}, io.EOF
	}
	return a.batch, nil
}

// filtered runs f to its end.
func filtered(t testing.TB, f *Filter) event.Batch {
	t.Helper()
	out := event.NewBuffer(0)
	for {
		b, err := f.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return out.Batch()
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Len() == 0 {
			t.Error("an empty batch")
		}
		out.AppendBatch(b)
		b.Release()
	}
}

// TestFilter compares filters that keep nothing, all, and parts with the obvious loop, on batches of every size up to
// a few blocks.
func TestFilter(t *testing.T) {
	g := event.Geometry{Width: 64, Height: 48}
	r := rand.New(rand.NewPCG(8, 8))
	for _, c := range []struct {
		pred exprs.Expr
		keep func(t, x, y, p int64) bool
	}{
		{exprs.And(), func(_, _, _, _ int64) bool { return true }},
		{exprs.X.Lt(0), func(_, _, _, _ int64) bool { return false }},
		{exprs.X.Lt(64), func(_, _, _, _ int64) bool { return true }},
		{exprs.And(exprs.X.Between(10, 40), exprs.P.Eq(1)), func(_, x, _, p int64) bool { return x >= 10 && x <= 40 && p == 1 }},
		{exprs.Or(exprs.Y.Eq(3), exprs.Not(exprs.X.Ge(60))), func(_, x, y, _ int64) bool { return y == 3 || x < 60 }},
		{exprs.Y.Mod(7).Eq(2), func(_, _, y, _ int64) bool { return y%7 == 2 }},
	} {
		for range 40 {
			in := eventtest.Recording(r.Uint64(), 1+r.IntN(900), g)
			want := event.NewBuffer(in.Len())
			for i, at := range in.T() {
				if c.keep(at, int64(in.X()[i]), int64(in.Y()[i]), int64(in.P()[i])) {
					want.Append(at, in.X()[i], in.Y()[i], in.P()[i])
				}
			}
			got := filtered(t, &Filter{In: &again{in, 1}, Pred: c.pred})
			if d := eventtest.Diff(got, want.Batch()); d != "" {
				t.Fatalf("%v of %d events: %s", c.pred, in.Len(), d)
			}
		}
	}
}

// BenchmarkFilter reports the time of one event.
func BenchmarkFilter(b *testing.B) {
	in := eventtest.Recording(1, 64<<10, event.Geometry{Width: 1280, Height: 720})
	for _, c := range []struct {
		name string
		pred exprs.Expr
	}{
		{"range+polarity", exprs.And(exprs.X.Between(300, 900), exprs.P.Eq(1))},
		{"rectangle", exprs.InRect(300, 200, 900, 500)},
		{"all", exprs.X.Lt(1280)},
	} {
		b.Run(c.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				f := &Filter{In: &again{in, 64}, Pred: c.pred}
				for {
					out, err := f.Next(b.Context())
					if err != nil {
						break
					}
					n += out.Len()
					out.Release()
				}
			}
			events := float64(b.N) * 64 * float64(in.Len())
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
			b.ReportMetric(float64(n)/events, "kept")
		})
	}
}

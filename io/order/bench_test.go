package order

import (
	"errors"
	"io"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// BenchmarkApply measures one complete scan; the input's own copying is in it, as "none" shows.
func BenchmarkApply(b *testing.B) {
	const n, batch = 4 << 20, 1 << 16
	ordered, small, full := jitter(1, n, 2, 0, 0), jitter(1, n, 2, 200, 0.5), jitter(1, n, 2, 2*n, 1)
	for _, c := range []struct {
		name   string
		events event.Batch
		o      Options
	}{
		{"clamp/ordered", ordered, Options{Policy: Clamp}},
		{"clamp/small", small, Options{Policy: Clamp}},
		{"drop/small", small, Options{Policy: Drop}},
		{"sort/ordered", ordered, Options{Policy: Sort, Memory: 128 << 20}},
		{"sort/ordered/optimistic", ordered, Options{Policy: Sort, Memory: 128 << 20, Whole: true, Restartable: true}},
		{"sort/small", small, Options{Policy: Sort, Memory: 128 << 20}},
		{"sort/small/optimistic", small, Options{Policy: Sort, Memory: 128 << 20, Whole: true, Restartable: true}},
		{"sort/full/memory", full, Options{Policy: Sort, Memory: 512 << 20}},
		{"sort/full/128MB", full, Options{Policy: Sort, Memory: 128 << 20}},
		{"sort/full/8MB", full, Options{Policy: Sort, Memory: 8 << 20}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := &tape{events: c.events, batch: batch, steady: true}
			o := c.o
			o.TempDir, o.Learned = b.TempDir(), &Learned{}
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				var rep event.Report
				in, err := Apply(b.Context(), s.open, o, &rep)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					var buf *event.Buffer
					if buf, err = in.Next(b.Context()); err == nil {
						buf.Release()
					}
				}
				if !errors.Is(err, io.EOF) && !errors.Is(err, event.ErrRestart) {
					b.Fatal(err)
				}
				_ = in.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
		})
	}
	b.Run("none", func(b *testing.B) {
		s := &tape{events: ordered, batch: batch, steady: true}
		for b.Loop() {
			in, _ := s.open(b.Context(), false)
			for buf, err := in.Next(b.Context()); err == nil; buf, err = in.Next(b.Context()) {
				buf.Release()
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
	})
}

func BenchmarkAscends(b *testing.B) {
	t := jitter(1, 1<<16, 2, 0, 0).T()
	b.SetBytes(int64(8 * len(t)))
	for b.Loop() {
		if !ascends(t[0], t) {
			b.Fatal("out of order")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(t)), "ns/event")
}

func BenchmarkBlockSort(b *testing.B) {
	in := jitter(1, 2<<20, 2, 1<<33, 1)
	buf := event.NewBuffer(in.Len())
	buf.AppendBatch(in)
	var blk block
	for b.Loop() {
		blk.reset()
		blk.add(buf, 0, buf.Len())
		blk.sort()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.Len()), "ns/event")
}

package parquet

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

var hd = event.Geometry{Width: 1280, Height: 720}

func BenchmarkWrite(b *testing.B) {
	rec := eventtest.Scene(1, 4<<20, hd)
	for _, c := range codecs {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				var size int64
				for b.Loop() {
					path := write(b, rec, 64<<10, format.CreateOptions{Compression: c.name, Threads: threads})
					size = formattest.Open(b, path).Size
				}
				report(b, rec.Len())
				b.ReportMetric(float64(size)/float64(rec.Len()), "B/event")
			})
		}
	}
}

func BenchmarkScan(b *testing.B) {
	rec := eventtest.Scene(1, 8<<20, hd)
	for _, c := range codecs {
		path := write(b, rec, 64<<10, format.CreateOptions{Compression: c.name})
		s := mustOpen(b, path)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				want := event.All
				want.Threads = threads
				for b.Loop() {
					if n := drain(b, s, want); n != rec.Len() {
						b.Fatalf("%s: %d events", filepath.Base(path), n)
					}
				}
				report(b, rec.Len())
			})
		}
	}
}

// A range and a region are counted; DuckDB counts the same in docs/bench/queries.py.
func BenchmarkCount(b *testing.B) {
	rec := eventtest.Scene(1, 8<<20, hd)
	s := mustOpen(b, write(b, rec, 64<<10, format.CreateOptions{}))
	mid, part := event.Everything, event.Everything
	mid.T0 = rec.T()[rec.Len()/2]
	mid.T1 = mid.T0 + 50_000
	part.X0, part.X1, part.Y0, part.Y1 = 320, 959, 180, 539
	for name, box := range map[string]event.Box{"range": mid, "region": part} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if n, err := s.Count(b.Context(), event.Request{Box: box, Threads: 1}); err != nil || n.Events == 0 {
					b.Fatal(n, err)
				}
			}
			report(b, rec.Len())
		})
	}
}

func report(b *testing.B, events int) {
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

func drain(t testing.TB, src event.Source, want event.Request) int {
	st, err := src.Scan(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	for n := 0; ; {
		b, err := st.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n += b.Len()
		b.Release()
	}
}

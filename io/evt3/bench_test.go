package evt3

import (
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/rawheader"
)

var hd = event.Geometry{Width: 1280, Height: 720}

// driving is a dense scene as a row-read sensor sends it: edges that fire in runs along a row with gaps in them, and
// noise of one event in eight.
func driving(n int) event.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	b := event.NewBuffer(n + 64)
	for t := 1000.0; b.Len() < n; t += r.ExpFloat64() * 1.5 {
		x, y, p := uint16(r.IntN(hd.Width-100)), uint16(r.IntN(hd.Height)), int8(r.IntN(2))
		k := 1
		if r.IntN(5) > 0 {
			for k < 40 && r.Float64() > 1/(2.3+6*r.Float64()) {
				k++
			}
		}
		for range k {
			b.Append(int64(t), x, y, p)
			x += 1
			if f := r.Float64(); f < 0.15 {
				x += 2
			} else if f < 0.35 {
				x++
			}
		}
	}
	return b.Batch()
}

// dense is a scene of long runs: most events come in vectors.
func dense(n int) event.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	b := event.NewBuffer(n + 64)
	for t := 1000.0; b.Len() < n; t += r.ExpFloat64() {
		x, y, p := uint16(r.IntN(hd.Width-100)), uint16(r.IntN(hd.Height)), int8(r.IntN(2))
		for range 1 + r.IntN(40) {
			b.Append(int64(t), x, y, p)
			x += 1 + uint16(r.IntN(5)/4)
		}
	}
	return b.Batch()
}

func encode(b event.Batch) []byte {
	return newEncoder(hd).Events(nil, b.T(), b.X(), b.Y(), b.P())
}

func BenchmarkDecode(b *testing.B) {
	for _, s := range []struct {
		name  string
		batch event.Batch
	}{{"driving", driving(4 << 20)}, {"dense", dense(4 << 20)}, {"discs", eventtest.Scene(1, 4<<20, hd)}} {
		raw := encode(s.batch)
		b.Run(s.name, func(b *testing.B) {
			pool := event.NewPool(rawheader.BufferSize)
			events := 0
			for b.Loop() {
				events += formattest.Count(b, decode(raw, 0, &event.Report{}, pool))
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mev/s")
			b.ReportMetric(float64(len(raw))/2/float64(s.batch.Len()), "words/ev")
		})
	}
}

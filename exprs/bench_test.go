package exprs_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

var vga = event.Geometry{Width: 640, Height: 480}

func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.N)*float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

func BenchmarkMask(b *testing.B) {
	events := onSensor(rand.New(rand.NewPCG(1, 1)), vga, 1<<16)
	keep := make([]bool, events.Len())
	for _, text := range []string{
		"p = 1", "x < 320", "t >= 1ms", "rect(100, 100, 500, 400)", "rect(100, 100, 500, 400) and p = 1", "x = 3 or y = 4",
		"x % 2 = 1 and y % 2 = 1", "x // 16 = y // 16", "x + 2 * y < 700", "x * x + y * y < 90000", "circle(320, 240, 200)",
		"polygon(0, 0, 639, 100, 320, 479)", "x in (3, 7, 77, 300)", "abs(x - y) < 9", "not (x < 100 and y < 100)",
	} {
		e, err := exprs.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				e.Mask(events, keep)
			}
			perEvent(b, events.Len())
		})
	}
}

func BenchmarkApply(b *testing.B) {
	events := onSensor(rand.New(rand.NewPCG(1, 1)), vga, 1<<16)
	dst := event.NewBuffer(events.Len())
	for _, tr := range []exprs.Transform{exprs.Flip{}, exprs.Rotate{Degrees: 90}, exprs.Transpose{}, exprs.Crop{X0: 100, Y0: 100, X1: 500, Y1: 400},
		exprs.Downsample{N: 2}, exprs.Downsample{N: 2, Sum: true}, exprs.ShiftTime{By: 5}, exprs.ScaleTime{Num: 2, Den: 3}, exprs.MergePolarity{}} {
		p, err := tr.Project(vga)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(tr.String(), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				p.Apply(events, dst)
			}
			perEvent(b, events.Len())
		})
	}
}

package aedat4

import (
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

func BenchmarkDecode(b *testing.B) {
	scene := eventtest.Scene(3, 1<<20, event.Geometry{Width: 346, Height: 260})
	for c := range compression(len(compressions)) {
		var packets []packet
		for i := 0; i < scene.Len(); i += 8192 {
			part := scene.Slice(i, i+8192)
			events := make([]ev, part.Len())
			for k := range events {
				events[k] = ev{int64(part.X()[k]), int64(part.Y()[k]), int64(part.P()[k]), part.T()[k]}
			}
			packets = append(packets, packet{0, eventPacket(events...)})
		}
		f := formattest.File(file(c, davis, packets...))
		h, err := readHeader(f)
		if err != nil {
			b.Fatal(err)
		}
		pool := event.NewPool(bufferSize)
		b.Run(c.String(), func(b *testing.B) {
			for b.Loop() {
				d, err := newDecoder(f, h, 0, format.Policy{}.WithDefaults(), event.All, &event.Report{}, pool)
				if err != nil {
					b.Fatal(err)
				}
				if n := formattest.Count(b, d); n != scene.Len() {
					b.Fatal(n)
				}
				_ = d.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(scene.Len()), "ns/event")
		})
	}
}

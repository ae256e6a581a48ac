package aedat3

import (
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

func BenchmarkDecode(b *testing.B) {
	scene := eventtest.Scene(3, 1<<20, event.Geometry{Width: 128, Height: 128})
	data := []byte(text31)
	for i := 0; i < scene.Len(); i += 4096 {
		part := scene.Slice(i, i+4096)
		events := make([]ev, part.Len())
		for k := range events {
			events[k] = ev{int64(part.X()[k]), int64(part.Y()[k]), int64(part.P()[k]), part.T()[k]}
		}
		data = append(data, pol(1, 0, events...)...)
	}
	h, err := readHeader(formattest.File(data))
	if err != nil {
		b.Fatal(err)
	}
	pool := event.NewPool(bufferSize)
	for b.Loop() {
		d := newDecoder(formattest.File(data), h, 1, format.Policy{}.WithDefaults(), event.All, &event.Report{}, pool, defaultReadSize)
		if n := formattest.Count(b, d); n != scene.Len() {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(scene.Len()), "ns/event")
}

package evt2

import (
	"bytes"
	"io"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

func BenchmarkDecode(b *testing.B) {
	scene := eventtest.Scene(1, 4<<20, event.Geometry{Width: 1280, Height: 720})
	raw := newEncoder().Events(nil, scene.T(), scene.X(), scene.Y(), scene.P())
	pool := event.NewPool(rawheader.BufferSize)
	f := format.File{ReaderAt: bytes.NewReader(raw), Size: int64(len(raw))}
	events := 0
	for b.Loop() {
		events += drain(b, newDecoder(f, 0, format.Policy{}.WithDefaults(), event.All, &event.Report{}, pool))
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mev/s")
	b.ReportMetric(float64(len(raw))/4/float64(scene.Len()), "words/ev")
}

func drain(b *testing.B, d format.Decoder) (n int) {
	for {
		buf, err := d.Next(b.Context())
		if err == io.EOF {
			return n
		}
		if err != nil {
			b.Fatal(err)
		}
		n += buf.Len()
		buf.Release()
	}
}

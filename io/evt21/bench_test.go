package evt21

import (
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/rawheader"
)

func BenchmarkDecode(b *testing.B) {
	s := eventtest.Scene(1, 4<<20, event.Geometry{Width: 1280, Height: 720})
	raw := newEncoder().Events(nil, s.T(), s.X(), s.Y(), s.P())
	pool := event.NewPool(rawheader.BufferSize)
	events := 0
	for b.Loop() {
		events += formattest.Count(b, decode(raw, 0, &event.Report{}, pool))
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mev/s")
	b.ReportMetric(float64(len(raw))/wordSize/float64(s.Len()), "words/ev")
}

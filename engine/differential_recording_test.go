package engine_test

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// An ev is one event as the plain loops of the differential test see it.
type ev struct{ t, x, y, p int64 }

func eventsOf(b event.Batch) []ev {
	out := make([]ev, b.Len())
	for i := range out {
		out[i] = ev{b.T()[i], int64(b.X()[i]), int64(b.Y()[i]), int64(b.P()[i])}
	}
	return out
}

func batchOf(evs []ev) event.Batch {
	b := event.NewBuffer(len(evs))
	for _, e := range evs {
		b.Append(e.t, uint16(e.x), uint16(e.y), int8(e.p))
	}
	return b.Batch()
}

var sensors = []event.Geometry{{Width: 17, Height: 12}, {Width: 17, Height: 12}, {Width: 1, Height: 1}, {Width: 61, Height: 2}, {Width: 40, Height: 30}}

// randomRecording draws events and the sensor that they are said to come from: bursts, ties, gaps, hot pixels; times
// around 0, below it, and of an epoch clock; some off the sensor, few or none.
func randomRecording(r *rand.Rand) (event.Batch, event.Geometry) {
	size := sensors[r.IntN(len(sensors))]
	lie := size
	if r.IntN(6) == 0 {
		lie = event.Geometry{Width: size.Width + r.IntN(9), Height: size.Height + r.IntN(9)}
	}
	n := []int{0, 1, 2, 30, 300, 300, 300, 300, 900, 900, 900, 900, 900, 900, 2000, 2000}[r.IntN(16)]
	evs := eventsOf(eventtest.Recording(r.Uint64(), n, lie))
	moveTimes(r, evs)
	if r.IntN(25) == 0 {
		size = event.Geometry{}
	}
	return batchOf(evs), size
}

func moveTimes(r *rand.Rand, evs []ev) {
	if len(evs) == 0 {
		return
	}
	start := []int64{0, 0, 0, -1_000_000, -3_000_000, 1_500_000_000_000_000, 1 << 40, 7}[r.IntN(8)]
	first, squeeze := evs[0].t, int64(1)
	switch r.IntN(8) {
	case 0:
		squeeze = 1 << 40 // all at one time
	case 1:
		squeeze = 1000 // many ties
	}
	for i := range evs {
		evs[i].t = start + (evs[i].t-first)/squeeze
	}
}

// A strict source yields nothing but what it is asked for: the events in the box, and the columns that are read. Its
// batches have any length.
type strict struct {
	event.Source
	events event.Batch
	seed   uint64
}

func (s strict) Scan(_ context.Context, want event.Request) (event.Stream, error) {
	var in []ev
	for _, e := range eventsOf(s.events) {
		b := want.Box
		if e.t >= b.T0 && e.t <= b.T1 && e.x >= int64(b.X0) && e.x <= int64(b.X1) &&
			e.y >= int64(b.Y0) && e.y <= int64(b.Y1) && e.p >= int64(b.P0) && e.p <= int64(b.P1) {
			in = append(in, e)
		}
	}
	return &strictStream{left: batchOf(in), want: want.Columns, r: rand.New(rand.NewPCG(s.seed, 5))}, nil
}

type strictStream struct {
	left   event.Batch
	want   event.Columns
	r      *rand.Rand
	report event.Report
}

func (s *strictStream) Next(ctx context.Context) (event.Batch, error) {
	if err := ctx.Err(); err != nil {
		return event.Batch{}, err
	}
	if s.left.Len() == 0 {
		return event.Batch{}, io.EOF
	}
	n := min(1+s.r.IntN(200), s.left.Len())
	b := s.left.Slice(0, n)
	s.left = s.left.Slice(n, s.left.Len())
	s.report.Events += int64(n)
	x, y, p := b.X(), b.Y(), b.P()
	if !s.want.Has(event.ColX) {
		x = nil
	}
	if !s.want.Has(event.ColY) {
		y = nil
	}
	if !s.want.Has(event.ColP) {
		p = nil
	}
	return event.New(slices.Clone(b.T()), x, y, p), nil
}

func (s *strictStream) Report() *event.Report { return &s.report }
func (s *strictStream) Close() error          { return nil }

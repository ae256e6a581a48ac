package format

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/evq-project/evq/io/event"
)

// An OffSensorError reports an event outside the sensor under the policy error.
type OffSensorError struct {
	Format string
	Index  int64 // of the event in file order, from 0
	X, Y   uint16
	Sensor event.Geometry
}

func (e *OffSensorError) Error() string {
	return fmt.Sprintf("%s: event %d at x=%d, y=%d lies off the sensor of %v; give --size WIDTHxHEIGHT, or --on-offsensor drop or keep",
		e.Format, e.Index, e.X, e.Y, e.Sensor)
}

// OffSensorHint returns an error that says what to do where more than 1 % of the events that were met, or a
// whole axis, lie off the sensor g: the signs of exchanged axes or a wrong size. rep is the report of a
// complete scan.
func OffSensorHint(rep *event.Report, g event.Geometry) error {
	off := rep.Get(event.OffSensor)
	if !g.Known() || off.N == 0 {
		return nil
	}
	met := rep.Events + off.Lost + rep.Get(event.Unsorted).Lost
	x, y := int(rep.MaxX), int(rep.MaxY)
	switch {
	case x < g.Height && y >= g.Height:
		return fmt.Errorf("x reaches only %d and y reaches %d on a sensor of %v: x and y seem exchanged; "+
			"give --swap-xy, or the right --size, or --on-offsensor drop or keep to go on", x, y, g)
	case off.N*100 > met:
		return fmt.Errorf("%d of %d events lie off the sensor of %v (x reaches %d, y reaches %d); "+
			"give the right --size, or --swap-xy, or --on-offsensor drop or keep to go on", off.N, met, g, x, y)
	}
	return nil
}

// placed brings the coordinates of decoded events in order: exchanged axes, and events off the sensor.
type placed struct {
	Decoder
	file   File
	format string
	swap   bool
	policy Choice
	sensor event.Geometry
	rep    *event.Report
	seen   int64
}

func (s *placed) Next(ctx context.Context) (*event.Buffer, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := s.Decoder.Next(ctx)
		if err != nil {
			return nil, s.file.locate(err)
		}
		if s.swap {
			b.X, b.Y = b.Y, b.X
		}
		at := s.seen
		s.seen += int64(b.Len())
		if err := s.check(b, at); err != nil {
			b.Release()
			return nil, err
		}
		if b.Len() > 0 {
			return b, nil
		}
		b.Release()
	}
}

// check applies the off-sensor policy to a buffer whose first event is the at-th of the recording. A column
// that was not asked for is not there to be checked.
func (s *placed) check(b *event.Buffer, at int64) error {
	mx, my := largest(b.X), largest(b.Y)
	s.rep.MaxX, s.rep.MaxY = max(s.rep.MaxX, mx), max(s.rep.MaxY, my)
	if !s.sensor.Known() || !s.off(mx, my) || len(b.X) != b.Len() || len(b.Y) != b.Len() {
		return nil
	}
	n, first := s.count(b)
	switch s.policy {
	case Error:
		s.rep.Count(event.OffSensor, n, at+int64(first))
		return &OffSensorError{Format: s.format, Index: at + int64(first), X: b.X[first], Y: b.Y[first], Sensor: s.sensor}
	case Keep:
		s.rep.Count(event.OffSensor, n, at+int64(first))
	default:
		s.rep.Lose(event.OffSensor, n, at+int64(first))
		s.drop(b)
	}
	return nil
}

// off reports whether a pixel lies outside the sensor.
func (s *placed) off(x, y uint16) bool { return int(x) >= s.sensor.Width || int(y) >= s.sensor.Height }

// count returns how many events lie off the sensor and which is the first.
func (s *placed) count(b *event.Buffer) (n int64, first int) {
	for i, x := range b.X {
		if s.off(x, b.Y[i]) {
			if n == 0 {
				first = i
			}
			n++
		}
	}
	return n, first
}

// drop leaves out the events off the sensor.
func (s *placed) drop(b *event.Buffer) {
	n, withP := 0, len(b.P) == len(b.T)
	for i, x := range b.X {
		if s.off(x, b.Y[i]) {
			continue
		}
		b.T[n], b.X[n], b.Y[n] = b.T[i], x, b.Y[i]
		if withP {
			b.P[n] = b.P[i]
		}
		n++
	}
	b.T, b.X, b.Y = b.T[:n], b.X[:n], b.Y[:n]
	if withP {
		b.P = b.P[:n]
	}
}

// largest returns the largest of v, 0 where it is empty. Nearly always no number of the next 32 is larger than the largest
// so far. That is seen without a look at each: four numbers below 1<<15 are taken from four that have this bit set, and
// where it is then still set, none was larger.
func largest(v []uint16) (m uint16) {
	const every, top = 0x0001_0001_0001_0001, 0x8000_8000_8000_8000
	for len(v) >= 32 && m < 1<<15 {
		w := (*[8]uint64)(unsafe.Pointer(unsafe.SliceData(v)))
		least := uint64(m)*every | top
		seen := w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]
		left := (least - w[0]) & (least - w[1]) & (least - w[2]) & (least - w[3]) &
			(least - w[4]) & (least - w[5]) & (least - w[6]) & (least - w[7])
		if left&^seen&top != top {
			for _, x := range v[:32] {
				m = max(m, x)
			}
		}
		v = v[32:]
	}
	for _, x := range v {
		m = max(m, x)
	}
	return m
}

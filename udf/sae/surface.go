package sae

import (
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// Never is the time at a pixel that has seen no event.
const Never = math.MinInt64

// A Surface holds the time of the last event at each pixel, of each polarity.
type Surface struct {
	Times []int64 // the OFF plane, then the ON plane, each row by row
	g     event.Geometry
}

// NewSurface makes a surface that has seen nothing, for a sensor of known size.
func NewSurface(g event.Geometry) *Surface {
	s := &Surface{Times: make([]int64, 2*g.Width*g.Height), g: g}
	s.Reset()
	return s
}

// Reset forgets every event.
func (s *Surface) Reset() {
	for i := range s.Times {
		s.Times[i] = Never
	}
}

// Add takes in events in time order, and returns how many lay off the sensor.
func (s *Surface) Add(ev udf.Events) (offSensor int64, err error) {
	width, height := s.g.Width, s.g.Height
	x, y, p := ev.X[:len(ev.T)], ev.Y[:len(ev.T)], ev.P[:len(ev.T)]
	for i, t := range ev.T {
		column, row, on := int(x[i]), int(y[i]), uint8(p[i])
		if column >= width || row >= height {
			offSensor++
			continue
		}
		if on > 1 {
			return offSensor, udf.ErrPolarity
		}
		s.Times[(int(on)*height+row)*width+column] = max(t, Never+1)
	}
	return offSensor, nil
}

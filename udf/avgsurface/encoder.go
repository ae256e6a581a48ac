package avgsurface

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/decay"
)

// A point is an event of a cell and polarity.
type point struct {
	t    int64
	x, y uint16
}

// An encoder makes one window after the other: it sorts the events by cell and polarity, and then averages each.
type encoder struct {
	udf.Blocks
	surface   Surface
	g         event.Geometry
	columns   int // of cells
	curve     *decay.Curve
	points    []point   // the window's, by cell and polarity
	ends      []int     // by cell and polarity: where its points end
	sums      []float64 // of one cell and polarity
	offSensor int64
}

// group is the number of the cell and polarity of an event on the sensor.
func (e *encoder) group(x, y uint16, p int8) int {
	return 2*(int(y)/e.surface.Cell*e.columns+int(x)/e.surface.Cell) + int(p&1)
}

func (e *encoder) window(ctx context.Context, ev udf.Events, data []byte) error {
	clear(data)
	if err := e.sort(ev); err != nil {
		return err
	}
	size, start := 4*len(e.sums), 0
	for i, end := range e.ends {
		if end == start {
			continue
		}
		if err := ctx.Err(); err != nil { // a cell can take long
			return err
		}
		e.average(e.points[start:end], data[i*size:][:size])
		start = end
	}
	return nil
}

// sort fills points and ends, by counting: the points of a cell and polarity stay in time order.
func (e *encoder) sort(ev udf.Events) error {
	clear(e.ends)
	on := 0
	for i, x := range ev.X {
		if int(x) >= e.g.Width || int(ev.Y[i]) >= e.g.Height {
			e.offSensor++
			continue
		}
		if uint8(ev.P[i]) > 1 {
			return udf.ErrPolarity
		}
		e.ends[e.group(x, ev.Y[i], ev.P[i])]++
		on++
	}
	if cap(e.points) < on {
		e.points = make([]point, on)
	}
	e.points = e.points[:on]
	start := 0
	for i, n := range e.ends {
		e.ends[i], start = start, start+n
	}
	for i, x := range ev.X {
		if int(x) >= e.g.Width || int(ev.Y[i]) >= e.g.Height {
			continue
		}
		end := &e.ends[e.group(x, ev.Y[i], ev.P[i])]
		e.points[*end] = point{ev.T[i], x, ev.Y[i]}
		*end++
	}
	return nil
}

// average writes the mean surroundings of the points of one cell and polarity.
func (e *encoder) average(points []point, data []byte) {
	clear(e.sums)
	radius := e.surface.Radius
	side, oldest := 2*radius+1, 0
	for i, p := range points {
		e.sums[radius*side+radius]++
		for udf.Duration(points[oldest].t, p.t) > uint64(e.surface.Span) {
			oldest++
		}
		for _, q := range points[oldest:i] {
			dx, dy := int(q.x)-int(p.x)+radius, int(q.y)-int(p.y)+radius
			if uint(dx) < uint(side) && uint(dy) < uint(side) {
				e.sums[dy*side+dx] += e.curve.At(udf.Duration(q.t, p.t))
			}
		}
	}
	for i, sum := range e.sums {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(sum/float64(len(points)))))
	}
}

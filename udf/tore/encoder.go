package tore

import (
	"encoding/binary"
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// never is the time where there was no event.
const never = math.MinInt64

// An encoder makes one window after the other.
type encoder struct {
	udf.Blocks
	volume    Volume
	g         event.Geometry
	floor     float64 // ln(Min+1)
	none      uint32  // the bits of the value where there is no event
	times     []int64 // with a memory: the last K of each pixel and polarity, side by side, the last first
	found     []uint8 // without one: how many events of a pixel are in the block; all 0 between windows
	offSensor int64
}

// value is that of an event d microseconds ago.
func (e *encoder) value(d uint64) float32 {
	d = min(d, uint64(e.volume.Max))
	return float32(max(math.Log(float64(d+1))-e.floor, 0))
}

// window goes back through the events until each pixel has K.
func (e *encoder) window(w event.Window, all udf.Events, data []byte) error {
	for i := 0; i+4 <= len(data); i += 4 {
		binary.LittleEndian.PutUint32(data[i:], e.none)
	}
	clear(e.found)
	ev := all.Slice(w.Lo, w.Hi)
	width, height, k := e.g.Width, e.g.Height, e.volume.K
	for i := len(ev.T) - 1; i >= 0; i-- {
		column, row, on := int(ev.X[i]), int(ev.Y[i]), uint8(ev.P[i])
		if column >= width || row >= height {
			e.offSensor++
			continue
		}
		if on > 1 {
			return udf.ErrPolarity
		}
		pixel := row*width + column
		found := &e.found[int(on)*width*height+pixel]
		if int(*found) == k {
			continue
		}
		at := (int(on)*k+int(*found))*width*height + pixel
		binary.LittleEndian.PutUint32(data[4*at:], math.Float32bits(e.value(udf.Duration(ev.T[i], w.End))))
		*found++
	}
	return nil
}

// add remembers events.
func (e *encoder) add(ev udf.Events) error {
	width, height, k := e.g.Width, e.g.Height, e.volume.K
	x, y, p := ev.X[:len(ev.T)], ev.Y[:len(ev.T)], ev.P[:len(ev.T)]
	for i, t := range ev.T {
		column, row, on := int(x[i]), int(y[i]), uint8(p[i])
		if column >= width || row >= height {
			e.offSensor++
			continue
		}
		if on > 1 {
			return udf.ErrPolarity
		}
		last := e.times[k*((int(on)*height+row)*width+column):][:k]
		copy(last[1:], last)
		last[0] = max(t, never+1)
	}
	return nil
}

// show makes a block of the events that were added.
func (e *encoder) show(end int64, data []byte) {
	pixels, k := e.g.Width*e.g.Height, e.volume.K
	for cell := range 2 * pixels {
		at := cell/pixels*k*pixels + cell%pixels
		for i, t := range e.times[k*cell:][:k] {
			value := e.none
			if t != never {
				value = math.Float32bits(e.value(udf.Duration(t, end)))
			}
			binary.LittleEndian.PutUint32(data[4*(at+i*pixels):], value)
		}
	}
}

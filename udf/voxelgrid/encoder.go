package voxelgrid

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// An encoder adds up one bin after the other. Events come in time order, so at any time only two bins are under way:
// sums holds the two of each pixel side by side, those of even bins first, and all of it is 0 between windows.
type encoder struct {
	udf.Blocks
	grid      Grid
	g         event.Geometry
	sums      []float64
	half      [2]int     // by polarity: where in a pixel's sums its own begin
	sign      [2]float64 // by polarity: what an event counts
	offSensor int64
}

// An axis turns times into positions among the bins.
type axis struct {
	from  int64
	span  uint64
	scale float64 // the position of the end
}

// tau is scale*(t-from)/span, within [0, scale]; 0 where the span is.
func (a axis) tau(t int64) float64 {
	d := udf.Duration(a.from, t)
	if d >= a.span {
		if a.span == 0 {
			return 0
		}
		return a.scale
	}
	return a.scale * float64(d) / float64(a.span)
}

// window makes the block of one window.
func (e *encoder) window(w event.Window, all udf.Events, data []byte) error {
	ev, bins := all.Slice(w.Lo, w.Hi), e.grid.Bins
	n := len(ev.T)
	if n == 0 {
		clear(data)
		return nil
	}
	from, to := e.grid.Timebase.Span(ev.T, w)
	a := axis{from: from, span: udf.Duration(from, to), scale: float64(bins)}
	if e.grid.Variant == BMinus1 {
		a.scale--
	}
	before, done := 0, 0 // where the events of the bin before this one begin, and those of this one
	for bin := range bins {
		end := done + sort.Search(n-done, func(i int) bool { return a.tau(ev.T[done+i]) >= float64(bin+1) })
		if err := e.add(ev.Slice(done, end), a, bin); err != nil {
			clear(e.sums)
			return err
		}
		e.finish(ev.Slice(before, end), bin, data)
		before, done = done, end
	}
	off, err := ev.Slice(done, n).Check(e.g) // beyond the last bin
	e.offSensor += off
	if e.grid.Normalize == E2VID {
		normalize(data)
	}
	return err
}

// add adds the events from a bin to the next one to the sums of both.
func (e *encoder) add(ev udf.Events, a axis, bin int) error {
	width, height, sums, halves := e.g.Width, e.g.Height, e.sums, e.grid.halves()
	this, next := bin&1, 1-bin&1
	keep := 1.0
	if bin == e.grid.Bins-1 {
		keep = 0 // there is no next bin
	}
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
		f := a.tau(t) - float64(bin)
		at := 2*halves*(row*width+column) + e.half[on&1]
		pair := sums[at : at+2 : at+2]
		pair[this] += e.sign[on&1] * (1 - f)
		pair[next] += e.sign[on&1] * keep * f
	}
	return nil
}

// finish moves the sums of a bin, which only the given events added to, into the block.
func (e *encoder) finish(ev udf.Events, bin int, data []byte) {
	pixels, halves := e.g.Width*e.g.Height, e.grid.halves()
	for half := range halves {
		plane := data[4*pixels*(half*e.grid.Bins+bin):][:4*pixels]
		sums := e.sums[2*half+bin&1:]
		if len(ev.T) > pixels/4 { // then going through all pixels is faster
			for i := range pixels {
				v := &sums[2*halves*i]
				binary.LittleEndian.PutUint32(plane[4*i:], math.Float32bits(float32(*v)))
				*v = 0
			}
			continue
		}
		clear(plane)
		y := ev.Y[:len(ev.X)]
		for i, x := range ev.X {
			column, row := int(x), int(y[i])
			if column >= e.g.Width || row >= e.g.Height {
				continue
			}
			pixel := row*e.g.Width + column
			if v := &sums[2*halves*pixel]; *v != 0 { // otherwise an earlier event moved it
				binary.LittleEndian.PutUint32(plane[4*pixel:], math.Float32bits(float32(*v)))
				*v = 0
			}
		}
	}
}

// each replaces the values of a block that are not 0.
func each(data []byte, do func(float64) float64) {
	for i := 0; i+4 <= len(data); i += 4 {
		if v := math.Float32frombits(binary.LittleEndian.Uint32(data[i:])); v != 0 {
			binary.LittleEndian.PutUint32(data[i:], math.Float32bits(float32(do(float64(v)))))
		}
	}
}

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
	before    []uint32   // where in sums the events of the bin before this one lie, each place once or more
	touched   []uint32   // and those of this bin
	places    []uint32   // of the values that are not 0, for Normalize
	offSensor int64
}

// An axis turns times into positions among the bins. It counts in microseconds, or in pairs of them where an int64
// does not hold the span.
type axis struct {
	from  uint64
	shift uint
	last  int64   // the end, from from on
	scale float64 // the position of the end
	span  float64
}

// newAxis puts to at the position scale; all positions are 0 where no time passes.
func newAxis(from, to int64, scale float64) axis {
	d := udf.Duration(from, to)
	a := axis{from: uint64(from), shift: uint(d >> 63), scale: scale}
	a.last = int64(d >> a.shift)
	if a.span = float64(a.last); d == 0 {
		a.span, a.scale = 1, 0
	}
	return a
}

// tau is scale*(t-from)/(to-from), in [0, scale].
func (a *axis) tau(t int64) float64 {
	d := int64((uint64(t) - a.from) >> a.shift)
	if d < 0 {
		d = 0
	} else if d > a.last {
		d = a.last
	}
	return a.scale * float64(d) / a.span
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
	scale := float64(bins)
	if e.grid.Variant == BMinus1 {
		scale--
	}
	a, done := newAxis(from, to, scale), 0
	e.touched = e.touched[:0]
	for bin := range bins {
		end := done + sort.Search(n-done, func(i int) bool { return a.tau(ev.T[done+i]) >= float64(bin+1) })
		e.before, e.touched = e.touched, e.before
		if err := e.add(ev.Slice(done, end), &a, bin); err != nil {
			clear(e.sums)
			return err
		}
		e.finish(bin, data)
		done = end
	}
	off, err := ev.Slice(done, n).Check(e.g) // beyond the last bin
	e.offSensor += off
	if e.grid.Normalize == E2VID {
		e.places = normalize(data, e.places)
	}
	return err
}

// add adds the events from a bin to the next one to the sums of both.
func (e *encoder) add(ev udf.Events, a *axis, bin int) error {
	room := min(len(ev.T), e.most()) + 1
	if room > cap(e.touched) {
		e.touched = make([]uint32, room)
	}
	width, height, sums, touched, stride := uint(e.g.Width), uint(e.g.Height), e.sums, e.touched[:room], 2*uint(e.grid.halves())
	half, sign, keep, from := e.half, e.sign, 1.0, float64(bin)
	if bin == e.grid.Bins-1 {
		keep = 0 // there is no next bin
	}
	this, next, found := uint(bin&1), uint(1-bin&1), 0
	x, y, p := ev.X[:len(ev.T)], ev.Y[:len(ev.T)], ev.P[:len(ev.T)]
	for i, t := range ev.T {
		column, row, on := uint(x[i]), uint(y[i]), uint8(p[i])
		if column >= width || row >= height {
			e.offSensor++
			continue
		}
		if on > 1 {
			return udf.ErrPolarity
		}
		f, s := a.tau(t)-from, sign[on&1]
		at := stride*(row*width+column) + uint(half[on&1])
		pair := sums[at : at+2 : at+2]
		touched[found] = uint32(at)
		first := 0 // a place is new where nothing was added; no branch may hang on memory that is far
		if math.Float64bits(pair[next]) == 0 {
			first = 1
		}
		found = min(found+first, room-1)
		pair[this] += s * (1 - f)
		pair[next] += s * keep * f
	}
	e.touched = touched[:found]
	return nil
}

// most is how many touched places are kept: from there on, going through all pixels is faster.
func (e *encoder) most() int { return len(e.sums)/16 + 1 }

// finish moves the sums of a bin into the block.
func (e *encoder) finish(bin int, data []byte) {
	pixels, halves := e.g.Width*e.g.Height, e.grid.halves()
	if len(e.before) == e.most() || len(e.touched) == e.most() { // there may be more
		for half := range halves {
			e.finishAll(data[4*pixels*(half*e.grid.Bins+bin):][:4*pixels], e.sums[2*half+bin&1:], 2*halves)
		}
		return
	}
	for half := range halves {
		clear(data[4*pixels*(half*e.grid.Bins+bin):][:4*pixels])
	}
	for _, places := range [][]uint32{e.before, e.touched} {
		for _, at := range places {
			v := &e.sums[int(at)+bin&1]
			to := bin*pixels + int(at)/2 // of the only half
			if halves == 2 {
				to = (int(at)>>1&1*e.grid.Bins+bin)*pixels + int(at)/4
			}
			cell := data[4*to:][:4] // of the value and what is there one is 0: a place may come twice
			binary.LittleEndian.PutUint32(cell, binary.LittleEndian.Uint32(cell)|math.Float32bits(float32(*v)))
			*v = 0
		}
	}
}

// finishAll moves the sums of all pixels of a plane.
func (e *encoder) finishAll(plane []byte, sums []float64, stride int) {
	for i := 0; len(plane) >= 4; i += stride {
		v := sums[i]
		sums[i] = 0
		binary.LittleEndian.PutUint32(plane, math.Float32bits(float32(v)))
		plane = plane[4:]
	}
}

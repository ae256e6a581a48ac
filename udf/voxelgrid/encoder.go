package voxelgrid

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// An encoder adds up one bin after the other. Events come in time order, so at any time only two bins are under way:
// sums holds the two of each pixel side by side, those of even bins first, and all of it is 0 between windows.
type encoder struct {
	udf.Pieces
	grid      Grid
	g         event.Geometry
	sums      []float64
	half      [2]int     // by polarity: where in a pixel's sums its own begin
	sign      [2]float64 // by polarity: what an event counts
	before    []uint32   // where in sums the events of the bin before this one lie, each place once or more
	touched   []uint32   // and those of this bin
	places    []uint32   // of the values that are not 0, for Normalize
	offSensor int64

	data []byte // the block of the window at hand; nil where there is none
	bin  int    // the bin under way
	axis axis
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
	ev := all.Slice(w.Lo, w.Hi)
	n := len(ev.T)
	if n == 0 {
		clear(data)
		return nil
	}
	e.begin(w, ev.T[0], ev.T[n-1], data)
	if err := e.take(ev); err != nil {
		return err
	}
	e.end()
	return nil
}

// Begin implements udf.GradualEncoder.
func (e *encoder) Begin(w event.Window, first, last int64, data []byte) error {
	if err := e.Start(w, data); err != nil {
		return err
	}
	e.begin(w, first, last, data)
	return nil
}

// Add implements udf.GradualEncoder.
func (e *encoder) Add(ctx context.Context, b event.Batch) error { return e.Take(ctx, b, e.take) }

// Finish implements udf.GradualEncoder.
func (e *encoder) Finish(event.Window) error {
	e.end()
	return nil
}

func (e *encoder) begin(w event.Window, first, last int64, data []byte) {
	from, to := e.grid.Timebase.Limits(first, last, w)
	scale := float64(e.grid.Bins)
	if e.grid.Variant == BMinus1 {
		scale--
	}
	if e.data != nil { // a window was not finished
		clear(e.sums)
	}
	e.data, e.bin, e.axis = data, 0, newAxis(from, to, scale)
	e.before, e.touched = e.before[:0], e.touched[:0]
}

// take adds the next events of the window.
func (e *encoder) take(ev udf.Events) error {
	for e.bin < e.grid.Bins {
		edge := float64(e.bin + 1)
		n := sort.Search(len(ev.T), func(i int) bool { return e.axis.tau(ev.T[i]) >= edge })
		if err := e.add(ev.Slice(0, n)); err != nil {
			return err
		}
		if ev = ev.Slice(n, len(ev.T)); len(ev.T) == 0 {
			return nil
		}
		e.advance()
	}
	off, err := ev.Check(e.g) // beyond the last bin
	e.offSensor += off
	return err
}

// advance moves the sums of the bin under way into the block, and goes on to the next.
func (e *encoder) advance() {
	e.finish(e.bin, e.data)
	e.before, e.touched = e.touched, e.before[:0]
	e.bin++
}

func (e *encoder) end() {
	for e.bin < e.grid.Bins {
		e.advance()
	}
	if e.grid.Normalize == E2VID {
		e.places = normalize(e.data, e.places)
	}
	e.data = nil
}

// block is how many events are looked at together: first where they lie and what they count, then the adding. The
// second loop is short, so that the processor waits for many far places at a time.
const block = 256

// add adds events from the bin under way to the next one to the sums of both.
func (e *encoder) add(ev udf.Events) error {
	var places [block]uint32
	var shares [block][2]float64
	for lo := 0; lo < len(ev.T); lo += block {
		n, err := e.shares(ev.Slice(lo, min(lo+block, len(ev.T))), &places, &shares)
		if err != nil {
			return err
		}
		e.sum(places[:n], &shares)
	}
	return nil
}

// shares finds where in sums the events lie, and what each adds to this bin and to the next.
func (e *encoder) shares(ev udf.Events, places *[block]uint32, shares *[block][2]float64) (n int, err error) {
	width, height, stride, a := uint(e.g.Width), uint(e.g.Height), 2*uint(e.grid.halves()), e.axis
	half, sign, keep, from := e.half, e.sign, 1.0, float64(e.bin)
	if e.bin == e.grid.Bins-1 {
		keep = 0 // there is no next bin
	}
	x, y, p := ev.X[:len(ev.T)], ev.Y[:len(ev.T)], ev.P[:len(ev.T)]
	for i, t := range ev.T {
		column, row, on := uint(x[i]), uint(y[i]), uint8(p[i])
		if column >= width || row >= height {
			e.offSensor++
			continue
		}
		if on > 1 {
			return 0, udf.ErrPolarity
		}
		f, s := a.tau(t)-from, sign[on&1]
		places[n&(block-1)] = uint32(stride*(row*width+column) + uint(half[on&1]))
		shares[n&(block-1)] = [2]float64{s * (1 - f), s * keep * f}
		n++
	}
	return n, nil
}

// sum adds shares at places, and notes which places are new.
func (e *encoder) sum(places []uint32, shares *[block][2]float64) {
	found := len(e.touched)
	if found == e.most() {
		e.sumAll(places, shares)
		return
	}
	room := min(found+len(places), e.most()) + 1
	touched := slices.Grow(e.touched, room-found)[:room]
	sums, this, next := e.sums, uint(e.bin&1), uint(1-e.bin&1)
	for i, at := range places {
		pair, share := sums[at:at+2:at+2], &shares[i&(block-1)]
		touched[found] = at
		first := 0 // a place is new where nothing was added; no branch may hang on memory that is far
		if math.Float64bits(pair[next]) == 0 {
			first = 1
		}
		found = min(found+first, room-1)
		pair[this] += share[0]
		pair[next] += share[1]
	}
	e.touched = touched[:found]
}

// sumAll adds shares at places that nobody needs to note.
func (e *encoder) sumAll(places []uint32, shares *[block][2]float64) {
	sums, this, next := e.sums, uint(e.bin&1), uint(1-e.bin&1)
	for i, at := range places {
		pair, share := sums[at:at+2:at+2], &shares[i&(block-1)]
		pair[this] += share[0]
		pair[next] += share[1]
	}
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

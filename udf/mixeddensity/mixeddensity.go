// Package mixeddensity is the mixed density stack: sums of polarity over time bins that halve towards the end of
// a window, each plane with all that came before it.
//
// It turns windows into blocks on the processor; it refuses to know where windows come from.
package mixeddensity

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "mixed_density"

// A Stack describes blocks of shape (Bins, H/Downsample, W/Downsample) of int8. Plane i holds, for each pixel, the
// number of ON events less the number of OFF events in bins 0 to i, modulo 256 as int8 wraps, then bounded by the
// cutoff. The last bin is the second half of the window, the one before it the quarter before that, and so on;
// bin 0 is all that is left at the beginning.
//
// Source: uzh-rpg/RVT, data/utils/representations.py, MixedDensityEventStack, after Nam et al. 2022 (Stereo Depth
// from Events Cameras: Concentrate and Focus on the Future).
type Stack struct {
	Bins       int // 1 to 32
	Cutoff     int // the largest magnitude that is kept, 1..127; 0 for none
	Downsample int // 1, or 2: only events with odd x and odd y count (torch's nearest-exact by 0.5)
}

var _ udf.Representation = Stack{}

// String prints the function as users write it: the bins, the cutoff, and what is not the default.
func (s Stack) String() string {
	cutoff, downsample := "none", ""
	if s.Cutoff > 0 {
		cutoff = fmt.Sprint(s.Cutoff)
	}
	if s.Downsample > 1 {
		downsample = fmt.Sprintf(", downsample=%d", s.Downsample)
	}
	return fmt.Sprintf("%s(bins=%d, cutoff=%s%s)", name, s.Bins, cutoff, downsample)
}

// Layout returns the shape of the blocks.
func (s Stack) Layout(g event.Geometry) tensor.Layout {
	d := max(s.Downsample, 1)
	return tensor.Layout{Name: name, Shape: tensor.Shape{s.Bins, g.Height / d, g.Width / d}, DType: tensor.Int8}
}

// Blank implements udf.Blanker: a window without events makes zeros.
func (Stack) Blank() bool { return true }

// Columns are all of them.
func (s Stack) Columns() event.Columns { return event.AllColumns }

// Gradual implements udf.Gradual: only the times of a window tell where its bins lie.
func (s Stack) Gradual() (ok, foretold bool) { return true, true }

// Validate reports parameters that are not possible on any sensor.
func (s Stack) Validate() error {
	switch {
	case s.Bins < 1 || s.Bins > maxBins:
		return fmt.Errorf("mixeddensity: %d bins; 1 to %d are possible", s.Bins, maxBins)
	case s.Cutoff < 0 || s.Cutoff > math.MaxInt8:
		return fmt.Errorf("mixeddensity: cutoff %d; 1 to 127 is possible, and 0 for none", s.Cutoff)
	case s.Downsample < 0 || s.Downsample > 2: // 0 is 1
		return fmt.Errorf("mixeddensity: downsample %d; 1 and 2 are possible", s.Downsample)
	}
	return nil
}

// Open readies an encoder for a sensor of size g. It runs on the processor, whatever the device.
func (s Stack) Open(g event.Geometry, _ accel.Device) (udf.Encoder, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if !g.Known() {
		return nil, fmt.Errorf("%s: the size of the sensor is not known; give it with --size WIDTHxHEIGHT", name)
	}
	shape := s.Layout(g).Shape
	if plane := int64(shape[1]) * int64(shape[2]); plane < 1 || plane*int64(s.Bins) > math.MaxInt32 {
		return nil, fmt.Errorf("%s: a block of %v; 1 to 2^31-1 values are possible", name, shape)
	}
	e := &encoder{Pieces: udf.Pieces{Blocks: udf.Blocks{Name: name, Columns: s.Columns(), Size: s.Bins * shape[1] * shape[2]}}, bins: s.Bins, cutoff: s.Cutoff, width: g.Width, height: g.Height, columns: shape[2], plane: shape[1] * shape[2],
		half: s.Downsample == 2, firsts: firsts(s.Bins)}
	return e, nil
}

// An encoder adds up one window after the other.
type encoder struct {
	udf.Pieces
	bins, cutoff   int
	width, height  int // of the sensor
	columns, plane int // of the block
	half           bool
	firsts         []float32
	offSensor      int64

	data        []byte // the block of the window at hand
	bin         int    // the bin under way
	first, last int64  // the times of the window's first and last event
}

var errPolarity = errors.New("a polarity that is neither 0 nor 1")

func (e *encoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	n := w.Events.Len()
	t, x, y, p := w.Events.T(), w.Events.X(), w.Events.Y(), w.Events.P()
	if len(x) != n || len(y) != n || len(p) != n {
		return fmt.Errorf("%s: the events lack x, y or p; read all columns", name)
	}
	if len(dst) != len(w.Windows) {
		return fmt.Errorf("%s: %d blocks for %d windows", name, len(dst), len(w.Windows))
	}
	for i, win := range w.Windows {
		lo, hi := win.Lo, win.Hi
		switch {
		case lo < 0 || hi < lo || hi > n:
			return fmt.Errorf("%s: window %d holds events %d to %d of %d", name, win.Index, lo, hi, n)
		case len(dst[i].Data) != e.bins*e.plane:
			return fmt.Errorf("%s: window %d has a block of %d bytes, not %d", name, win.Index, len(dst[i].Data), e.bins*e.plane)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err := e.window(t[lo:hi], x[lo:hi], y[lo:hi], p[lo:hi], dst[i].Data); err != nil {
			return fmt.Errorf("%s: window %d: %w", name, win.Index, err)
		}
	}
	return nil
}

// window adds up the events of one window.
func (e *encoder) window(t []int64, x, y []uint16, p []int8, dst []byte) error {
	if len(t) == 0 {
		clear(dst)
		return nil
	}
	e.begin(t[0], t[len(t)-1], dst)
	if err := e.take(udf.Events{T: t, X: x, Y: y, P: p}); err != nil {
		return err
	}
	e.finish()
	return nil
}

// Begin implements udf.GradualEncoder.
func (e *encoder) Begin(w event.Window, first, last int64, data []byte) error {
	if err := e.Start(w, data); err != nil {
		return err
	}
	e.begin(first, last, data)
	return nil
}

// Add implements udf.GradualEncoder.
func (e *encoder) Add(ctx context.Context, b event.Batch) error { return e.Take(ctx, b, e.take) }

// Finish implements udf.GradualEncoder.
func (e *encoder) Finish(event.Window) error {
	e.finish()
	return nil
}

func (e *encoder) begin(first, last int64, data []byte) {
	e.data, e.bin, e.first, e.last = data, 0, first, last
	clear(e.planeOf(0))
}

// take adds up the next events of the window.
func (e *encoder) take(ev udf.Events) error {
	for {
		n := len(ev.T)
		if e.bin+1 < e.bins {
			n = before(ev.T, e.first, e.last, e.firsts[e.bin+1])
		}
		if err := e.add(ev.X[:n], ev.Y[:n], ev.P[:n], e.planeOf(e.bin)); err != nil {
			return err
		}
		if ev = ev.Slice(n, len(ev.T)); len(ev.T) == 0 {
			return nil
		}
		e.advance()
	}
}

// advance begins the next plane as a copy of the one before it, so that it holds the events of all bins up to its own.
func (e *encoder) advance() {
	copy(e.planeOf(e.bin+1), e.planeOf(e.bin))
	e.bin++
}

func (e *encoder) planeOf(bin int) []byte { return e.data[bin*e.plane:][:e.plane] }

func (e *encoder) finish() {
	for e.bin+1 < e.bins {
		e.advance()
	}
	if e.cutoff > 0 {
		bound(e.data, int8(e.cutoff))
	}
}

// add adds the polarities of events, -1 and +1, to their pixels.
func (e *encoder) add(x, y []uint16, p []int8, plane []byte) error {
	y, p = y[:len(x)], p[:len(x)]
	for i, column := range x {
		column, row, on := int(column), int(y[i]), uint8(p[i])
		if column >= e.width || row >= e.height {
			e.offSensor++
			continue
		}
		if on > 1 {
			return errPolarity
		}
		if e.half {
			if column&row&1 == 0 {
				continue
			}
			column, row = column>>1, row>>1
		}
		plane[row*e.columns+column] += 2*on - 1
	}
	return nil
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return nil }

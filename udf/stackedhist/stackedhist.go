// Package stackedhist is the stacked histogram: counts by polarity and time bin at every pixel.
//
// It turns windows into kernel jobs; it refuses to know how a device counts and where windows come from.
package stackedhist

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "stacked_histogram"

// A Histogram describes blocks of shape (2*Bins, H/Downsample, W/Downsample) of uint8. The channel of an event
// is p*Bins + bin: the OFF planes first.
//
// Source: uzh-rpg/RVT, data/utils/representations.py, StackedHistogram.
type Histogram struct {
	Bins       int
	Cutoff     int // the largest count that is kept, 1..255; 0 for none, which is 255
	Downsample int // 1, or 2: only events with odd x and odd y count (torch's nearest-exact by 0.5)
	Overflow   Overflow
	Rounding   accel.Rounding
	Timebase   Timebase
	OffSensor  OffSensor
}

// Overflow says what becomes of counts beyond 255.
type Overflow uint8

const (
	// Saturating counts stay at the cutoff.
	Saturating Overflow = iota
	// Wrapping counts start over at 256, before the cutoff: 255 events give 10, 256 give 0, 266 give 10. It is
	// RVT's fast mode.
	Wrapping
)

// String returns the word users type.
func (o Overflow) String() string { return [...]string{"saturate", "wrap"}[o] }

// Timebase says what time the bins divide.
type Timebase uint8

const (
	// OfEvents is the time from the first event of the window to its last.
	OfEvents Timebase = iota
	// OfWindow is the time from the window's start to its end.
	OfWindow
)

// String returns the word users type.
func (t Timebase) String() string { return [...]string{"events", "window"}[t] }

// OffSensor says what becomes of events off the sensor.
type OffSensor uint8

const (
	// Drop leaves them out and counts them.
	Drop OffSensor = iota
	// FlatIndex places them by the flat index that RVT computes without a check, so that one at x = W lands in
	// the next row; only what lies beyond the block is left out. The recording must be read with off-sensor
	// events kept.
	FlatIndex
)

// String returns the word users type.
func (o OffSensor) String() string { return [...]string{"drop", "rvt-flat"}[o] }

var _ udf.Representation = Histogram{}

// String prints the function as users write it: the bins, the cutoff, and what is not the default.
func (h Histogram) String() string {
	cutoff := fmt.Sprint(h.Cutoff)
	if h.Cutoff == 0 || h.Cutoff == math.MaxUint8 {
		cutoff = "none"
	}
	args := []string{fmt.Sprintf("bins=%d", h.Bins), "cutoff=" + cutoff}
	if h.Downsample > 1 {
		args = append(args, fmt.Sprintf("downsample=%d", h.Downsample))
	}
	if h.Overflow != Saturating {
		args = append(args, fmt.Sprintf("overflow=%v", h.Overflow))
	}
	if h.Rounding != accel.Torch32 {
		args = append(args, fmt.Sprintf("rounding=%v", h.Rounding))
	}
	if h.Timebase != OfEvents {
		args = append(args, fmt.Sprintf("timebase=%v", h.Timebase))
	}
	if h.OffSensor != Drop {
		args = append(args, fmt.Sprintf("offsensor=%v", h.OffSensor))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// Layout returns the shape of the blocks.
func (h Histogram) Layout(g event.Geometry) tensor.Layout {
	grid := h.Grid(g)
	return tensor.Layout{Name: name, Shape: tensor.Shape{grid.Channels(), grid.Rows(), grid.Columns()}, DType: tensor.Uint8}
}

// Blank implements udf.Blanker: a window without events makes zeros.
func (Histogram) Blank() bool { return true }

// Columns are all of them.
func (h Histogram) Columns() event.Columns { return event.AllColumns }

// Grid returns what a device counts on a sensor of size g.
func (h Histogram) Grid(g event.Geometry) accel.Grid {
	cutoff := h.Cutoff
	if cutoff == 0 {
		cutoff = math.MaxUint8
	}
	return accel.Grid{Bins: h.Bins, Width: g.Width, Height: g.Height, Downsample: max(h.Downsample, 1), Cutoff: cutoff,
		Wrap: h.Overflow == Wrapping, Flat: h.OffSensor == FlatIndex}
}

// Validate reports parameters that are not possible on any sensor.
func (h Histogram) Validate() error {
	if h.Overflow > Wrapping || h.Rounding > accel.Exact || h.Timebase > OfWindow || h.OffSensor > FlatIndex {
		return errors.New("stackedhist: a parameter that has no name; use the constants")
	}
	return h.Grid(event.Geometry{Width: 2, Height: 2}).Validate()
}

// Open readies a kernel of d for a sensor of size g.
func (h Histogram) Open(g event.Geometry, d accel.Device) (udf.Encoder, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	if !g.Known() {
		return nil, fmt.Errorf("%s: the size of the sensor is not known; give it with --size WIDTHxHEIGHT", name)
	}
	k, err := d.Open(h.Grid(g))
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", name, d.Name(), err)
	}
	return &encoder{hist: h, kernel: k}, nil
}

// An encoder scatters one window after the other. It keeps its segments for the next.
type encoder struct {
	hist      Histogram
	kernel    accel.Kernel
	segments  []accel.Segment
	offSensor int64
}

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
		if lo < 0 || hi < lo || hi > n || uint64(hi-lo) > math.MaxUint32 {
			return fmt.Errorf("%s: window %d holds events %d to %d of %d; up to 2^32-1 of them are possible", name, win.Index, lo, hi, n)
		}
		if err := e.window(ctx, t[lo:hi], x[lo:hi], y[lo:hi], p[lo:hi], win.Start, win.End, dst[i].Data); err != nil {
			return fmt.Errorf("%s: window %d: %w", name, win.Index, err)
		}
	}
	return nil
}

// window counts the events of the window [start, end], which are all that is given.
func (e *encoder) window(ctx context.Context, t []int64, x, y []uint16, p []int8, start, end int64, dst []uint8) error {
	if e.hist.Timebase == OfEvents && len(t) > 0 {
		start, end = t[0], t[len(t)-1]
	}
	e.segments = e.hist.Rounding.Segments(e.segments[:0], t, 0, 0, len(t), start, end, e.hist.Bins)
	off, err := e.kernel.Scatter(ctx, accel.Job{X: x, Y: y, P: p, Segments: e.segments, Windows: 1}, dst)
	e.offSensor += off
	return err
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return e.kernel.Close() }

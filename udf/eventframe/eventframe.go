// Package eventframe counts the events of each pixel and polarity in slices of a window.
//
// It turns windows into blocks on the processor; it refuses to know where windows come from.
package eventframe

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
const name = "event_frame"

// maxBins is far beyond any use.
const maxBins = 1 << 12

// A Frame describes blocks of shape (Bins, 2, H, W) of uint32, OFF first: how many events of each polarity there are
// at each pixel in each of Bins equal slices of the window. Signed blocks have the shape (Bins, H, W) and the type
// int32 and hold the number of ON events less the number of OFF events. No count overflows: a window holds up to
// 2^31-1 events.
//
// Source: Maqueda et al. 2018, Event-based Vision meets Deep Learning on Steering Prediction for Self-driving Cars;
// neuromorphs/tonic 1.7, functional.to_frame_numpy, for the variant Tonic.
type Frame struct {
	Bins     int // 1 to 4096
	Variant  Variant
	Signed   bool
	Mode     Mode
	Cutoff   int          // the largest magnitude that is kept; 0 for none
	Timebase udf.Timebase // what time the slices divide
}

// Variant says how a window is sliced. T0 and T1 are its limits.
type Variant uint8

const (
	// Exact puts an event in slice min(floor((t-T0)*Bins/(T1-T0)), Bins-1): none is lost.
	Exact Variant = iota
	// Tonic makes slices of W = floor((T1-T0)/Bins) microseconds and drops the events at or after T0+Bins*W, so the
	// last ones always. A window shorter than Bins microseconds has W = 0 and is all zeros; the encoder's Notes say so.
	Tonic
)

// String returns the word users type.
func (v Variant) String() string { return [...]string{"exact", "tonic"}[v] }

// Mode says what is kept of a count.
type Mode uint8

const (
	// Count keeps it, up to Cutoff.
	Count Mode = iota
	// Binary keeps 1 where it is not 0, and its sign in signed blocks.
	Binary
)

// String returns the word users type.
func (m Mode) String() string { return [...]string{"count", "binary"}[m] }

var _ udf.Representation = Frame{}

// String prints the function as users write it: the bins, and what is not the default.
func (f Frame) String() string {
	args := []string{fmt.Sprintf("bins=%d", f.Bins)}
	if f.Variant != Exact {
		args = append(args, fmt.Sprintf("variant=%v", f.Variant))
	}
	if f.Signed {
		args = append(args, "signed=true")
	}
	if f.Mode != Count {
		args = append(args, fmt.Sprintf("mode=%v", f.Mode))
	}
	if f.Cutoff > 0 {
		args = append(args, fmt.Sprintf("cutoff=%d", f.Cutoff))
	}
	if f.Timebase != udf.OfEvents {
		args = append(args, fmt.Sprintf("timebase=%v", f.Timebase))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// Layout returns the shape of the blocks.
func (f Frame) Layout(g event.Geometry) tensor.Layout {
	if f.Signed {
		return tensor.Layout{Name: name, Shape: tensor.Shape{f.Bins, g.Height, g.Width}, DType: tensor.Int32}
	}
	return tensor.Layout{Name: name, Shape: tensor.Shape{f.Bins, 2, g.Height, g.Width}, DType: tensor.Uint32}
}

// Blank implements udf.Blanker: a window without events makes zeros.
func (Frame) Blank() bool { return true }

// Columns are all of them.
func (f Frame) Columns() event.Columns { return event.AllColumns }

// Gradual implements udf.Gradual: only the times of a window tell where its slices lie.
func (f Frame) Gradual() (ok, foretold bool) { return true, true }

// Validate reports parameters that are not possible on any sensor.
func (f Frame) Validate() error {
	switch {
	case f.Variant > Tonic || f.Mode > Binary || f.Timebase > udf.OfWindow:
		return errors.New("eventframe: a parameter that has no name; use the constants")
	case f.Bins < 1 || f.Bins > maxBins:
		return fmt.Errorf("eventframe: %d bins; 1 to %d are possible", f.Bins, maxBins)
	case f.Cutoff < 0 || f.Cutoff > math.MaxInt32:
		return fmt.Errorf("eventframe: cutoff %d; 1 to 2^31-1 is possible, and 0 for none", f.Cutoff)
	}
	return nil
}

// limit is the largest magnitude that is kept.
func (f Frame) limit() int32 {
	switch {
	case f.Mode == Binary:
		return 1
	case f.Cutoff > 0:
		return int32(f.Cutoff)
	}
	return math.MaxInt32
}

// Open readies an encoder for a sensor of size g. It runs on the device if that counts tables, else
// on the processor.
func (f Frame) Open(g event.Geometry, d accel.Device) (udf.Encoder, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if e, err := f.onDevice(g, d); e != nil || err != nil {
		return e, err
	}
	blocks, err := udf.BlocksOf(f, g)
	if err != nil {
		return nil, err
	}
	e := &encoder{Pieces: udf.Pieces{Blocks: blocks}, frame: f, g: g, slices: udf.Slices{Whole: f.Variant == Tonic}}
	e.count = e.countUp
	if f.Signed {
		e.count = e.countSigned
	}
	return e, nil
}

func (e *encoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	return e.Each(ctx, w, dst, e.window)
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return nil }

// Notes implements udf.Noter.
func (e *encoder) Notes() []string { return e.slices.Notes(name) }

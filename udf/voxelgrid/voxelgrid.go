// Package voxelgrid is the voxel grid: each event's polarity shared out between the two time bins nearest to it.
//
// It turns windows into blocks on the processor; it refuses to know where windows come from.
package voxelgrid

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "voxel_grid"

// A Grid describes blocks of shape (Bins, H, W) of float32. An event at tau = Bins*(t-T0)/(T1-T0) adds s*(1-f) to
// bin i and s*f to bin i+1 where those exist; i and f are the whole part and the fraction of tau, s is +1 for ON and
// -1 for OFF. So the last event, at tau = Bins, adds nothing: that is the definition's, and that of variant b-1, which
// has tau = (Bins-1)*(t-T0)/(T1-T0), differs. Where T1 = T0 all events are in bin 0. Sums are in float64 in the order
// of the events, and rounded once.
//
// Sources: Zhu et al. 2019, Unsupervised Event-based Learning of Optical Flow, Depth, and Egomotion, eq. 1 and 2;
// Rebecq et al. 2019, uzh-rpg/rpg_e2vid, for variant b-1 and for Normalize.
type Grid struct {
	Bins      int // 1 to 4096
	Variant   Variant
	Normalize Normalize
	// Unsigned gives the polarities planes of their own, (2*Bins, H, W), the OFF planes first, in which both count +1.
	Unsigned bool
	Timebase udf.Timebase // T0 and T1: those of the window's events, or of the window
}

// Variant says where in a window the bins lie.
type Variant uint8

const (
	// Zhu puts bin i at i/Bins of the window.
	Zhu Variant = iota
	// BMinus1 puts bin i at i/(Bins-1), so that the last lies at the window's end and no polarity is lost.
	BMinus1
)

// String returns the word users type.
func (v Variant) String() string { return [...]string{"zhu", "b-1"}[v] }

// Normalize says what becomes of the sums.
type Normalize uint8

const (
	// None leaves them.
	None Normalize = iota
	// E2VID gives the values of a block that are not 0 the mean 0 and the standard deviation 1.
	E2VID
)

// String returns the word users type.
func (n Normalize) String() string { return [...]string{"none", "e2vid"}[n] }

var _ udf.Representation = Grid{}

// String prints the function as users write it: the bins, and what is not the default.
func (v Grid) String() string {
	args := []string{fmt.Sprintf("bins=%d", v.Bins)}
	if v.Variant != Zhu {
		args = append(args, fmt.Sprintf("variant=%v", v.Variant))
	}
	if v.Normalize != None {
		args = append(args, fmt.Sprintf("normalize=%v", v.Normalize))
	}
	if v.Unsigned {
		args = append(args, "signed=false")
	}
	if v.Timebase != udf.OfEvents {
		args = append(args, fmt.Sprintf("timebase=%v", v.Timebase))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// halves is the number of polarities that have planes of their own.
func (v Grid) halves() int {
	if v.Unsigned {
		return 2
	}
	return 1
}

// Layout returns the shape of the blocks.
func (v Grid) Layout(g event.Geometry) tensor.Layout {
	return tensor.Layout{Name: name, Shape: tensor.Shape{v.halves() * v.Bins, g.Height, g.Width}, DType: tensor.Float32}
}

// Blank implements udf.Blanker: a window without events makes zeros.
func (Grid) Blank() bool { return true }

// Columns are all of them.
func (v Grid) Columns() event.Columns { return event.AllColumns }

// Gradual implements udf.Gradual: only the times of a window tell where its bins lie.
func (Grid) Gradual() (ok, foretold bool) { return true, true }

// Validate reports parameters that are not possible on any sensor.
func (v Grid) Validate() error {
	if v.Variant > BMinus1 || v.Normalize > E2VID || v.Timebase > udf.OfWindow {
		return errors.New("voxelgrid: a parameter that has no name; use the constants")
	}
	if v.Bins < 1 || v.Bins > maxBins {
		return fmt.Errorf("voxelgrid: %d bins; 1 to %d are possible", v.Bins, maxBins)
	}
	return nil
}

// Open readies an encoder for a sensor of size g. It runs on the processor, whatever the device, and takes 16 bytes
// for each pixel, 32 where the polarities are apart.
func (v Grid) Open(g event.Geometry, _ accel.Device) (udf.Encoder, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	blocks, err := udf.BlocksOf(v, g)
	if err != nil {
		return nil, err
	}
	e := &encoder{Pieces: udf.Pieces{Blocks: blocks}, grid: v, g: g, sums: make([]float64, 2*v.halves()*g.Width*g.Height), sign: [2]float64{-1, 1}}
	if v.Unsigned {
		e.half, e.sign = [2]int{0, 2}, [2]float64{1, 1}
	}
	return e, nil
}

func (e *encoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	return e.Each(ctx, w, dst, e.window)
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return nil }

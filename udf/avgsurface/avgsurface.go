// Package avgsurface is the averaged time surface of HATS: the mean, over the events of a cell of pixels, of what the
// surroundings of each looked like.
//
// It turns windows into blocks on the processor; it refuses to know where windows come from.
package avgsurface

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/decay"
)

// name is what users type.
const name = "averaged_time_surface"

const (
	maxCell    = 1 << 10
	maxRadius  = 127
	linearTaus = 3 // a linear decay reaches 0 after so many time constants, as in tonic
)

// A Surface describes blocks of shape (cells, 2, 2*Radius+1, 2*Radius+1) of float32. The sensor is divided into cells
// of Cell by Cell pixels, row by row, those at its right and lower edge perhaps smaller. The surroundings of an event
// at time t are a square of pixels around it, to which itself adds 1 and each event before it, of the same cell and
// polarity and not older than Span, exp(-(t-t')/Tau) at its place. A block holds the mean of them over the events of
// each cell and polarity, OFF first, and zeros where there are none. Events that come before in the recording count
// as before, also at the same time.
//
// Sources: Sironi et al. 2018, HATS: Histograms of Averaged Time Surfaces for Robust Event-based Object
// Classification; neuromorphs/tonic 1.7, functional.to_averaged_timesurface_numpy, for the event itself, which the
// paper leaves out, and for the linear decay max(1-(t-t')/(3*Tau), 0).
//
// The work for an event grows with the events of its cell within Span.
type Surface struct {
	Cell   int   // 1 to 1024
	Radius int   // 0 to 127
	Span   int64 // microseconds
	Tau    int64 // microseconds, up to an hour
	Decay  decay.Kind
}

// Entry makes the surface available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "the mean surroundings of the events of each cell: (cells, 2, 2*radius+1, 2*radius+1) float32, cells row by row, OFF first",
	Source: "Sironi et al. 2018 (HATS)",
	Params: []udf.Param{
		{Name: "cell", Default: "10", Doc: "the side of a cell, 1 to 1024 pixels"},
		{Name: "radius", Default: "3", Doc: "how far the surroundings of an event reach, 0 to 127 pixels"},
		{Name: "span", Default: "100ms", Doc: "how old an event may be to be seen around another"},
		{Name: "tau", Default: "50ms", Doc: "the time constant, 1us to 1h"},
		decay.Param(),
	},
	New: func(a udf.Args) (udf.Representation, error) {
		s := Surface{Decay: decay.Of(a)}
		var err error
		if s.Cell, err = a.Int("cell", 1, maxCell); err != nil {
			return nil, err
		}
		if s.Radius, err = a.Int("radius", 0, maxRadius); err != nil {
			return nil, err
		}
		if s.Span, err = a.Micros("span", 0, 1<<50); err != nil {
			return nil, err
		}
		if s.Tau, err = a.Micros("tau", 1, decay.MaxTau); err != nil {
			return nil, err
		}
		return s, nil
	},
}

var _ udf.Representation = Surface{}

// String prints the function as users write it: all parameters but the decay, and that where it is not the default.
func (s Surface) String() string {
	args := []string{fmt.Sprintf("cell=%d", s.Cell), fmt.Sprintf("radius=%d", s.Radius),
		fmt.Sprintf("span=%v", time.Duration(s.Span)*time.Microsecond), fmt.Sprintf("tau=%v", time.Duration(s.Tau)*time.Microsecond)}
	if s.Decay != decay.Exp {
		args = append(args, fmt.Sprintf("decay=%v", s.Decay))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// cells returns how many cells there are in a row and in a column.
func (s Surface) cells(g event.Geometry) (columns, rows int) {
	return (g.Width + s.Cell - 1) / max(s.Cell, 1), (g.Height + s.Cell - 1) / max(s.Cell, 1)
}

// Layout returns the shape of the blocks.
func (s Surface) Layout(g event.Geometry) tensor.Layout {
	columns, rows := s.cells(g)
	return tensor.Layout{Name: name, Shape: tensor.Shape{columns * rows, 2, 2*s.Radius + 1, 2*s.Radius + 1}, DType: tensor.Float32}
}

// Blank implements udf.Blanker: a window without events makes zeros.
func (Surface) Blank() bool { return true }

// Columns are all of them.
func (s Surface) Columns() event.Columns { return event.AllColumns }

// Open readies an encoder for a sensor of size g. It runs on the processor, whatever the device, and takes 16 bytes
// for each event of a window.
func (s Surface) Open(g event.Geometry, _ accel.Device) (udf.Encoder, error) {
	if err := decay.Check(s.Decay, s.Tau); err != nil {
		return nil, fmt.Errorf("avgsurface: %w", err)
	}
	if s.Cell < 1 || s.Cell > maxCell || s.Radius < 0 || s.Radius > maxRadius || s.Span < 0 {
		return nil, fmt.Errorf("avgsurface: a cell of %d, a radius of %d, a span of %d us; 1 to %d, 0 to %d, and 0 or more are possible",
			s.Cell, s.Radius, s.Span, maxCell, maxRadius)
	}
	blocks, err := udf.BlocksOf(s, g)
	if err != nil {
		return nil, err
	}
	columns, rows := s.cells(g)
	side := 2*s.Radius + 1
	return &encoder{Blocks: blocks, surface: s, g: g, columns: columns, curve: decay.New(s.Decay, s.Tau, linearTaus),
		ends: make([]int, 2*columns*rows), sums: make([]float64, side*side)}, nil
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return nil }

func (e *encoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	return e.Each(ctx, w, dst, func(w event.Window, all udf.Events, data []byte) error {
		return e.window(ctx, all.Slice(w.Lo, w.Hi), data)
	})
}

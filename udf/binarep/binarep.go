// Package binarep is Bina-Rep: frames whose values are the bits of binary event images in a row.
//
// It turns windows into blocks on the processor; it refuses to know where windows come from.
package binarep

import (
	"context"
	"encoding/binary"
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
const name = "bina_rep"

const (
	maxBits   = 24 // what a float32 holds
	maxFrames = 1 << 12
)

// A Frames describes blocks of shape (Frames, 2, H, W) of float32, OFF first. A window is cut into Frames*Bits slices
// of time; the bits of a frame's number say in which of its slices the pixel has an event, the first slice being the
// most significant, and the value is the number divided by 2^Bits-1.
//
// Sources: Barchid, Mennesson and Djeraba 2022, Bina-Rep Event Frames: a Simple and Effective Representation for
// Event-based Cameras; tonic 1.7, functional.to_bina_rep_numpy over functional.to_frame_numpy, for the variant Tonic.
type Frames struct {
	Frames   int  // 1 to 4096
	Bits     int  // 1 to 24
	Whole    bool // slices are cut as tonic does, see eventframe.Tonic
	Timebase udf.Timebase
}

// variant is a value of the parameter of that name.
type variant bool

// String returns the word users type.
func (v variant) String() string {
	if v {
		return "tonic"
	}
	return "exact"
}

// Entry makes the frames available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "frames of numbers whose bits say in which slices of time a pixel has events: (frames, 2, H, W) float32, OFF first",
	Source: "Barchid et al. 2022 (Bina-Rep Event Frames)",
	Params: []udf.Param{
		{Name: "frames", Default: "1", Doc: "frames of a window, 1 to 4096"},
		{Name: "bits", Default: "8", Doc: "binary images that a frame is made of, 1 to 24"},
		udf.WordParam("variant", "exact: every event counts; tonic: slices of whole microseconds, what is left over is dropped", variant(false), variant(true)),
		udf.TimebaseParam(),
	},
	New: func(a udf.Args) (udf.Representation, error) {
		f := Frames{Whole: bool(udf.Word(a, "variant", variant(false), variant(true))), Timebase: a.Timebase()}
		var err error
		if f.Frames, err = a.Int("frames", 1, maxFrames); err != nil {
			return nil, err
		}
		if f.Bits, err = a.Int("bits", 1, maxBits); err != nil {
			return nil, err
		}
		return f, nil
	},
}

var _ udf.Representation = Frames{}

// String prints the function as users write it: frames and bits, and what is not the default.
func (f Frames) String() string {
	args := []string{fmt.Sprintf("frames=%d", f.Frames), fmt.Sprintf("bits=%d", f.Bits)}
	if f.Whole {
		args = append(args, "variant=tonic")
	}
	if f.Timebase != udf.OfEvents {
		args = append(args, fmt.Sprintf("timebase=%v", f.Timebase))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// Layout returns the shape of the blocks.
func (f Frames) Layout(g event.Geometry) tensor.Layout {
	return tensor.Layout{Name: name, Shape: tensor.Shape{f.Frames, 2, g.Height, g.Width}, DType: tensor.Float32}
}

// Blank implements udf.Blanker: a window without events makes zeros.
func (Frames) Blank() bool { return true }

// Columns are all of them.
func (f Frames) Columns() event.Columns { return event.AllColumns }

// Open readies an encoder for a sensor of size g. It runs on the processor, whatever the device.
func (f Frames) Open(g event.Geometry, _ accel.Device) (udf.Encoder, error) {
	switch {
	case f.Timebase > udf.OfWindow:
		return nil, errors.New("binarep: a time base that has no name; use the constants")
	case f.Frames < 1 || f.Frames > maxFrames || f.Bits < 1 || f.Bits > maxBits:
		return nil, fmt.Errorf("binarep: %d frames of %d bits; 1 to %d of 1 to %d are possible", f.Frames, f.Bits, maxFrames, maxBits)
	}
	blocks, err := udf.BlocksOf(f, g)
	if err != nil {
		return nil, err
	}
	return &encoder{Blocks: blocks, frames: f, g: g, slices: udf.Slices{Whole: f.Whole}}, nil
}

// An encoder sets bits in place, and then makes values of them.
type encoder struct {
	udf.Blocks
	frames    Frames
	g         event.Geometry
	slices    udf.Slices
	offSensor int64
}

func (e *encoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	return e.Each(ctx, w, dst, e.window)
}

func (e *encoder) window(w event.Window, all udf.Events, data []byte) error {
	clear(data)
	ev := all.Slice(w.Lo, w.Hi)
	if len(ev.T) == 0 {
		return nil
	}
	from, to := e.frames.Timebase.Span(ev.T, w)
	size, bits, done := len(data)/e.frames.Frames, e.frames.Bits, 0
	for _, part := range e.slices.Cut(ev.T, from, to, e.frames.Frames*bits) {
		start, bin := done, int(part.Bin)
		done = int(part.Start + part.Len)
		if err := e.set(ev.Slice(start, done), 1<<(bits-1-bin%bits), data[bin/bits*size:][:size]); err != nil {
			return err
		}
	}
	top := float64(uint32(1)<<bits - 1)
	for i := 0; i+4 <= len(data); i += 4 {
		if v := binary.LittleEndian.Uint32(data[i:]); v != 0 {
			binary.LittleEndian.PutUint32(data[i:], math.Float32bits(float32(float64(v)/top)))
		}
	}
	off, err := ev.Slice(done, len(ev.T)).Check(e.g) // what no slice holds
	e.offSensor += off
	return err
}

// set sets a bit where there are events.
func (e *encoder) set(ev udf.Events, bit uint32, data []byte) error {
	width, height := e.g.Width, e.g.Height
	x, y, p := ev.X, ev.Y[:len(ev.X)], ev.P[:len(ev.X)]
	for i, column := range x {
		column, row, on := int(column), int(y[i]), uint8(p[i])
		if column >= width || row >= height {
			e.offSensor++
			continue
		}
		if on > 1 {
			return udf.ErrPolarity
		}
		cell := data[4*((int(on)*height+row)*width+column):][:4]
		binary.LittleEndian.PutUint32(cell, binary.LittleEndian.Uint32(cell)|bit)
	}
	return nil
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return nil }

// Notes implements udf.Noter.
func (e *encoder) Notes() []string { return e.slices.Notes(name) }

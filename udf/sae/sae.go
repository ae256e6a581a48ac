// Package sae is the surface of active events: the time of the last event at each pixel, of each polarity.
//
// It turns windows into blocks on the processor; it refuses to know where windows come from.
package sae

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "sae"

// A Times describes blocks of shape (2, H, W) of int64, OFF first: the time in microseconds of the last event at each
// pixel, and Never where there was none. Never is -1 by default and not 0, because recordings begin at 0; for times
// that are negative another value can be chosen. It is the one representation whose empty window is not zeros.
//
// Source: Benosman et al. 2014, Event-Based Visual Flow.
type Times struct {
	Never  int64
	Memory udf.Memory
}

// Entry makes the surface available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "the time of the last event at each pixel, in microseconds: (2, H, W) int64, OFF first",
	Source: "Benosman et al. 2014 (Event-Based Visual Flow), surface of active events",
	Params: []udf.Param{
		{Name: "never", Default: "-1", Doc: "the time at pixels without an event, microseconds"},
		udf.MemoryParam(udf.WindowOnly),
	},
	New: func(a udf.Args) (udf.Representation, error) {
		never, err := strconv.ParseInt(a["never"], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("never is a whole number of 64 bits, not %q", a["never"])
		}
		return Times{Never: never, Memory: a.Memory()}, nil
	},
}

var _ udf.Rememberer = Times{}

// String prints the function as users write it: what is not the default.
func (s Times) String() string {
	switch {
	case s.Memory == udf.Recording && s.Never != -1:
		return fmt.Sprintf("%s(never=%d, memory=%v)", name, s.Never, s.Memory)
	case s.Memory == udf.Recording:
		return fmt.Sprintf("%s(memory=%v)", name, s.Memory)
	case s.Never != -1:
		return fmt.Sprintf("%s(never=%d)", name, s.Never)
	}
	return name + "()"
}

// Layout returns the shape of the blocks.
func (s Times) Layout(g event.Geometry) tensor.Layout {
	return tensor.Layout{Name: name, Shape: tensor.Shape{2, g.Height, g.Width}, DType: tensor.Int64}
}

// Columns are all of them.
func (s Times) Columns() event.Columns { return event.AllColumns }

// Remembers implements udf.Rememberer.
func (s Times) Remembers() bool { return s.Memory == udf.Recording }

// Open readies an encoder for a sensor of size g. It runs on the processor, whatever the device, and takes 16 bytes
// for each pixel.
func (s Times) Open(g event.Geometry, _ accel.Device) (udf.Encoder, error) {
	if s.Memory > udf.Recording {
		return nil, errors.New("sae: a memory that has no name; use the constants")
	}
	blocks, err := udf.BlocksOf(s, g)
	if err != nil {
		return nil, err
	}
	return &encoder{Pieces: udf.Pieces{Blocks: blocks}, times: s, surface: NewSurface(g)}, nil
}

// An encoder copies the surface after each window.
type encoder struct {
	udf.Pieces
	times     Times
	surface   *Surface
	data      []byte // the block of the window that was begun
	offSensor int64
}

func (e *encoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	if e.times.Memory == udf.Recording {
		return e.Remember(ctx, w, dst, e.add, e.show)
	}
	return e.Each(ctx, w, dst, func(w event.Window, all udf.Events, data []byte) error {
		e.surface.Reset()
		if err := e.add(all.Slice(w.Lo, w.Hi)); err != nil {
			return err
		}
		e.show(w.End, data)
		return nil
	})
}

// Gradual implements udf.Gradual.
func (s Times) Gradual() (ok, foretold bool) { return s.Memory == udf.WindowOnly, false }

// Begin implements udf.GradualEncoder.
func (e *encoder) Begin(w event.Window, _, _ int64, data []byte) error {
	e.surface.Reset()
	e.data = data
	return e.Start(w, data)
}

// Add implements udf.GradualEncoder.
func (e *encoder) Add(ctx context.Context, b event.Batch) error { return e.Take(ctx, b, e.add) }

// Finish implements udf.GradualEncoder.
func (e *encoder) Finish(w event.Window) error {
	e.show(w.End, e.data)
	return nil
}

func (e *encoder) add(ev udf.Events) error {
	off, err := e.surface.Add(ev)
	e.offSensor += off
	return err
}

func (e *encoder) show(_ int64, data []byte) {
	for i, t := range e.surface.Times {
		if t == Never {
			t = e.times.Never
		}
		binary.LittleEndian.PutUint64(data[8*i:], uint64(t))
	}
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return nil }

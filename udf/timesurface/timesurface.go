// Package timesurface is the time surface: how recent the last event at each pixel is, of each polarity.
//
// It turns windows into blocks on the processor; it refuses to know where windows come from.
package timesurface

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/decay"
	"github.com/evq-project/evq/udf/sae"
)

// name is what users type.
const name = "time_surface"

// A Surface describes blocks of shape (2, H, W) of float32, OFF first: exp(-(T-t)/Tau), or max(1-(T-t)/Tau, 0) where
// Decay is linear. T is the window's end and t the time of the last event at the pixel; where there was none the value
// is 0.
//
// Sources: Lagorce et al. 2017, HOTS: A Hierarchy of Event-Based Time-Surfaces for Pattern Recognition, for the
// exponential; Afshar et al. 2020, Event-Based Feature Extraction Using Adaptive Selection Thresholds, for the linear
// decay. With memory=recording the values are those of tonic's functional.to_timesurface_numpy.
type Surface struct {
	Tau    int64 // microseconds, up to an hour
	Decay  decay.Kind
	Memory udf.Memory
}

// Entry makes the surface available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "how recent the last event at each pixel is, from 1 at the window's end to 0: (2, H, W) float32, OFF first",
	Source: "Lagorce et al. 2017 (HOTS), eq. 3",
	Params: []udf.Param{
		{Name: "tau", Default: "50ms", Doc: "the time constant, 1us to 1h"},
		decay.Param(),
		udf.MemoryParam(udf.WindowOnly),
	},
	New: func(a udf.Args) (udf.Representation, error) {
		tau, err := a.Micros("tau", 1, decay.MaxTau)
		if err != nil {
			return nil, err
		}
		return Surface{Tau: tau, Decay: decay.Of(a), Memory: a.Memory()}, nil
	},
}

var _ udf.Rememberer = Surface{}

// String prints the function as users write it: the time constant, and what is not the default.
func (s Surface) String() string {
	args := []string{fmt.Sprintf("tau=%v", time.Duration(s.Tau)*time.Microsecond)}
	if s.Decay != decay.Exp {
		args = append(args, fmt.Sprintf("decay=%v", s.Decay))
	}
	if s.Memory != udf.WindowOnly {
		args = append(args, fmt.Sprintf("memory=%v", s.Memory))
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// Layout returns the shape of the blocks.
func (s Surface) Layout(g event.Geometry) tensor.Layout {
	return tensor.Layout{Name: name, Shape: tensor.Shape{2, g.Height, g.Width}, DType: tensor.Float32}
}

// Columns are all of them.
func (s Surface) Columns() event.Columns { return event.AllColumns }

// Remembers implements udf.Rememberer.
func (s Surface) Remembers() bool { return s.Memory == udf.Recording }

// Gradual implements udf.Gradual.
func (s Surface) Gradual() (ok, foretold bool) { return s.Memory == udf.WindowOnly, false }

// Open readies an encoder for a sensor of size g. It runs on the processor, whatever the device; with a memory of the
// recording, and for windows in parts, it takes 16 bytes for each pixel.
func (s Surface) Open(g event.Geometry, _ accel.Device) (udf.Encoder, error) {
	if err := decay.Check(s.Decay, s.Tau); err != nil {
		return nil, fmt.Errorf("timesurface: %w", err)
	}
	if s.Memory > udf.Recording {
		return nil, errors.New("timesurface: a memory that has no name; use the constants")
	}
	blocks, err := udf.BlocksOf(s, g)
	if err != nil {
		return nil, err
	}
	e := &encoder{Pieces: udf.Pieces{Blocks: blocks}, g: g, curve: decay.New(s.Decay, s.Tau, 1)}
	if s.Memory == udf.Recording {
		e.last = sae.NewSurface(g)
	}
	return e, nil
}

// An encoder makes one window after the other.
type encoder struct {
	udf.Pieces
	g         event.Geometry
	curve     *decay.Curve
	last      *sae.Surface // nil where only the window's events count
	parts     *sae.Surface // of the window that was begun; nil before the first
	data      []byte       // its block
	offSensor int64
}

func (e *encoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	if e.last != nil {
		return e.Remember(ctx, w, dst, e.add, e.show)
	}
	return e.Each(ctx, w, dst, e.window)
}

// window goes back through the events, so that the first at a pixel is the last. An earlier one can only replace a 0
// by a 0.
func (e *encoder) window(w event.Window, all udf.Events, data []byte) error {
	clear(data)
	width, height := e.g.Width, e.g.Height
	ev := all.Slice(w.Lo, w.Hi)
	if n := len(ev.T); n > len(data)/4/denseShare && udf.Duration(ev.T[0], ev.T[n-1]) < math.MaxUint32 {
		return e.dense(w.End, ev, data)
	}
	t, x, y, p := ev.T, ev.X[:len(ev.T)], ev.Y[:len(ev.T)], ev.P[:len(ev.T)]
	for i := len(t) - 1; i >= 0; i-- {
		column, row, on := int(x[i]), int(y[i]), uint8(p[i])
		if column >= width || row >= height {
			e.offSensor++
			continue
		}
		if on > 1 {
			return udf.ErrPolarity
		}
		cell := data[4*((int(on)*height+row)*width+column):][:4]
		if binary.LittleEndian.Uint32(cell) == 0 {
			binary.LittleEndian.PutUint32(cell, math.Float32bits(float32(e.curve.At(udf.Duration(t[i], w.End)))))
		}
	}
	return nil
}

// denseShare is which share of the block's values there must be events for it to pay that every value is gone through.
const denseShare = 4

// dense makes the block of a window with many events, in which no branch should hang on memory that is far: the values
// hold the time of the last event first, from 1 on and counted from the window's first, and then what it makes.
func (e *encoder) dense(end int64, ev udf.Events, data []byte) error {
	width, height, first := e.g.Width, e.g.Height, ev.T[0]
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
		binary.LittleEndian.PutUint32(data[4*((int(on)*height+row)*width+column):][:4], uint32(t-first)+1)
	}
	for ; len(data) >= 4; data = data[4:] {
		if d := binary.LittleEndian.Uint32(data); d != 0 {
			last := first + int64(d-1)
			binary.LittleEndian.PutUint32(data, math.Float32bits(float32(e.curve.At(udf.Duration(last, end)))))
		}
	}
	return nil
}

// Begin implements udf.GradualEncoder.
func (e *encoder) Begin(w event.Window, _, _ int64, data []byte) error {
	if e.parts == nil {
		e.parts = sae.NewSurface(e.g)
	} else {
		e.parts.Reset()
	}
	e.data = data
	return e.Start(w, data)
}

// Add implements udf.GradualEncoder.
func (e *encoder) Add(ctx context.Context, b event.Batch) error {
	return e.Take(ctx, b, func(ev udf.Events) error { return e.addTo(e.parts, ev) })
}

// Finish implements udf.GradualEncoder.
func (e *encoder) Finish(w event.Window) error {
	e.showOf(e.parts, w.End, e.data)
	return nil
}

// add remembers the times of events.
func (e *encoder) add(ev udf.Events) error { return e.addTo(e.last, ev) }

func (e *encoder) addTo(s *sae.Surface, ev udf.Events) error {
	off, err := s.Add(ev)
	e.offSensor += off
	return err
}

// show makes a block of all events that were added.
func (e *encoder) show(end int64, data []byte) { e.showOf(e.last, end, data) }

func (e *encoder) showOf(s *sae.Surface, end int64, data []byte) {
	for i, t := range s.Times {
		value := uint32(0)
		if t != sae.Never {
			value = math.Float32bits(float32(e.curve.At(udf.Duration(t, end))))
		}
		binary.LittleEndian.PutUint32(data[4*i:], value)
	}
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return nil }

// Blank implements udf.Blanker: without a memory, a window without events makes zeros.
func (s Surface) Blank() bool { return s.Memory != udf.Recording }

// Package eventcount counts the events of each pixel, whatever their polarity.
//
// It turns windows into blocks on the processor; it refuses to know where windows come from.
package eventcount

import (
	"context"
	"encoding/binary"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "event_count"

// A Count describes blocks of shape (H, W) of uint32: how many events of either polarity there are at each pixel. No
// count overflows: a window holds up to 2^31-1 events.
//
// Source: Gallego et al. 2020, Event-based Vision: A Survey, section 3.1 (event frame or 2D histogram).
type Count struct{}

// Entry makes the counts available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "how many events there are at each pixel, of either polarity: (H, W) uint32",
	Source: "Gallego et al. 2020 (Event-based Vision: A Survey), 2D histogram of events",
	New:    func(udf.Args) (udf.Representation, error) { return Count{}, nil },
}

var _ udf.Representation = Count{}

// String prints the function as users write it.
func (Count) String() string { return name + "()" }

// Layout returns the shape of the blocks.
func (Count) Layout(g event.Geometry) tensor.Layout {
	return tensor.Layout{Name: name, Shape: tensor.Shape{g.Height, g.Width}, DType: tensor.Uint32}
}

// Blank implements udf.Blanker: a window without events makes zeros.
func (Count) Blank() bool { return true }

// Columns are the coordinates.
func (Count) Columns() event.Columns { return event.ColX | event.ColY }

// Open readies an encoder for a sensor of size g. It runs on the device if that counts tables, else
// on the processor.
func (c Count) Open(g event.Geometry, d accel.Device) (udf.Encoder, error) {
	if e, err := c.onDevice(g, d); e != nil || err != nil {
		return e, err
	}
	blocks, err := udf.BlocksOf(c, g)
	if err != nil {
		return nil, err
	}
	return &encoder{Pieces: udf.Pieces{Blocks: blocks}, g: g}, nil
}

// Gradual implements udf.Gradual.
func (Count) Gradual() (ok, foretold bool) { return true, false }

// An encoder counts one window after the other in place.
type encoder struct {
	udf.Pieces
	g         event.Geometry
	data      []byte // the block of the window that was begun
	offSensor int64
}

func (e *encoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	return e.Each(ctx, w, dst, e.window)
}

func (e *encoder) window(w event.Window, all udf.Events, data []byte) error {
	clear(data)
	e.count(all.X[w.Lo:w.Hi], all.Y[w.Lo:w.Hi], data)
	return nil
}

// Begin implements udf.GradualEncoder.
func (e *encoder) Begin(w event.Window, _, _ int64, data []byte) error {
	clear(data)
	e.data = data
	return e.Start(w, data)
}

// Add implements udf.GradualEncoder.
func (e *encoder) Add(ctx context.Context, b event.Batch) error {
	return e.Take(ctx, b, func(ev udf.Events) error { e.count(ev.X, ev.Y, e.data); return nil })
}

// Finish implements udf.GradualEncoder.
func (e *encoder) Finish(event.Window) error { return nil }

// count counts events up.
func (e *encoder) count(x, y []uint16, data []byte) {
	width, height := e.g.Width, e.g.Height
	y = y[:len(x)]
	for i, column := range x {
		column, row := int(column), int(y[i])
		if column >= width || row >= height {
			e.offSensor++
			continue
		}
		cell := data[4*(row*width+column):][:4]
		binary.LittleEndian.PutUint32(cell, binary.LittleEndian.Uint32(cell)+1)
	}
}

func (e *encoder) OffSensor() int64 { return e.offSensor }
func (e *encoder) Close() error     { return nil }

package main

import (
	"context"
	"fmt"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Recent is a representation: blocks of shape (H, W) of int8 that hold the polarity of each pixel's last event, 1 for
// ON and -1 for OFF, and 0 where the last Within microseconds of the window brought none.
type Recent struct{ Within int64 }

// RecentEntry makes it available by name.
var RecentEntry = udf.Entry{
	Name:   "recent",
	Doc:    "the polarity of the last event at each pixel: (H, W) int8",
	Source: "this example",
	Params: []udf.Param{{Name: "within", Default: "20ms", Doc: "how long before the window's end an event may lie"}},
	New: func(a udf.Args) (udf.Representation, error) {
		within, err := a.Micros("within", 1, 60_000_000)
		return Recent{within}, err
	},
}

// String prints the function as explain shows it.
func (r Recent) String() string { return fmt.Sprintf("recent(within=%dus)", r.Within) }

// Layout returns the shape of the blocks.
func (Recent) Layout(g event.Geometry) tensor.Layout {
	return tensor.Layout{Name: "recent", Shape: tensor.Shape{g.Height, g.Width}, DType: tensor.Int8}
}

// Columns are what it reads beside t.
func (Recent) Columns() event.Columns { return event.ColX | event.ColY | event.ColP }

// Open readies an encoder; the engine opens one for each of its goroutines.
func (r Recent) Open(g event.Geometry, _ accel.Device) (udf.Encoder, error) {
	blocks, err := udf.BlocksOf(r, g)
	return &recentEncoder{Blocks: blocks, within: r.Within, size: g}, err
}

type recentEncoder struct {
	udf.Blocks
	within    int64
	size      event.Geometry
	offSensor int64
}

// Encode fills a block for each window; Each checks that they fit together.
func (e *recentEncoder) Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error {
	return e.Each(ctx, w, dst, e.window)
}

// window fills one block, whose old values are stale.
func (e *recentEncoder) window(w event.Window, all udf.Events, data []byte) error {
	clear(data)
	for i := w.Lo; i < w.Hi; i++ {
		x, y := int(all.X[i]), int(all.Y[i])
		switch {
		case x >= e.size.Width || y >= e.size.Height:
			e.offSensor++
		case w.End-all.T[i] <= e.within:
			data[y*e.size.Width+x] = byte(2*all.P[i] - 1)
		}
	}
	return nil
}

// OffSensor returns how many events had no place.
func (e *recentEncoder) OffSensor() int64 { return e.offSensor }

// Close has nothing to give back.
func (e *recentEncoder) Close() error { return nil }

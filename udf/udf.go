// Package udf defines the functions that need to see many events: representations, filters with memory
// and aggregates.
//
// It knows events, blocks and devices; it refuses to know files and plans.
package udf

import (
	"context"
	"fmt"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
)

// A Representation turns the events of a window into one dense block.
type Representation interface {
	// String prints the function with its parameters, as users write it.
	fmt.Stringer
	// Layout returns what its blocks look like on a sensor of known size.
	Layout(g event.Geometry) tensor.Layout
	// Columns are the event columns it reads beside t.
	Columns() event.Columns
	// Open readies an encoder for a sensor of known size.
	Open(g event.Geometry, d accel.Device) (Encoder, error)
}

// A Rememberer is a representation whose blocks depend on events before their window. The engine hands its encoder
// all windows in order, and with each the events since the window before (event.Window.Since). Encode is also called
// with events and no window: they lie between windows.
type Rememberer interface {
	Representation
	Remembers() bool
}

// A Blanker is a representation that may tell without looking what a window without events makes: zeros. Such windows
// cost it nothing.
type Blanker interface {
	Representation
	Blank() bool
}

// An Encoder encodes windows on one device. It serves one goroutine at a time; the engine opens one for each.
type Encoder interface {
	// Encode fills one block for each window of w: dst[i].Data, whose old values are stale. The other fields
	// of the blocks are the caller's.
	Encode(ctx context.Context, w event.Windowed, dst []tensor.Block) error
	// OffSensor returns how many events Encode has left out so far because they lay off the sensor.
	OffSensor() int64
	Close() error
}

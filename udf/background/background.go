// Package background is the filter that leaves out events which no neighbour shares: the background activity of a
// sensor's pixels.
//
// It judges events by when the pixels around them fired; it refuses to know what moves in the scene.
package background

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "background_activity"

// A Filter keeps an event if at least Neighbours of the pixels around its own fired, with either polarity, less than
// Window before it: in the recording's order, so that of two events at one time the first supports the second. The
// event's own pixel does not count; dropped events support others as kept ones do. At the sensor's border there are
// fewer pixels around.
//
// Source: Delbruck 2008 (Frame-free dynamic digital vision), with the eight pixels around and one neighbour, there on
// pixels subsampled by choice. With Four, tonic 1.7, functional.denoise_numpy; with FromZero as well it is equal to
// that for times from 0 on.
type Filter struct {
	Window     int64 // microseconds, 1 to udf.MaxHorizon
	Neighbours int   // 1 to 8, or to 4
	Four       bool  // only the pixels left, right, above and below
	// FromZero counts all pixels as having fired at time 0, so that a recording that starts there is not emptied at
	// first: events at 0 <= t < Window are kept where the sensor has enough pixels around.
	FromZero bool
}

var _ udf.Filter = Filter{}

// Entry makes the filter available by name.
var Entry = udf.FilterEntry{
	Name:   name,
	Doc:    "keeps events that neighbouring pixels support by having fired shortly before",
	Source: "Delbruck 2008, Frame-free dynamic digital vision; neighbourhood=4,start=zero: tonic, denoise_numpy",
	Params: []udf.Param{
		{Name: "window", Default: "2ms", Doc: "a neighbour must have fired less than so long before"},
		{Name: "neighbours", Default: "1", Doc: "how many pixels must support an event"},
		{Name: "neighbourhood", Default: "8", Choices: []string{"4", "8"}, Doc: "which pixels are neighbours: those that share a side, or a corner too"},
		{Name: "start", Default: "empty", Choices: []string{"empty", "zero"}, Doc: "no pixel fired before the recording, or all at time 0"},
	},
	New: fromArgs,
}

func fromArgs(a udf.Args) (udf.Filter, error) {
	f := Filter{Four: a["neighbourhood"] == "4", FromZero: a["start"] == "zero"}
	var err error
	if f.Window, err = a.Micros("window", 1, udf.MaxHorizon); err != nil {
		return nil, err
	}
	f.Neighbours, err = a.Int("neighbours", 1, f.around())
	return f, err
}

func (f Filter) around() int {
	if f.Four {
		return 4
	}
	return 8
}

// String prints the filter as users write it.
func (f Filter) String() string {
	start := "empty"
	if f.FromZero {
		start = "zero"
	}
	return fmt.Sprintf("%s(window=%dus, neighbours=%d, neighbourhood=%d, start=%s)", name, f.Window, f.Neighbours, f.around(), start)
}

// Columns are the pixel's.
func (f Filter) Columns() event.Columns { return event.ColX | event.ColY }

// Open readies the filter for one stream.
func (f Filter) Open(g event.Geometry) (udf.Sieve, error) {
	if f.Window < 1 || f.Window > udf.MaxHorizon {
		return nil, fmt.Errorf("%s: a window of %d us; 1 to %d are possible", name, f.Window, int64(udf.MaxHorizon))
	}
	if f.Neighbours < 1 || f.Neighbours > f.around() {
		return nil, fmt.Errorf("%s: %d neighbours; 1 to %d are possible", name, f.Neighbours, f.around())
	}
	return &sieve{Filter: f, last: udf.NewPixels[uint32](g), size: g, clock: udf.NewClock(f.Window)}, nil
}

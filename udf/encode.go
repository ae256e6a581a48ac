package udf

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
)

// Events are the columns of a run of events in time order, equally long. Who reads them must not change them.
type Events struct {
	T    []int64
	X, Y []uint16
	P    []int8 // nil where the representation reads no polarities
}

// Slice returns events [i, j).
func (e Events) Slice(i, j int) Events {
	if e.P == nil {
		return Events{T: e.T[i:j], X: e.X[i:j], Y: e.Y[i:j]}
	}
	return Events{e.T[i:j], e.X[i:j], e.Y[i:j], e.P[i:j]}
}

// Check counts the events off a sensor of size g, and reports a polarity that is neither 0 nor 1 on it: for events
// that add nothing to a block and are looked at by nobody else.
func (e Events) Check(g event.Geometry) (offSensor int64, err error) {
	for i, x := range e.X {
		if int(x) >= g.Width || int(e.Y[i]) >= g.Height {
			offSensor++
		} else if uint8(e.P[i]) > 1 {
			return offSensor, ErrPolarity
		}
	}
	return offSensor, nil
}

// ErrPolarity reports an event that is neither ON nor OFF.
var ErrPolarity = errors.New("a polarity that is neither 0 nor 1")

// Duration is the microseconds from start to end, 0 where end lies before start. It is right also where an int64
// does not hold the difference.
func Duration(start, end int64) uint64 {
	if end <= start {
		return 0
	}
	return uint64(end) - uint64(start)
}

// A Noter is an encoder that has something to tell of the windows it encoded.
type Noter interface {
	// Notes returns full sentences, each for all windows it holds for. It is called after the last window.
	Notes() []string
}

// MaxWindow is how many events a window holds at most, so that no count of 32 bits overflows.
const MaxWindow = math.MaxInt32

// Blocks says what the blocks of a representation on one sensor have in common, for encoders that make them one
// after the other on the processor.
type Blocks struct {
	Name    string
	Columns event.Columns
	Size    int // bytes of a block
}

// BlocksOf returns what the blocks of r have in common on a sensor of size g, whose size must be known.
func BlocksOf(r Representation, g event.Geometry) (Blocks, error) {
	l := r.Layout(g)
	if !g.Known() {
		return Blocks{}, fmt.Errorf("%s: the size of the sensor is not known; give it with --size WIDTHxHEIGHT", l.Name)
	}
	n := int64(1)
	for _, d := range l.Shape {
		if d < 1 || n > math.MaxInt32/int64(d) {
			return Blocks{}, fmt.Errorf("%s: a block of %v; 1 to 2^31-1 values are possible", l.Name, l.Shape)
		}
		n *= int64(d)
	}
	return Blocks{Name: l.Name, Columns: r.Columns(), Size: l.Bytes()}, nil
}

// Events returns the columns of a batch, and an error where one is missing.
func (b Blocks) Events(from event.Batch) (Events, error) {
	n := from.Len()
	all := Events{T: from.T(), X: from.X(), Y: from.Y()}
	if b.Columns.Has(event.ColP) {
		all.P = from.P()
	}
	if len(all.X) != n || len(all.Y) != n || b.Columns.Has(event.ColP) && len(all.P) != n {
		return Events{}, fmt.Errorf("%s: the events lack x, y or p; read %v", b.Name, b.Columns)
	}
	return all, nil
}

// Each is the frame of an Encode: it checks that the events have their columns and that windows and blocks fit
// together, and calls do with each window, all events of the batch, and the block's memory, which holds stale
// values. Errors begin with the name.
func (b Blocks) Each(ctx context.Context, w event.Windowed, dst []tensor.Block, do func(w event.Window, all Events, data []byte) error) error {
	all, err := b.Events(w.Events)
	if err != nil {
		return err
	}
	if len(dst) != len(w.Windows) {
		return fmt.Errorf("%s: %d blocks for %d windows", b.Name, len(dst), len(w.Windows))
	}
	n := len(all.T)
	for i, win := range w.Windows {
		switch {
		case win.Lo < 0 || win.Hi < win.Lo || win.Hi > n || win.Hi-win.Lo > MaxWindow:
			return fmt.Errorf("%s: window %d holds events %d to %d of %d; up to 2^31-1 of them are possible", b.Name, win.Index, win.Lo, win.Hi, n)
		case win.Since < 0 || win.Since > n:
			return fmt.Errorf("%s: window %d comes after event %d of %d", b.Name, win.Index, win.Since, n)
		case len(dst[i].Data) != b.Size:
			return fmt.Errorf("%s: window %d has a block of %d bytes, not %d", b.Name, win.Index, len(dst[i].Data), b.Size)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err := do(win, all, dst[i].Data); err != nil {
			return fmt.Errorf("%s: window %d: %w", b.Name, win.Index, err)
		}
	}
	return nil
}

// Remember is Each for an encoder with memory: add takes in events that no earlier window was handed, those between
// windows too, and show makes the block of a window whose events were added.
func (b Blocks) Remember(ctx context.Context, w event.Windowed, dst []tensor.Block, add func(Events) error, show func(end int64, data []byte)) error {
	if len(w.Windows) == 0 && len(dst) == 0 { // events between windows
		all, err := b.Events(w.Events)
		if err == nil {
			err = add(all)
		}
		return err
	}
	return b.Each(ctx, w, dst, func(w event.Window, all Events, data []byte) error {
		if err := add(all.Slice(min(w.Since, w.Hi), w.Hi)); err != nil {
			return err
		}
		show(w.End, data)
		return nil
	})
}

package exec

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/evq-project/evq/io/event"
)

// CountWindow cuts windows of N events, each Step events after the one before, and ends with the first that
// reaches the last event. That one may be shorter, and is left out where Complete is set. Its windows are
// closed and run from their first event's time to their last's.
type CountWindow struct {
	In       EventOp
	N, Step  int64 // N = math.MaxInt64: the whole recording
	Complete bool
	Max      int // the events that may be held

	held holder
	base int64 // the number of the first held event
	next int   // the first window not yet handed on
	done bool  // In has ended
	end  bool  // the last window was handed on

	covered int64 // the number of the event after the last window
}

// WholeRecording makes one window of all events; without any event the window is empty.
func WholeRecording(in EventOp, maxHeld int) *CountWindow {
	return &CountWindow{In: in, N: math.MaxInt64, Step: math.MaxInt64, Max: maxHeld}
}

func (w *CountWindow) String() string {
	if w.N == math.MaxInt64 {
		return "window whole recording"
	}
	s := fmt.Sprintf("window count=%d step=%d", w.N, w.Step)
	if w.Complete {
		s += " complete"
	}
	return s
}

// Input implements Operator.
func (w *CountWindow) Input() Operator { return w.In }

// Close implements Operator.
func (w *CountWindow) Close() error { return w.In.Close() }

// Peak returns the most bytes of events that were held.
func (w *CountWindow) Peak() int64 { return int64(w.held.peak) * eventBytes }

// Next returns the windows that are complete, at least one.
func (w *CountWindow) Next(ctx context.Context) (event.Windowed, error) {
	for {
		if wins := w.complete(); len(wins) > 0 {
			at := w.start() - w.base
			events := w.held.cutAt(int(min(at, int64(w.held.len()))))
			w.base += min(at, int64(events.Len()))
			return event.Windowed{Events: events, Windows: wins}, nil
		}
		if w.done {
			return event.Windowed{}, io.EOF
		}
		if err := pull(ctx, w.In, &w.done, w.take); err != nil {
			return event.Windowed{}, err
		}
	}
}

// start is the number of the event at which the next window starts; where that passes 64 bits, no recording
// reaches it.
func (w *CountWindow) start() int64 {
	if w.next > 0 && w.Step > math.MaxInt64/int64(w.next) {
		return math.MaxInt64
	}
	return int64(w.next) * w.Step
}

func (w *CountWindow) take(b event.Batch) error {
	skip := 0
	if w.held.len() == 0 { // between windows, where Step is larger than N
		skip = int(min(max(w.start()-w.base, 0), int64(b.Len())))
		w.base += int64(skip)
	}
	if w.held.len()+b.Len()-skip > w.Max {
		return &WindowTooLargeError{w.next, w.Max}
	}
	if skip < b.Len() {
		w.held.add(b.Slice(skip, b.Len()))
	}
	b.Release()
	return nil
}

// complete returns the next windows that are full, and at the end of the events the one that is not.
func (w *CountWindow) complete() []event.Window {
	var out []event.Window
	t := w.held.times()
	for len(out) < run && !w.end {
		lo := w.start() - w.base
		left := int64(len(t)) - lo // negative between windows
		if left < w.N {
			if !w.done {
				break
			}
			w.end = true
			empty := left <= 0 && (w.N != math.MaxInt64 || w.next > 0)
			if w.Complete || empty || w.covered >= w.base+int64(len(t)) && w.next > 0 {
				break
			}
		}
		win := event.Window{Index: w.next, Lo: int(lo), Hi: int(lo + min(left, w.N)), Since: int(max(w.covered-w.base, 0))}
		if win.Hi > win.Lo {
			win.Start, win.End = t[win.Lo], t[win.Hi-1]
		}
		w.covered = w.base + int64(win.Hi)
		out = append(out, win)
		w.next++
	}
	return out
}

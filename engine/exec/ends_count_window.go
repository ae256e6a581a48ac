package exec

import (
	"context"
	"fmt"
	"io"
	"sort"

	"github.com/evq-project/evq/io/event"
)

// EndsCountWindow cuts, for each time of a grid, the last N events at or before it: RVT's windows of so many
// events (hi is where t, searched from the right, would be inserted, and lo = max(hi-N, 0)). A window starts
// with its first event's time, or is empty at the grid's time where there is none.
type EndsCountWindow struct {
	In    EventOp
	Times []int64 // not decreasing
	N     int
	Max   int // the events that may be held

	held holder
	next int   // the first window not yet handed on
	seen int64 // the last event's time
	any  bool  // an event was seen
	done bool  // In has ended
}

func (w *EndsCountWindow) String() string {
	return fmt.Sprintf("window ends=%d count=%d, the last events up to each end", len(w.Times), w.N)
}

// Input implements Operator.
func (w *EndsCountWindow) Input() Operator { return w.In }

// Close implements Operator.
func (w *EndsCountWindow) Close() error { return w.In.Close() }

// Peak returns the most bytes of events that were held.
func (w *EndsCountWindow) Peak() int64 { return int64(w.held.peak) * eventBytes }

// Next returns the windows that are complete, at least one.
func (w *EndsCountWindow) Next(ctx context.Context) (event.Windowed, error) {
	if w.N > w.Max/2 {
		return event.Windowed{}, &WindowTooLargeError{w.next, w.Max / 2}
	}
	for w.next < len(w.Times) {
		if wins := w.complete(); len(wins) > 0 {
			last := wins[len(wins)-1]
			return event.Windowed{Events: w.held.cutAt(max(last.Hi-w.N, 0)), Windows: wins}, nil
		}
		if err := pull(ctx, w.In, &w.done, w.take); err != nil {
			return event.Windowed{}, err
		}
	}
	return event.Windowed{}, io.EOF
}

// take holds b. Every event held before lies at or before the next end, so that only the last N of them can be
// in its window.
func (w *EndsCountWindow) take(b event.Batch) error {
	w.any, w.seen = true, b.T()[b.Len()-1]
	if extra := w.held.len() - w.N; extra > w.N+holdRoom {
		w.held.cutAt(extra).Release()
	}
	w.held.add(b)
	b.Release()
	return nil
}

// complete returns the next windows that no later event can enter.
func (w *EndsCountWindow) complete() []event.Window {
	var out []event.Window
	t := w.held.times()
	hi := 0
	for len(out) < run && w.next < len(w.Times) {
		end := w.Times[w.next]
		if !w.done && !(w.any && end < w.seen) {
			break
		}
		hi += sort.Search(len(t)-hi, func(i int) bool { return t[hi+i] > end })
		win := event.Window{Index: w.next, Start: end, End: end, Lo: max(hi-w.N, 0), Hi: hi}
		if win.Hi > win.Lo {
			win.Start = t[win.Lo]
		}
		out = append(out, win)
		w.next++
	}
	return out
}

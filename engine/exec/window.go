package exec

import (
	"context"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/evq-project/evq/io/event"
)

// A WindowTooLargeError reports a window with more events than memory allows.
type WindowTooLargeError struct {
	Index  int
	Events int
}

func (e *WindowTooLargeError) Error() string {
	return fmt.Sprintf("window %d holds more than %d events, which is what memory allows; use shorter windows or raise --memory", e.Index, e.Events)
}

// An OutOfReachError reports an event so far from time 0 that no grid of windows can be laid around it.
type OutOfReachError struct{ T int64 }

func (e *OutOfReachError) Error() string {
	return fmt.Sprintf("an event at %d µs lies further from time 0 than windows reach (%d µs); its time is damaged: choose others with --time, or use --count", e.T, farthest)
}

// run bounds the windows that are handed on together.
const run = 256

// TimeWindow holds events back until the windows they fall in are complete.
type TimeWindow struct {
	In     EventOp
	Bounds Bounds
	Gaps   bool // hand on every event: those between windows too, by Window.Since, or in a run without windows
	Max    int  // the events that may be held

	held holder
	next int   // the first window not yet handed on
	seen int64 // the last event's time
	any  bool  // an event was seen
	done bool  // In has ended
	past int   // with Gaps: how many of the held events were handed on
}

func (w *TimeWindow) String() string { return "window " + w.Bounds.String() }

// Input implements Operator.
func (w *TimeWindow) Input() Operator { return w.In }

// Close implements Operator.
func (w *TimeWindow) Close() error { return w.In.Close() }

// Peak returns the most bytes of events that were held.
func (w *TimeWindow) Peak() int64 { return int64(w.held.peak) * eventBytes }

// Next returns the windows that are complete, at least one.
func (w *TimeWindow) Next(ctx context.Context) (event.Windowed, error) {
	for {
		if wins := w.complete(); len(wins) > 0 {
			return event.Windowed{Events: w.held.cutAt(w.cut()), Windows: wins}, nil
		}
		if w.Gaps && w.held.len()-w.past > gapRoom && w.seen < w.needed() {
			w.past = 0
			return event.Windowed{Events: w.held.cutAt(w.held.len())}, nil
		}
		if w.done || w.Bounds.Ended(w.next) {
			return event.Windowed{}, io.EOF
		}
		if err := pull(ctx, w.In, &w.done, w.take); err != nil {
			return event.Windowed{}, err
		}
	}
}

// take holds the events of b that a window to come may need.
func (w *TimeWindow) take(b event.Batch) error {
	for _, t := range []int64{b.T()[0], b.T()[b.Len()-1]} {
		if !w.Bounds.Reaches(t) {
			return &OutOfReachError{t}
		}
	}
	if !w.any {
		w.any = true
		w.Bounds.Begin(b.T()[0])
	}
	w.seen = b.T()[b.Len()-1]
	from := w.needed()
	if w.Gaps {
		from = math.MinInt64
	}
	at := sort.Search(b.Len(), func(i int) bool { return b.T()[i] >= from })
	if w.held.len()+b.Len()-at > w.Max {
		return &WindowTooLargeError{w.next, w.Max}
	}
	w.held.add(b.Slice(at, b.Len()))
	b.Release()
	return nil
}

// gapRoom is how many events between windows are held before they are handed on without a window.
const gapRoom = 1 << 19

// cut returns the index of the first held event that windows to come may need.
func (w *TimeWindow) cut() int {
	from, t := w.needed(), w.held.times()
	at := sort.Search(len(t), func(i int) bool { return t[i] >= from })
	if w.Gaps {
		at = min(at, w.past)
		w.past -= at
	}
	return at
}

// needed is the earliest time that a window to come can hold.
func (w *TimeWindow) needed() int64 {
	if win, ok := w.Bounds.Window(w.next, math.MaxInt64, true); ok {
		return win.Start
	}
	return math.MaxInt64
}

// complete returns the next windows that no later event can enter.
func (w *TimeWindow) complete() []event.Window {
	var out []event.Window
	t := w.held.times()
	lo := 0
	seen := w.seen
	if !w.any {
		seen = math.MinInt64
	}
	for len(out) < run {
		win, ok := w.Bounds.Window(w.next, seen, w.done)
		if !ok || !(w.done || w.any && win.Last < w.seen) {
			break
		}
		lo += sort.Search(len(t)-lo, func(i int) bool { return t[lo+i] >= win.Start })
		n := sort.Search(len(t)-lo, func(i int) bool { return t[lo+i] > win.Last })
		out = append(out, event.Window{Index: w.next, Start: win.Start, End: win.End, Lo: lo, Hi: lo + n, Since: lo})
		if w.Gaps {
			out[len(out)-1].Since = w.past
			w.past = max(w.past, lo+n)
		}
		w.next++
	}
	return out
}

package exec

import (
	"context"
	"errors"
	"io"
	"math"
	"sort"

	"github.com/evq-project/evq/io/event"
)

// StreamGroup groups events as they come and holds none of them back. Its windows do not overlap, and bins divide
// the windows' own time.
type StreamGroup struct {
	In     EventOp
	Bounds Bounds // nil: the whole recording is one window
	Grouping

	by    *grouper
	b     event.Batch // what is left of the batch at hand
	owner event.Batch
	win   Interval // the window at hand
	next  int      // its number
	n     int64    // events of the window at hand
	first int64
	last  int64
	begun bool
	done  bool
}

func (g *StreamGroup) String() string {
	s := g.how() + " " + g.Grouping.String() + ", as events come"
	if g.Bounds != nil {
		s += ", by window " + g.Bounds.String()
	}
	return s
}

// Peak returns about the most bytes that groups took.
func (g *StreamGroup) Peak() int64 { return g.by.Peak() }

// Input implements Operator.
func (g *StreamGroup) Input() Operator { return g.In }

// Close implements Operator.
func (g *StreamGroup) Close() error { return g.In.Close() }

// Next returns the groups of the next window, which may have no row.
func (g *StreamGroup) Next(ctx context.Context) (out Groups, err error) {
	if g.by == nil {
		if g.by, err = newGrouper(g.Grouping); err != nil {
			return out, err
		}
		if g.Bounds == nil {
			g.by.tally()
		}
	}
	for {
		if g.b.Len() == 0 && !g.done {
			if err := g.pull(ctx); err != nil {
				return out, err
			}
			continue
		}
		if !g.enter() {
			return out, io.EOF
		}
		if err := g.take(); err != nil {
			return out, err
		}
		if g.done || g.b.Len() > 0 { // an event after the window ends it
			return g.leave()
		}
	}
}

func (g *StreamGroup) pull(ctx context.Context) error {
	g.owner.Release()
	g.owner, g.b = event.Batch{}, event.Batch{}
	b, err := g.In.Next(ctx)
	if errors.Is(err, io.EOF) {
		g.done = true
		return nil
	}
	if err != nil {
		return err
	}
	g.owner, g.b = b, b
	if g.Bounds == nil || b.Len() == 0 {
		return nil
	}
	for _, t := range []int64{b.T()[0], b.T()[b.Len()-1]} {
		if !g.Bounds.Reaches(t) {
			return &OutOfReachError{t}
		}
	}
	if !g.begun {
		g.begun = true
		g.Bounds.Begin(b.T()[0])
	}
	return nil
}

// enter finds the window at hand; it reports false where there is none.
func (g *StreamGroup) enter() (ok bool) {
	switch {
	case g.Bounds == nil:
		g.win = Interval{math.MinInt64, math.MaxInt64, math.MaxInt64}
		return g.next == 0
	case g.b.Len() > 0 || !g.begun:
		g.win, ok = g.Bounds.Window(g.next, math.MaxInt64, g.done)
	default: // all events were seen: the last window is the last that begins by then
		g.win, ok = g.Bounds.Window(g.next, g.last, true)
	}
	return ok
}

// take groups the events of the batch that lie in the window.
func (g *StreamGroup) take() error {
	t := g.b.T()
	lo := sort.Search(len(t), func(i int) bool { return t[i] >= g.win.Start }) // those before lie between windows
	hi := lo + sort.Search(len(t)-lo, func(i int) bool { return t[lo+i] > g.win.Last })
	if hi > 0 {
		g.last = t[hi-1]
	}
	if hi == lo {
		g.b = g.b.Slice(hi, len(t))
		return nil
	}
	if g.n == 0 {
		g.first = t[lo]
	}
	g.n += int64(hi - lo)
	in := g.b.Slice(lo, hi)
	g.b = g.b.Slice(hi, len(t))
	w := event.Window{Start: g.win.Start, End: g.win.End}
	if g.Bounds == nil {
		w.Start = g.first
	}
	return g.by.window(w, in)
}

// leave hands the groups of the window on.
func (g *StreamGroup) leave() (Groups, error) {
	w := event.Window{Index: g.next, Start: g.win.Start, End: g.win.End}
	if g.Bounds == nil {
		w.Start, w.End = g.first, g.last
	}
	w.Hi = int(g.n)
	g.n = 0
	g.next++
	return g.by.flush(w)
}

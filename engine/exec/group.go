package exec

import (
	"context"

	"github.com/evq-project/evq/io/event"
)

// Group groups the events of windows, one window after another. Windows may overlap, and bins may divide the time
// from a window's first event to its last.
type Group struct {
	In WindowOp
	Grouping

	by   *grouper
	run  event.Windowed
	next int
}

func (g *Group) String() string { return g.how() + " " + g.Grouping.String() + ", window by window" }

// how names the way in which groups are found.
func (g Grouping) how() string {
	if g.Ranges != nil {
		return "dense"
	}
	return "hash"
}

// Peak returns about the most bytes that groups took.
func (g *Group) Peak() int64 { return g.by.Peak() }

// Input implements Operator.
func (g *Group) Input() Operator { return g.In }

// Close implements Operator.
func (g *Group) Close() error { return g.In.Close() }

// Next returns the groups of the next window, which may have no row.
func (g *Group) Next(ctx context.Context) (out Groups, err error) {
	if g.by == nil {
		if g.by, err = newGrouper(g.Grouping); err != nil {
			return out, err
		}
	}
	for g.next >= len(g.run.Windows) {
		g.run.Events.Release()
		g.run = event.Windowed{}
		if g.run, err = g.In.Next(ctx); err != nil {
			return out, err
		}
		g.next = 0
	}
	w := g.run.Windows[g.next]
	g.next++
	if err := g.by.window(w, g.run.Events.Slice(w.Lo, w.Hi)); err != nil {
		return out, err
	}
	return g.by.flush(w)
}

package optimize

import (
	"math"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
)

var streamGroup = Rule{
	Name: "stream_group",
	Doc:  "windows that do not overlap, without bins between first and last events, are grouped as events come and hold none back",
	Rewrite: func(n plan.Node) plan.Node {
		g, ok := n.(*plan.Group)
		if !ok || g.Stream || g.Counted {
			return nil
		}
		in := g.In
		bin, binned := in.(*plan.Bin)
		if binned {
			in = bin.In
		}
		w, ok := in.(*plan.Window)
		if !ok || !apart(w.By) {
			return nil
		}
		if binned && bin.Width == 0 {
			if _, whole := w.By.(plan.Whole); whole || bin.Base != plan.WindowTime {
				return nil // only the window's last event tells where its bins lie
			}
		}
		c := *g
		c.Stream = true
		return &c
	},
}

// apart reports whether windows of time do not overlap, so that an event lies in one at most.
func apart(w plan.Windowing) bool {
	switch w := w.(type) {
	case plan.Whole:
		return true
	case plan.Every:
		return w.Hop >= w.Length
	case plan.Ends: // closed at both ends
		for i := 1; i < len(w.Times); i++ {
			if w.Times[i]-w.Span <= w.Times[i-1] {
				return false
			}
		}
		return true
	case plan.Intervals:
		for i := 1; i < len(w.Starts); i++ {
			if w.Starts[i] < w.Ends[i-1] {
				return false
			}
		}
		return true
	}
	return false
}

// mostCells bounds the groups that are found by address.
const mostCells = 1 << 24

var groupMethod = Rule{
	Name: "group_method",
	Doc:  "groups are found by address where the ranges of their keys are small, and by hashing elsewhere",
	Rewrite: func(n plan.Node) plan.Node {
		g, ok := n.(*plan.Group)
		if !ok || g.Method != plan.PlainGroups || g.Counted {
			return nil
		}
		c := *g
		c.Method = plan.HashGroups
		box := extent(g.In)
		cells := int64(1)
		if b, ok := g.In.(*plan.Bin); ok {
			if b.Width > 0 {
				return &c // only the windows tell how many bins they have
			}
			cells = int64(b.Bins)
		}
		var ranges []plan.Range
		for _, k := range g.Keys {
			lo, hi := k.Value.Range(box)
			size := uint64(hi) - uint64(lo)
			if hi < lo || size >= mostCells || cells > mostCells/int64(size+1) {
				return &c
			}
			cells *= int64(size + 1)
			ranges = append(ranges, plan.Range{Lo: lo, Hi: hi})
		}
		c.Method, c.Ranges = plan.DenseGroups, ranges
		return &c
	},
}

// extent returns a box in which most events of a node lie: those that a recording's header misleads about are no
// error to who uses it.
func extent(n plan.Node) event.Box {
	switch n := n.(type) {
	case *plan.Scan:
		box := n.Want.Box
		info := n.Source.Info()
		if info.Stats {
			return box.Intersect(info.Extent)
		}
		if g := n.Source.Geometry(); g.Known() {
			sensor := event.Everything
			sensor.X1, sensor.Y1 = uint16(min(g.Width-1, math.MaxUint16)), uint16(min(g.Height-1, math.MaxUint16))
			return box.Intersect(sensor)
		}
		return box
	case *plan.Filter:
		return extent(n.In).Intersect(n.Pred.Box())
	case *plan.Map:
		by, err := n.Projection()
		if err != nil {
			return event.Everything
		}
		return movedBox(by, extent(n.In))
	case *plan.Window:
		box := extent(n.In)
		if within, ok := reach(n.By); ok {
			box = box.Intersect(within)
		}
		return box
	}
	return extent(n.Input())
}

func columnsOf(keys []plan.Key, aggs []plan.Agg, where exprs.Expr) (cols event.Columns) {
	for _, k := range keys {
		cols |= k.Value.Columns()
	}
	for _, a := range aggs {
		for _, v := range a.Args {
			cols |= v.Columns()
		}
	}
	if where != nil {
		cols |= where.Columns()
	}
	return cols
}

// movedBox returns the box in which the events of a box lie after a projection.
func movedBox(by exprs.Projection, in event.Box) event.Box {
	box := event.Everything
	within := func(v exprs.Value, lo, hi int64) (int64, int64) {
		a, b := v.Range(in)
		return max(a, lo), min(b, hi)
	}
	box.T0, box.T1 = by.T.Range(in)
	x0, x1 := within(by.X, 0, math.MaxUint16)
	y0, y1 := within(by.Y, 0, math.MaxUint16)
	p0, p1 := within(by.P, 0, 1)
	if x0 > x1 || y0 > y1 || p0 > p1 {
		return event.Nothing
	}
	box.X0, box.X1, box.Y0, box.Y1, box.P0, box.P1 = uint16(x0), uint16(x1), uint16(y0), uint16(y1), int8(p0), int8(p1)
	return box
}

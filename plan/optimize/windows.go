package optimize

import (
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf"
)

var windowBoxIntoScan = Rule{
	Name: "window_box_into_scan",
	Doc:  "windows at given times tell the source the time outside which no event is wanted",
	Rewrite: func(n plan.Node) plan.Node {
		switch n := n.(type) {
		case *plan.Represent:
			for _, r := range n.Reps {
				if m, ok := r.(udf.Rememberer); ok && m.Remembers() {
					return nil // its blocks depend on every event before
				}
			}
		case *plan.Group:
		default:
			return nil
		}
		if in := narrowWindows(n.Input()); in != nil {
			return n.With(in)
		}
		return nil
	},
}

// narrowWindows tells the scan below windows how far they reach.
func narrowWindows(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Bin, *plan.Limit:
		if in := narrowWindows(n.Input()); in != nil {
			return n.With(in)
		}
	case *plan.Filter:
		if n.Kind() != plan.Windows {
			return nil
		}
		if in := narrowWindows(n.In); in != nil {
			return n.With(in)
		}
	case *plan.Window:
		box, ok := reach(n.By)
		if !ok {
			return nil
		}
		if in := narrow(n.In, box); in != nil {
			return n.With(in)
		}
	}
	return nil
}

// reach returns the times that windows reach; ok is false where the events decide that.
func reach(w plan.Windowing) (box event.Box, ok bool) {
	box = event.Everything
	switch w := w.(type) {
	case plan.Ends:
		box.T0, box.T1 = w.Times[0]-w.Span, w.Times[len(w.Times)-1]
	case plan.Intervals:
		if len(w.Starts) == 0 {
			return event.Nothing, true
		}
		box.T0, box.T1 = w.Starts[0], w.Ends[0]
		for _, end := range w.Ends {
			box.T1 = max(box.T1, end)
		}
	case plan.Every:
		if w.Range == nil || w.FromFirst {
			return box, false
		}
		// A window that meets the range may begin a length before it and end a length after.
		box.T0, box.T1 = w.Range.From-w.Length, w.Range.To+w.Length
	default:
		return box, false
	}
	return box, true
}

var filterBelowWindows = Rule{
	Name: "filter_below_windows",
	Doc:  "a filter in windows becomes one of events where no window depends on which events there are",
	Rewrite: func(n plan.Node) plan.Node {
		f, ok := n.(*plan.Filter)
		if !ok {
			return nil
		}
		w, ok := f.In.(*plan.Window)
		if !ok {
			return nil
		}
		// Windows of so many events, and grids that run from the first event to the last, would move.
		if _, fixed := reach(w.By); !fixed {
			return nil
		}
		return w.With(&plan.Filter{In: w.In, Pred: f.Pred})
	},
}

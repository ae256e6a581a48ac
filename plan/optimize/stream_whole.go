package optimize

import (
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf"
)

var streamWhole = Rule{
	Name: "stream_whole",
	Doc:  "a whole recording is represented as events come and none is held, in two passes where only reading tells its first and last time",
	Rewrite: func(n plan.Node) plan.Node {
		r, ok := n.(*plan.Represent)
		if !ok || r.Stream {
			return nil
		}
		w, ok := r.In.(*plan.Window)
		if !ok {
			return nil
		}
		if _, whole := w.By.(plan.Whole); !whole {
			return nil
		}
		for _, rep := range r.Reps {
			g, ok := rep.(udf.Gradual)
			if !ok {
				return nil
			}
			if ok, _ = g.Gradual(); !ok {
				return nil
			}
		}
		c := *r
		c.Stream = true
		return &c
	},
}

// Times returns a plan of the same events as n whose source is asked only for what tells their times.
func Times(n plan.Node) plan.Node {
	all := &plan.Window{In: unprojected(n), By: plan.Whole{}}
	if out := project(all, event.ColT); out != nil {
		return out.Input()
	}
	return all.In
}

// unprojected asks the source of n for all columns again.
func unprojected(n plan.Node) plan.Node {
	if s, ok := n.(*plan.Scan); ok {
		want := s.Want
		want.Columns = 0
		return &plan.Scan{Source: s.Source, Want: want}
	}
	if n.Input() == nil {
		return n
	}
	return n.With(unprojected(n.Input()))
}

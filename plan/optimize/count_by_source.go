package optimize

import (
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf/aggregates"
)

var countBySource = Rule{
	Name: "count_by_source",
	Doc:  "the events of a whole recording, or of a box, are counted by a source that need not yield them",
	Rewrite: func(n plan.Node) plan.Node {
		g, ok := n.(*plan.Group)
		if !ok || g.Counted || len(g.Keys) > 0 || g.Where != nil || len(g.Aggs) == 0 {
			return nil
		}
		for _, a := range g.Aggs {
			if a.Func != aggregates.Count || len(a.Args) > 0 {
				return nil
			}
		}
		w, ok := g.In.(*plan.Window)
		if !ok {
			return nil
		}
		if _, whole := w.By.(plan.Whole); !whole || !countable(w.In, event.Everything) {
			return nil
		}
		c := *g
		c.Counted = true
		return &c
	},
}

// countable reports whether n is filters over a scan whose source counts, and they keep just the events of the box that
// the scan was told; box is what those above leave.
func countable(n plan.Node, box event.Box) bool {
	switch n := n.(type) {
	case *plan.Filter:
		part, ok := exprs.Exact(n.Pred)
		return ok && countable(n.In, box.Intersect(part))
	case *plan.Scan:
		_, ok := event.Counting(n.Source)
		return ok && n.Want.Box == box && !box.Empty()
	}
	return false
}

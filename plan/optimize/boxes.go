package optimize

import (
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
)

var boxIntoScan = Rule{
	Name: "box_into_scan",
	Doc:  "a filter tells the source the box outside which no event is wanted; the filter stays",
	Rewrite: func(n plan.Node) plan.Node {
		f, ok := n.(*plan.Filter)
		if !ok || f.Kind() != plan.Events {
			return nil
		}
		in := narrow(f.In, f.Pred.Box())
		if in == nil {
			return nil
		}
		return f.With(in)
	},
}

// narrow tells the scan below filters that only events in box are wanted. It returns nil where something
// other than a filter lies between, or where the scan knows already.
func narrow(n plan.Node, box event.Box) plan.Node {
	switch n := n.(type) {
	case *plan.Scan:
		want := n.Want
		want.Box = want.Box.Intersect(box)
		if want.Box.Empty() {
			want.Box = event.Nothing
		}
		if want.Box == n.Want.Box {
			return nil
		}
		return &plan.Scan{Source: n.Source, Want: want}
	case *plan.Filter:
		if in := narrow(n.In, box); in != nil {
			return n.With(in)
		}
	}
	return nil
}

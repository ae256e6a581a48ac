package optimize

import (
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/plan"
)

var filterBelowMap = Rule{
	Name: "filter_below_map",
	Doc:  "a filter of moved events becomes one of the events before they move, which the source can be told of",
	Rewrite: func(n plan.Node) plan.Node {
		f, ok := n.(*plan.Filter)
		if !ok {
			return nil
		}
		m, ok := f.In.(*plan.Map)
		if !ok {
			return nil
		}
		by, err := m.Projection()
		if err != nil {
			return nil
		}
		return m.With(&plan.Filter{In: m.In, Pred: exprs.Substitute(f.Pred, by.Columns())})
	},
}

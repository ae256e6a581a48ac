package optimize

import (
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/plan"
)

var mergeFilters = Rule{
	Name: "merge_filters",
	Doc:  "two filters in a row become one",
	Rewrite: func(n plan.Node) plan.Node {
		upper, ok := n.(*plan.Filter)
		if !ok {
			return nil
		}
		lower, ok := upper.In.(*plan.Filter)
		if !ok {
			return nil
		}
		return &plan.Filter{In: lower.In, Pred: exprs.And(lower.Pred, upper.Pred)}
	},
}

var simplifyFilters = Rule{
	Name: "simplify_filters",
	Doc:  "ranges of one column become one range; a filter that keeps everything goes",
	Rewrite: func(n plan.Node) plan.Node {
		f, ok := n.(*plan.Filter)
		if !ok {
			return nil
		}
		switch pred := exprs.Simplify(f.Pred); {
		case pred == exprs.True:
			return f.In
		case pred.String() != f.Pred.String():
			return &plan.Filter{In: f.In, Pred: pred}
		}
		return nil
	},
}

var emptyScan = Rule{
	Name: "empty_scan",
	Doc:  "where a filter keeps nothing, nothing is read",
	Rewrite: func(n plan.Node) plan.Node {
		f, ok := n.(*plan.Filter)
		if !ok || f.Pred != exprs.False || f.Kind() != plan.Events {
			return nil
		}
		in := emptied(f.In)
		if in == nil {
			return nil
		}
		return f.With(in)
	},
}

// emptied returns a plan whose scan reads nothing, or nil where it does so already. What lies between stays: it may
// change the sensor's size.
func emptied(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Scan:
		return &plan.Empty{Of: n}
	case *plan.Empty:
		return nil
	}
	if in := emptied(n.Input()); in != nil {
		return n.With(in)
	}
	return nil
}

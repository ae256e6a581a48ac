package optimize

import (
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
)

var projectColumns = Rule{
	Name: "project_columns",
	Doc:  "the source is asked only for the columns that the query reads",
	Rewrite: func(n plan.Node) plan.Node {
		switch n := n.(type) {
		case *plan.Represent:
			var cols event.Columns
			for _, r := range n.Reps {
				cols |= r.Columns()
			}
			return project(n, cols)
		case *plan.Group:
			if n.Counted {
				return nil
			}
			return project(n, columnsOf(n.Keys, n.Aggs, n.Where))
		}
		return nil
	},
}

// project returns n over a scan of the columns that it and the filters below it read, or nil where the scan
// is asked for no more than those already.
func project(n plan.Node, cols event.Columns) plan.Node {
	if cols == 0 {
		cols = event.ColT // the empty set stands for all
	}
	switch in := n.Input().(type) {
	case *plan.Scan:
		if in.Want.Columns != 0 || cols == event.AllColumns {
			return nil
		}
		want := in.Want
		want.Columns = cols
		return n.With(&plan.Scan{Source: in.Source, Want: want})
	case *plan.Filter:
		if out := project(in, cols|in.Pred.Columns()); out != nil {
			return n.With(out)
		}
	case *plan.Apply:
		if out := project(in, cols|in.Filter.Columns()); out != nil {
			return n.With(out)
		}
	case *plan.Map:
		by, err := in.Projection()
		if err != nil {
			return nil
		}
		if out := project(in, by.Reads(cols)); out != nil {
			return n.With(out)
		}
	case *plan.Window, *plan.Bin, *plan.Limit:
		if out := project(in, cols); out != nil {
			return n.With(out)
		}
	}
	return nil
}

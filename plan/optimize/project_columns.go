package optimize

import (
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
)

var projectColumns = Rule{
	Name: "project_columns",
	Doc:  "the source is asked only for the columns that the query reads",
	Rewrite: func(n plan.Node) plan.Node {
		switch n := n.(type) {
		case *plan.Represent:
			return project(n, n.Rep.Columns())
		case *plan.Group:
			cols := columnsOf(n.Keys)
			if n.Where != nil {
				cols |= n.Where.Columns()
			}
			return project(n, cols)
		}
		return nil
	},
}

func columnsOf(keys []exprs.Value) (cols event.Columns) {
	for _, k := range keys {
		cols |= k.Columns()
	}
	return cols
}

// project returns n over a scan of the columns that it and the filters below it read, or nil where the scan
// is asked for no more than those already.
func project(n plan.Node, cols event.Columns) plan.Node {
	if cols == 0 {
		return nil // only t: the empty set stands for all
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
	case *plan.Window, *plan.Bin, *plan.Limit:
		if out := project(in, cols); out != nil {
			return n.With(out)
		}
	}
	return nil
}

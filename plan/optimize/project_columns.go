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
			var cols event.Columns
			for _, r := range n.Reps {
				cols |= r.Columns()
			}
			return project(n, cols)
		case *plan.Group:
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
		if out := project(in, moved(by, cols)); out != nil {
			return n.With(out)
		}
	case *plan.Window, *plan.Bin, *plan.Limit:
		if out := project(in, cols); out != nil {
			return n.With(out)
		}
	}
	return nil
}

// moved returns the columns that a projection needs for the given ones of its result.
func moved(by exprs.Projection, cols event.Columns) (out event.Columns) {
	out = by.T.Columns()
	for _, c := range []struct {
		bit event.Columns
		v   exprs.Value
	}{{event.ColX, by.X}, {event.ColY, by.Y}, {event.ColP, by.P}} {
		// A pixel that moves may leave the sensor, which drops the event whether its place is asked for or not.
		if cols.Has(c.bit) || c.v.Columns() != c.bit || !c.v.Equal(column(c.bit)) {
			out |= c.v.Columns()
		}
	}
	if by.Keep != nil {
		out |= by.Keep.Columns()
	}
	return out
}

func column(c event.Columns) exprs.Value {
	switch c {
	case event.ColX:
		return exprs.X
	case event.ColY:
		return exprs.Y
	}
	return exprs.P
}

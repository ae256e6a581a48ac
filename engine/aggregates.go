package engine

import (
	"errors"
	"fmt"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf"
)

// An Aggregated is a column of a table of groups: an aggregate with its arguments, or a formula over such.
type Aggregated struct {
	agg plan.Agg // its name is the column's; without a function it is a formula's
	of  formula
}

// A Condition says which rows of a table of groups stay.
type Condition struct{ of formula }

// A formula was read from text, whose names may be aggregates.
type formula struct {
	text  string
	tree  *exprs.Formula // nil of what is no formula
	aggs  map[*exprs.Formula]plan.Agg
	known []string // the aggregates that it could have named
}

// Agg makes an aggregate of a function, such as those of package udf/aggregates, and its arguments. Its column is
// called as it is written, such as mean(x).
func Agg(f udf.Aggregate, args ...exprs.Value) Aggregated {
	a := plan.Agg{Func: f, Args: args}
	a.Name = a.Call()
	return Aggregated{agg: a}
}

// As names the column.
func (a Aggregated) As(name string) Aggregated { a.agg.Name = name; return a }

// Aggregates reads a list of aggregates, such as count, mean(x) as center, first(t), and of formulas over them, over keys
// and over columns named before, such as on_share = sum(p) / count. Options: WithAggregate, WithFunc. Errors are
// *exprs.SyntaxError.
func Aggregates(text string, opts ...Option) ([]Aggregated, error) {
	s := settingsOf(opts)
	list, err := exprs.ParseFormulas(text, s.parsing()...)
	if err != nil {
		return nil, err
	}
	out := make([]Aggregated, len(list))
	for i, item := range list {
		if out[i], err = s.aggregated(text, item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Having reads a condition over the rows of groups, such as count > 100 and sum(p) / count > 0.5. Its names are columns
// of the table, or aggregates. Options: WithAggregate, WithFunc. Errors are *exprs.SyntaxError.
func Having(text string, opts ...Option) (Condition, error) {
	s := settingsOf(opts)
	tree, err := exprs.ParseCondition(text, s.parsing()...)
	if err != nil {
		return Condition{}, err
	}
	of, err := s.formula(text, tree)
	return Condition{of}, err
}

// aggregated makes a column of an item of a list: an aggregate where that is all it is.
func (s settings) aggregated(text string, item exprs.NamedFormula) (Aggregated, error) {
	of, err := s.formula(text, item.Formula)
	if err != nil {
		return Aggregated{}, err
	}
	if a, ok := of.aggs[item.Formula]; ok {
		if a.Name = item.Name; a.Name == "" {
			a.Name = a.Call()
		}
		return Aggregated{agg: a}, nil
	}
	out := Aggregated{of: of}
	if out.agg.Name = item.Name; out.agg.Name == "" {
		out.agg.Name = item.Formula.String()
	}
	return out, nil
}

// formula makes the aggregates that a formula names. A word that is none may be a column.
func (s settings) formula(text string, tree *exprs.Formula) (formula, error) {
	f := formula{text: text, tree: tree, aggs: map[*exprs.Formula]plan.Agg{}}
	for _, e := range s.aggregates {
		f.known = append(f.known, e.Name)
	}
	_, err := tree.Map(func(leaf *exprs.Formula) (*exprs.Formula, error) {
		call := leaf.Call
		if leaf.Op == exprs.OpColumn {
			call = &exprs.FuncCall{Func: leaf.Name}
		}
		if call == nil {
			return leaf, nil
		}
		a, err := s.call(call)
		switch {
		case leaf.Op == exprs.OpColumn && errors.Is(err, ErrUnknown):
			return leaf, nil // selected looks for a column
		case err != nil:
			return nil, &exprs.SyntaxError{Text: text, Pos: leaf.Pos, Msg: err.Error(), Err: err}
		}
		f.aggs[leaf] = a
		return leaf, nil
	})
	return f, err
}

// call makes the aggregate that a call names.
func (s settings) call(c *exprs.FuncCall) (plan.Agg, error) {
	e, err := entryOf("aggregate", s.aggregates, c.Func)
	if err != nil {
		return plan.Agg{}, err
	}
	f, err := e.Make(c.Params)
	if err != nil {
		return plan.Agg{}, fmt.Errorf("%w%s", err, hint(e.Params, c.Params))
	}
	return plan.Agg{Func: f, Args: c.Args}, nil
}

package engine

import (
	"fmt"
	"slices"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/plan"
)

// A selection turns aggregates, formulas over them and conditions into a group that computes every aggregate once, a
// choice of its rows, and the columns that were asked for.
type selection struct {
	group   plan.Group
	asked   []Aggregated
	columns map[string]bool           // of the group
	made    map[string]*exprs.Formula // of the columns asked for, what each is over the group's
}

// selected returns the plan of a table. What asks for aggregates alone is a group and nothing else.
func selected(group plan.Group, asked []Aggregated, having []Condition) (plan.Node, error) {
	s := &selection{group: group, asked: asked, columns: map[string]bool{}, made: map[string]*exprs.Formula{}}
	s.group.Aggs = nil
	for _, f := range s.group.Fields() {
		s.columns[f.Name] = true
	}
	var out []plan.Column
	for _, f := range s.group.Fields() {
		out = append(out, plan.Column{Name: f.Name, Formula: column(f.Name)})
	}
	formulas := false
	for _, a := range asked {
		formulas = formulas || a.of.tree != nil
		if a.of.tree == nil {
			s.group.Aggs = append(s.group.Aggs, a.agg)
			s.columns[a.agg.Name] = true
		}
	}
	for _, a := range asked {
		f := column(a.agg.Name)
		if a.of.tree != nil {
			var err error
			if f, err = s.resolve(a.of); err != nil {
				return nil, err
			}
		}
		s.made[a.agg.Name] = f
		out = append(out, plan.Column{Name: a.agg.Name, Formula: f})
	}
	node, hidden, err := s.choose(having)
	if err != nil || !formulas && !hidden {
		return node, err
	}
	return &plan.Select{In: node, Columns: out}, nil
}

// choose puts the conditions over the group; hidden tells that they need columns that nobody asked for.
func (s *selection) choose(having []Condition) (node plan.Node, hidden bool, err error) {
	before := len(s.group.Aggs)
	var conditions []*exprs.Formula
	for _, h := range having {
		f, err := s.resolve(h.of)
		if err != nil {
			return nil, false, err
		}
		conditions = append(conditions, f)
	}
	group := s.group
	node = &group
	for _, c := range conditions {
		node = &plan.Having{In: node, Cond: c}
	}
	return node, len(group.Aggs) > before, nil
}

func column(name string) *exprs.Formula { return &exprs.Formula{Op: exprs.OpColumn, Name: name} }

// resolve writes a formula over the columns of the group. A name is a column that was asked for, else one of the group's,
// else an aggregate.
func (s *selection) resolve(of formula) (*exprs.Formula, error) {
	if of.tree == nil {
		return nil, fmt.Errorf("engine: %w: a condition that was not read; make it with Having", plan.ErrInvalid)
	}
	return of.tree.Map(func(leaf *exprs.Formula) (*exprs.Formula, error) {
		if leaf.Op == exprs.OpColumn {
			if f, ok := s.made[leaf.Name]; ok {
				return f, nil
			}
			if s.columns[leaf.Name] {
				return column(leaf.Name), nil
			}
		}
		if a, ok := of.aggs[leaf]; ok {
			return column(s.compute(a)), nil
		}
		if leaf.Op == exprs.OpColumn {
			return nil, s.unknown(of, leaf)
		}
		return leaf, nil
	})
}

// compute returns the column of an aggregate, which the group computes once.
func (s *selection) compute(a plan.Agg) string {
	at := slices.IndexFunc(s.group.Aggs, func(b plan.Agg) bool { return b.Call() == a.Call() })
	if at >= 0 {
		return s.group.Aggs[at].Name
	}
	for a.Name = a.Call(); s.columns[a.Name]; { // a key may be called so
		a.Name += "'"
	}
	s.columns[a.Name] = true
	s.group.Aggs = append(s.group.Aggs, a)
	return a.Name
}

// unknown reports a word that is neither column nor aggregate.
func (s *selection) unknown(of formula, leaf *exprs.Formula) error {
	known := of.known
	for _, f := range s.group.Fields() {
		known = append(slices.Clip(known), f.Name)
	}
	for name := range s.made {
		known = append(slices.Clip(known), name)
	}
	slices.Sort(known)
	err := &UnknownError{"column or aggregate", leaf.Name, slices.Compact(known)}
	return &exprs.SyntaxError{Text: of.text, Pos: leaf.Pos, Msg: err.Error(), Err: err}
}

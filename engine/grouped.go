package engine

import (
	"fmt"
	"slices"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/plan"
)

// A Grouped is a lazy query that groups events. As a table it counts the events of every group; Agg asks for more.
type Grouped struct {
	Table
	group  *plan.Group // its counts
	having []Condition
}

func grouped(in plan.Node, where exprs.Expr, keys []exprs.Value) Grouped {
	named := make([]exprs.Key, len(keys))
	for i, k := range keys {
		named[i] = exprs.NewKey(k)
	}
	return groupedBy(in, where, named)
}

func groupedBy(in plan.Node, where exprs.Expr, keys []exprs.Key) Grouped {
	return Grouped{group: &plan.Group{In: in, Where: where, Keys: slices.Clone(keys), Aggs: []plan.Agg{counted}}}.counting()
}

// counting makes the table of the counts.
func (g Grouped) counting() Grouped {
	g.Table = g.Agg(Aggregated{agg: counted})
	return g
}

// GroupBy groups the whole recording by keys that have names, such as those of Keys.
func (f Frame) GroupBy(keys ...exprs.Key) Grouped { return f.Window(WholeRecording()).GroupBy(keys...) }

// GroupBy groups the events of each window by keys that have names, such as those of Keys.
func (w Windowed) GroupBy(keys ...exprs.Key) Grouped { return groupedBy(w.node, nil, keys) }

// GroupBy groups the events of each bin by keys that have names, such as those of Keys.
func (b Binned) GroupBy(keys ...exprs.Key) Grouped { return groupedBy(b.node, b.where, keys) }

// Named names the columns of the keys, in their order.
func (g Grouped) Named(names ...string) Grouped {
	c := *g.group
	c.Keys = slices.Clone(c.Keys)
	for i := range min(len(names), len(c.Keys)) {
		c.Keys[i].Name = names[i]
	}
	g.group = &c
	return g.counting()
}

// Having keeps the rows for which every condition holds. What it asks for need not be among the columns.
func (g Grouped) Having(conditions ...Condition) Grouped {
	g.having = append(slices.Clip(g.having), conditions...)
	return g.counting()
}

// Count is the table of the keys and the number of events of every group.
func (g Grouped) Count() Table { return g.Table }

// Agg computes aggregates of every group, and formulas over them, instead of their counts.
func (g Grouped) Agg(aggs ...Aggregated) Table {
	node, err := selected(*g.group, aggs, g.having)
	return Table{node, err}
}

// Dense lays counts of binned windows out as blocks (2*bins, rows, columns), OFF first. The keys must be
// exprs.P, exprs.Y, exprs.X, or exprs.P and the other two divided by 2.
func (g Grouped) Dense(opts ...DenseOption) Tensors {
	if len(g.having) > 0 {
		return Tensors{err: fmt.Errorf("engine: %w: Having leaves rows of a table out, not counts of a block", plan.ErrInvalid)}
	}
	d := &plan.Dense{In: g.group, Cutoff: 10}
	for _, o := range opts {
		o(d)
	}
	return Tensors{node: d}
}

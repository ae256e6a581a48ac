package engine

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/plan"
)

// A Table is a lazy query that yields rows: counts by window, bin and keys.
type Table struct{ node plan.Node }

// Limit keeps the first n rows.
func (q Table) Limit(n int64) Table { return Table{&plan.Limit{In: q.node, N: n}} }

// A DenseOption says how counts become the bytes of a block.
type DenseOption func(*plan.Dense)

// Cutoff sets the largest count that is kept, from 1 to 255; the default is 10.
func Cutoff(n int) DenseOption { return func(d *plan.Dense) { d.Cutoff = n } }

// Wrap lets counts wrap at 256 before the cutoff, as RVT's fast mode does; otherwise they saturate.
func Wrap() DenseOption { return func(d *plan.Dense) { d.Wrap = true } }

// Dense lays counts of binned windows out as blocks (2*bins, rows, columns), OFF first. The keys must be
// exprs.P, exprs.Y, exprs.X, or exprs.P and the other two divided by 2.
func (q Table) Dense(opts ...DenseOption) Tensors {
	d := &plan.Dense{In: q.node, Cutoff: 10}
	for _, o := range opts {
		o(d)
	}
	return Tensors{node: d}
}

// Collect runs the query and returns all rows as one Arrow record, which the caller releases: window,
// window_start, window_end, bin where windows are binned, a column per key, and count, all int64.
func (q Table) Collect(ctx context.Context, opts ...Option) (arrow.RecordBatch, error) {
	r, err := prepare(q.node, opts)
	if err != nil {
		return nil, err
	}
	op, err := r.lowering().table(r.node)
	if err != nil {
		return nil, err
	}
	keys, bins, err := tableColumns(r.node)
	if err != nil {
		return nil, err
	}
	build := exec.NewTableBuilder(keys, bins)
	err = r.run(ctx, op, func(ctx context.Context) error {
		g, err := op.Next(ctx)
		if err == nil {
			r.windows++
			build.Append(g)
		}
		return err
	})
	return build.Record(), err
}

// Explain returns the plan as written, the rules that changed it, and the operators that will run.
func (q Table) Explain(opts ...Option) (string, error) { return explain(q.node, opts) }

// tableColumns returns the names of a group's keys, and whether its windows are binned.
func tableColumns(n plan.Node) (keys []string, bins bool, err error) {
	for {
		switch t := n.(type) {
		case *plan.Limit:
			n = t.In
		case *plan.Group:
			for _, k := range t.Keys {
				keys = append(keys, k.String())
			}
			_, bins = t.In.(*plan.Bin)
			return keys, bins, nil
		default:
			return nil, false, fmt.Errorf("engine: %q yields no table", n)
		}
	}
}

package engine

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/plan"
)

// A Table is a lazy query that yields rows: window, window_start, window_end and window_events where there are windows,
// bin where windows are binned, a column per key and one per aggregate. Integers are int64, other numbers float64.
type Table struct {
	node plan.Node
	err  error // what was wrong with the arguments
}

// Limit keeps the first n rows.
func (q Table) Limit(n int64) Table { return Table{&plan.Limit{In: q.node, N: n}, q.err} }

// An Order is a column to sort by.
type Order = plan.Order

// OrderBy sorts the rows. Rows that are equal stay as they were: in the order of windows, bins and keys.
func (q Table) OrderBy(by ...Order) Table { return Table{&plan.Sort{In: q.node, By: by}, q.err} }

// Table lays the blocks of one representation out as rows, one for each element that is not zero: the window's columns,
// an index for each axis of the block such as channel, y and x, and value.
func (q Tensors) Table() Table { return Table{&plan.Cells{In: q.node}, q.err} }

// A DenseOption says how counts become the bytes of a block.
type DenseOption func(*plan.Dense)

// Cutoff sets the largest count that is kept, from 1 to 255; the default is 10.
func Cutoff(n int) DenseOption { return func(d *plan.Dense) { d.Cutoff = n } }

// Wrap lets counts wrap at 256 before the cutoff, as RVT's fast mode does; otherwise they saturate.
func Wrap() DenseOption { return func(d *plan.Dense) { d.Wrap = true } }

// Schema returns the columns of the query's rows.
func (q Table) Schema(opts ...Option) (*arrow.Schema, error) {
	r, err := q.prepare(opts)
	if err != nil {
		return nil, err
	}
	return exec.Schema(fields(r.node)), nil
}

func (q Table) prepare(opts []Option) (*runner, error) {
	if q.err != nil {
		return nil, q.err
	}
	r, err := prepare(q.node, opts)
	if err != nil {
		return nil, err
	}
	if n := len(fields(r.node)); n == 0 {
		return nil, fmt.Errorf("engine: %q yields no table", r.node)
	}
	return r, nil
}

// Collect runs the query and returns all rows as one Arrow record, which the caller releases.
func (q Table) Collect(ctx context.Context, opts ...Option) (arrow.RecordBatch, error) {
	schema, err := q.Schema(opts...)
	if err != nil {
		return nil, err
	}
	var all []arrow.RecordBatch
	defer func() {
		for _, r := range all {
			r.Release()
		}
	}()
	err = q.Each(ctx, func(r arrow.RecordBatch) error { r.Retain(); all = append(all, r); return nil }, opts...)
	if err != nil {
		return nil, err
	}
	cols := make([]arrow.Array, len(schema.Fields()))
	rows := int64(0)
	for i := range cols {
		var parts []arrow.Array
		for _, r := range all {
			parts = append(parts, r.Column(i))
		}
		if len(parts) == 0 {
			cols[i] = array.MakeArrayOfNull(memory.DefaultAllocator, schema.Field(i).Type, 0)
		} else if cols[i], err = array.Concatenate(parts, memory.DefaultAllocator); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
		defer cols[i].Release()
		rows = int64(cols[i].Len())
	}
	return array.NewRecordBatch(schema, cols, rows), nil
}

// rowsAtOnce is how many rows a record has at most, so that small windows do not make a record each.
const rowsAtOnce = 1 << 14

// Each runs the query and calls do with one record of rows after another; a record is valid until do returns.
func (q Table) Each(ctx context.Context, do func(arrow.RecordBatch) error, opts ...Option) error {
	r, err := q.prepare(opts)
	if err != nil {
		return err
	}
	op, err := r.lowering().table(r.node)
	if err != nil {
		return err
	}
	schema := exec.Schema(op.Fields())
	var held exec.Rows
	flush := func() error {
		if held.N == 0 {
			return nil
		}
		rec := exec.Record(schema, held)
		held = exec.Rows{}
		defer rec.Release()
		return do(rec)
	}
	err = r.run(ctx, op, func(ctx context.Context) error {
		rows, err := op.Next(ctx)
		if err != nil {
			return err
		}
		r.rows += int64(rows.N)
		if held = exec.Joined(held, rows); held.N < rowsAtOnce {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// Explain returns the plan as written, the rules that changed it, and the operators that will run.
func (q Table) Explain(opts ...Option) (string, error) {
	if q.err != nil {
		return "", q.err
	}
	return explain(q.node, opts)
}

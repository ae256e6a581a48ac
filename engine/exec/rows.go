package exec

import (
	"context"

	"github.com/evq-project/evq/udf"
)

// Rows are rows of a table: its columns, all as long as N.
type Rows struct {
	N    int
	Cols []udf.Column
}

// Slice returns rows [lo, hi) without copying.
func (r Rows) Slice(lo, hi int) Rows {
	out := Rows{N: hi - lo, Cols: make([]udf.Column, len(r.Cols))}
	for i, c := range r.Cols {
		if c.Floats != nil {
			out.Cols[i].Floats = c.Floats[lo:hi]
		} else {
			out.Cols[i].Ints = c.Ints[lo:hi]
		}
		if c.Nulls != nil {
			out.Cols[i].Nulls = c.Nulls[lo:hi]
		}
	}
	return out
}

// A Field is one column of a table: int64, or float64.
type Field struct {
	Name  string
	Float bool
}

// A RowOp yields rows of a table, whose columns are known before.
type RowOp interface {
	Op[Rows]
	Fields() []Field
}

// Flat lays the groups of windows out as rows: the window, its start, end and number of events where Windows is
// set, the bin where windows are binned, the keys, and the aggregates.
type Flat struct {
	In      GroupOp
	Columns []Field
	Windows bool
	Binned  bool
}

func (f *Flat) String() string { return "rows" }

// Input implements Operator.
func (f *Flat) Input() Operator { return f.In }

// Close implements Operator.
func (f *Flat) Close() error { return f.In.Close() }

// Fields implements RowOp.
func (f *Flat) Fields() []Field { return f.Columns }

// Next returns the rows of the next windows that have any.
func (f *Flat) Next(ctx context.Context) (Rows, error) {
	for {
		g, err := f.In.Next(ctx)
		if err != nil {
			return Rows{}, err
		}
		if g.N > 0 {
			return f.rows(g), nil
		}
		if err := ctx.Err(); err != nil { // windows without rows may go on for ever
			return Rows{}, err
		}
	}
}

func (f *Flat) rows(g Groups) Rows {
	r := Rows{N: g.N}
	add := func(ints []int64) { r.Cols = append(r.Cols, udf.Column{Ints: ints}) }
	if f.Windows {
		for _, v := range []int64{int64(g.Window.Index), g.Window.Start, g.Window.End, int64(g.Window.Hi - g.Window.Lo)} {
			add(repeat(v, g.N))
		}
	}
	if f.Binned {
		add(g.Bins)
	}
	for _, k := range g.Keys {
		add(k)
	}
	r.Cols = append(r.Cols, g.Values...)
	return r
}

func repeat(v int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

package exec

import (
	"context"
	"sync/atomic"
	"time"
)

// A Meter counts what an operator yields, and how long its reader waited for it.
type Meter struct {
	Op     Operator
	Rows   int64 // events, windows, rows or blocks
	Values int64 // how many times it yielded: batches, runs
	Time   time.Duration
	Peak   int64 // the most bytes that it held at a time; 0 where it holds none or does not tell
}

// A holding operator tells the most bytes that it held at a time.
type holding interface{ Peak() int64 }

// Measured is an operator with a meter around it.
type Measured[T any] struct {
	Op[T]
	size         func(T) int
	rows, values atomic.Int64
	nanos        atomic.Int64
}

// Measure puts a meter around an operator; size tells how many rows a value has.
func Measure[T any](op Op[T], size func(T) int) *Measured[T] { return &Measured[T]{Op: op, size: size} }

// Next implements Op.
func (m *Measured[T]) Next(ctx context.Context) (T, error) {
	from := time.Now()
	v, err := m.Op.Next(ctx)
	m.nanos.Add(int64(time.Since(from)))
	if err == nil {
		m.rows.Add(int64(m.size(v)))
		m.values.Add(1)
	}
	return v, err
}

// Meter returns what was counted so far.
func (m *Measured[T]) Meter() Meter {
	out := Meter{Op: m.Op, Rows: m.rows.Load(), Values: m.values.Load(), Time: time.Duration(m.nanos.Load())}
	if h, ok := m.Op.(holding); ok {
		out.Peak = h.Peak()
	}
	return out
}

// WithFields makes an operator of rows from one that lost its columns on the way.
func WithFields(op Op[Rows], fields []Field) RowOp { return &fielded{op, fields} }

type fielded struct {
	Op[Rows]
	fields []Field
}

// Fields implements RowOp.
func (f *fielded) Fields() []Field { return f.fields }

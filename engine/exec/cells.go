package exec

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Cells lays blocks out as rows: the window, its start, end and number of events, an index for each axis of the block,
// and the value, for every element that is not zero.
type Cells struct {
	In      BlockOp
	Layout  tensor.Layout
	Columns []Field
}

func (c *Cells) String() string { return "cells of " + c.Layout.Shape.String() }

// Input implements Operator.
func (c *Cells) Input() Operator { return c.In }

// Close implements Operator.
func (c *Cells) Close() error { return c.In.Close() }

// Fields implements RowOp.
func (c *Cells) Fields() []Field { return c.Columns }

// Next returns the rows of the next block that has any.
func (c *Cells) Next(ctx context.Context) (Rows, error) {
	for {
		b, err := c.In.Next(ctx)
		if err != nil {
			return Rows{}, err
		}
		r := c.rows(b)
		b.Release()
		if r.N > 0 {
			return r, nil
		}
		if err := ctx.Err(); err != nil { // blocks without a value may go on for ever
			return Rows{}, err
		}
	}
}

func (c *Cells) rows(b tensor.Block) Rows {
	at, value := nonZero(b)
	r := Rows{N: len(at)}
	for _, v := range []int64{int64(b.Index), b.Start, b.End, b.Events} {
		r.Cols = append(r.Cols, udf.Column{Ints: repeat(v, r.N)})
	}
	stride := b.Shape.Len()
	for _, n := range b.Shape {
		stride /= n
		col := make([]int64, r.N)
		for i, cell := range at {
			col[i] = int64(cell / stride % n)
		}
		r.Cols = append(r.Cols, udf.Column{Ints: col})
	}
	r.Cols = append(r.Cols, value)
	return r
}

// nonZero returns the elements of a block that are not zero, and where they stand.
func nonZero(b tensor.Block) (at []int, value udf.Column) {
	size := b.DType.Size()
	zeros := make([]byte, 4096)
	if b.DType == tensor.Float32 {
		value.Floats = []float64{}
	}
	for lo := 0; lo < len(b.Data); lo += len(zeros) {
		part := b.Data[lo:min(lo+len(zeros), len(b.Data))]
		if string(part) == string(zeros[:len(part)]) { // most of a block is zero
			continue
		}
		for i := 0; i < len(part); i += size {
			n, f, zero := element(b.DType, part[i:])
			if zero {
				continue
			}
			at = append(at, (lo+i)/size)
			if value.Floats != nil {
				value.Floats = append(value.Floats, f)
			} else {
				value.Ints = append(value.Ints, n)
			}
		}
	}
	return at, value
}

// element reads one element: as a float where its type is one, else as an integer.
func element(t tensor.DType, b []byte) (n int64, f float64, zero bool) {
	switch t {
	case tensor.Uint8:
		n = int64(b[0])
	case tensor.Int8:
		n = int64(int8(b[0]))
	case tensor.Uint32:
		n = int64(binary.LittleEndian.Uint32(b))
	case tensor.Int32:
		n = int64(int32(binary.LittleEndian.Uint32(b)))
	case tensor.Int64:
		n = int64(binary.LittleEndian.Uint64(b))
	case tensor.Float32:
		f = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		return 0, f, f == 0
	}
	return n, 0, n == 0
}

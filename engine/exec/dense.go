package exec

import (
	"context"
	"fmt"

	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Dense lays the groups of each window out as a block shaped (2*bins, rows, columns). The groups' keys are
// polarity, row and column, its one aggregate their count; those that lie outside are dropped.
type Dense struct {
	In     GroupOp
	Bins   int
	Layout tensor.Layout
	Cutoff int
	Wrap   bool

	pool *tensor.Pool
}

func (d *Dense) String() string {
	s := fmt.Sprintf("dense %v %v cutoff=%d", d.Layout.Shape, d.Layout.DType, d.Cutoff)
	if d.Wrap {
		s += " overflow=wrap"
	}
	return s
}

// Input implements Operator.
func (d *Dense) Input() Operator { return d.In }

// Close implements Operator.
func (d *Dense) Close() error { return d.In.Close() }

// Next returns the block of the next window.
func (d *Dense) Next(ctx context.Context) (tensor.Block, error) {
	g, err := d.In.Next(ctx)
	if err != nil {
		return tensor.Block{}, err
	}
	if d.pool == nil {
		d.pool = tensor.NewPool(d.Layout)
	}
	b := d.pool.Get()
	w := g.Window
	b.Index, b.Start, b.End, b.Events = w.Index, w.Start, w.End, int64(w.Hi-w.Lo)
	clear(b.Data)
	rows, cols := int64(d.Layout.Shape[1]), int64(d.Layout.Shape[2])
	for i, n := range g.Values[0].Ints {
		p, y, x := g.Keys[0][i], g.Keys[1][i], g.Keys[2][i]
		if y >= rows || x >= cols {
			continue
		}
		if uint64(p) > 1 {
			return tensor.Block{}, fmt.Errorf("window %d: %w", w.Index, udf.ErrPolarity)
		}
		c := p*int64(d.Bins) + g.Bins[i]
		b.Data[(c*rows+y)*cols+x] = d.count(n)
	}
	return b, nil
}

// count applies the overflow rule and the cutoff.
func (d *Dense) count(n int64) byte {
	if d.Wrap {
		n &= 255
	}
	return byte(min(n, int64(d.Cutoff)))
}

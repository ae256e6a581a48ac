package cpu

import (
	"context"

	"github.com/evq-project/evq/accel"
)

// strays reports whether an event of a window lies off the sensor.
func (k *kernel) strays(job accel.Job, segments []accel.Segment) bool {
	for _, s := range segments {
		lo, hi := int(s.Start), int(s.Start)+int(s.Len)
		if outside(job.X[lo:hi], k.grid.Width) || outside(job.Y[lo:hi], k.grid.Height) {
			return true
		}
	}
	return false
}

// flatWindow counts a window with strays by RVT's flat index. A stray may land in any later plane, so the
// window is cleared first and clipped last, whole.
func (k *kernel) flatWindow(ctx context.Context, job accel.Job, segments []accel.Segment, dst []uint8) (off int64, err error) {
	clear(dst)
	for _, s := range segments {
		lo, end := int(s.Start), int(s.Start)+int(s.Len)
		for ; lo < end; lo += block {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			hi := min(lo+block, end)
			x, y, p := job.X[lo:hi], job.Y[lo:hi], job.P[lo:hi]
			if err := checkPolarity(p, lo); err != nil {
				return 0, err
			}
			n, dropped := k.flat(x, y, p, int(s.Bin))
			off += int64(dropped)
			k.add(dst, k.cells[:n])
		}
	}
	k.clip(dst, dst)
	return off, nil
}

// flat lists the cells of a block, those of strays included.
func (k *kernel) flat(x, y []uint16, p []int8, bin int) (n, dropped int) {
	g := k.grid
	for i := range x {
		c, row, column, ok := place(g, int(p[i])*g.Bins+bin, int(y[i]), int(x[i]))
		if !ok {
			dropped++
			continue
		}
		if g.Downsample == 2 {
			if row&column&1 == 0 {
				continue
			}
			row, column = row/2, column/2
		}
		k.cells[n] = uint32((c*g.Rows()+row)*g.Columns() + column)
		n++
	}
	return n, dropped
}

package scatter

import (
	"context"

	"github.com/evq-project/evq/accel"
)

// flat packs window after window. The events of one with strays are written as cells, so that kernels need not know
// RVT's flat index.
func (w *writer) flat(ctx context.Context) error {
	rest := w.batch.segments
	for len(rest) > 0 {
		n := 1
		for n < len(rest) && rest[n].Window == rest[0].Window {
			n++
		}
		before := *w
		for _, s := range rest[:n] {
			if err := w.segment(ctx, s); err != nil {
				return err
			}
		}
		if w.off > before.off {
			*w = before
			if err := w.strays(ctx, rest[:n]); err != nil {
				return err
			}
		}
		rest = rest[n:]
	}
	return nil
}

// strays writes the cells of a window's events that count. There are no more of them, and no more runs of them, than
// of the events.
func (w *writer) strays(ctx context.Context, segments []accel.Segment) error {
	first := w.n
	for _, s := range segments {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := int(s.Start); i < int(s.Start)+int(s.Len); i++ {
			cell, counts, inside := w.cell(s, int(w.job.X[i]), int(w.job.Y[i]), int(w.job.P[i]))
			if !inside {
				w.off++
			} else if counts {
				w.events[w.n] = cell
				w.n++
			}
		}
	}
	w.point(cells, uint32(first), uint32(w.n-first))
	return nil
}

// cell returns where RVT's unchecked flat index puts an event, whether it counts there at half resolution, and whether
// that is inside its window's block at all (uzh-rpg/RVT, data/utils/representations.py).
func (w *writer) cell(s accel.Segment, x, y, p int) (cell uint32, counts, inside bool) {
	g := w.grid
	flat := ((int64(p)*int64(g.Bins)+int64(s.Bin))*int64(g.Height)+int64(y))*int64(g.Width) + int64(x)
	row := flat / int64(g.Width)
	channel := int(row / int64(g.Height))
	y, x = int(row%int64(g.Height)), int(flat%int64(g.Width))
	if channel >= g.Channels() {
		return 0, false, false
	}
	if g.Downsample == 2 {
		if x&y&1 == 0 {
			return 0, false, true
		}
		x, y = x/2, y/2
	}
	at := (int(s.Window)-w.batch.Window)*g.Len() + (channel*g.Rows()+y)*g.Columns() + x
	return uint32(at), true, true
}

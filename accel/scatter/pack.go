package scatter

import (
	"context"
	"fmt"
	"math"

	"github.com/evq-project/evq/accel"
)

const (
	// block is how many events are packed between two looks at what is wrong with them.
	block = 4096
	// patience is how many are packed between two looks at the context.
	patience = 64 * block
)

// Pack writes a batch's events and runs, for which there must be room, and returns how many of each there are and how
// many events lie off the sensor, each counted once for each segment it is in. The errors are the context's, and one
// for a polarity other than 0 and 1 in a segment.
func (p *Planner) Pack(ctx context.Context, b Batch, events []uint32, runs []Run) (nEvents, nRuns int, off int64, err error) {
	if b.Events > math.MaxUint32 {
		return 0, 0, 0, fmt.Errorf("accel: window %d has %d events; a device counts up to 2^32-1 of a window: use shorter windows", b.Window, b.Events)
	}
	w := writer{Planner: p, batch: b, events: events, runs: runs}
	switch {
	case b.shared:
		err = w.once(ctx)
	case p.grid.Flat:
		err = w.flat(ctx)
	default:
		for _, s := range b.segments {
			if err = w.segment(ctx, s); err != nil {
				break
			}
		}
	}
	return w.n, w.nRuns, w.off, err
}

// A writer packs one batch.
type writer struct {
	*Planner
	batch  Batch
	events []uint32
	runs   []Run
	n      int // events written
	nRuns  int
	off    int64
}

// once packs the events between the first and the last of the batch, and points all segments at them.
func (w *writer) once(ctx context.Context) error {
	b := w.batch
	odd, err := w.pack(ctx, b.lo, b.hi)
	if err != nil {
		return err
	}
	for _, s := range b.segments {
		if odd {
			if err := w.examine(s); err != nil {
				return err
			}
		}
		w.point(w.base(s), uint32(int(s.Start)-b.lo), s.Len)
	}
	return nil
}

// segment packs the events of one segment.
func (w *writer) segment(ctx context.Context, s accel.Segment) error {
	first := w.n
	odd, err := w.pack(ctx, int(s.Start), int(s.Start)+int(s.Len))
	if err != nil {
		return err
	}
	if odd {
		if err := w.examine(s); err != nil {
			return err
		}
	}
	w.point(w.base(s), uint32(first), s.Len)
	return nil
}

// base returns where the OFF plane of a segment begins in the batch.
func (w *writer) base(s accel.Segment) uint32 {
	return uint32((int(s.Window)-w.batch.Window)*w.size + int(s.Bin)*w.plane)
}

// point adds the runs of packed events.
func (w *writer) point(base, first, n uint32) {
	for n > 0 {
		l := min(n, runEvents)
		w.runs[w.nRuns] = Run{base, first, l}
		w.nRuns++
		first, n = first+l, n-l
	}
}

// pack packs the events [lo, hi) and reports whether one of them lies off the sensor, where it is marked, or has an
// odd polarity.
func (w *writer) pack(ctx context.Context, lo, hi int) (odd bool, err error) {
	roomX, roomY := uint32(1<<15-w.grid.Width), uint32(1<<15-w.grid.Height)
	for done := 0; lo < hi; done, lo = done+block, lo+block {
		if done%patience == 0 {
			if err := ctx.Err(); err != nil {
				return false, err
			}
		}
		end := min(lo+block, hi)
		x, y, p := w.job.X[lo:end], w.job.Y[lo:end], w.job.P[lo:end]
		to := w.events[w.n : w.n+len(x)]
		if pack(to, x, y, p, roomX, roomY) {
			odd = true
			mark(to, x, y, w.grid)
		}
		w.n += len(x)
	}
	return odd, nil
}

// pack packs a block; roomX and roomY are 1<<15 less the sensor's width and height. It reports whether an event lies
// off the sensor or has a polarity other than 0 and 1.
func pack(to []uint32, x, y []uint16, p []int8, roomX, roomY uint32) (odd bool) {
	x, y, p = x[:len(to)], y[:len(to)], p[:len(to)]
	var seen uint32
	for i := range to {
		xi, yi, pi := uint32(x[i]), uint32(y[i]), uint32(uint8(p[i]))
		to[i] = xi | yi<<15 | pi<<30
		seen |= (xi + roomX) | (yi + roomY) | pi>>1<<15 // all below 1<<15 as long as nothing is odd
	}
	return seen>>15 != 0
}

// mark marks the events of a block that lie off the sensor.
func mark(to []uint32, x, y []uint16, g accel.Grid) {
	for i := range to {
		if int(x[i]) >= g.Width || int(y[i]) >= g.Height {
			to[i] = nowhere
		}
	}
}

// examine counts the events of a segment that lie off the sensor, and refuses odd polarities.
func (w *writer) examine(s accel.Segment) error {
	for i := int(s.Start); i < int(s.Start)+int(s.Len); i++ {
		if p := w.job.P[i]; p&^1 != 0 {
			return fmt.Errorf("accel: polarity %d of event %d; 0 (OFF) and 1 (ON) are possible", p, i)
		}
		if int(w.job.X[i]) >= w.grid.Width || int(w.job.Y[i]) >= w.grid.Height {
			w.off++
		}
	}
	return nil
}

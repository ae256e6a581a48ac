package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evq-project/evq/accel/scatter"
)

// A run is one job on its way.
type run struct {
	*kernel
	ctx     context.Context
	dst     []uint8
	limit   scatter.Limit
	off     int64
	n       int    // batches begun
	waiting *slot  // counted, perhaps, and not copied back
	clock   *clock // nil unless the stages are timed
}

// batches counts the whole job: each batch is begun before the one before it is copied back, unless its stages are timed.
func (r *run) batches() error {
	for {
		b, more := r.planner.Next(r.limit)
		if !more {
			return r.collect()
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		to := r.dst[b.Window*r.planner.Size()*r.width:][:b.Counts*r.width]
		if b.Events == 0 {
			clear(to)
			r.planner.Advance(b)
			continue
		}
		s := &r.slots[r.n%2]
		smaller, err := r.reserve(s, b)
		if err != nil {
			return err
		}
		if smaller {
			continue
		}
		s.clock = r.clock
		if err := r.begin(s, b, to); err != nil {
			return err
		}
		r.planner.Advance(b)
		if err := r.collect(); err != nil {
			return err
		}
		r.waiting, r.n = s, r.n+1
		if r.clock != nil {
			if err := r.collect(); err != nil {
				return err
			}
		}
	}
}

// reserve sees to it that a slot has room for a batch. Where the device has no more memory it lets go of the other slot,
// then asks for a smaller batch.
func (r *run) reserve(s *slot, b scatter.Batch) (smaller bool, err error) {
	bytes := b.Counts * r.width
	err = s.reserve(r.driver, b, bytes)
	var failed *Error
	if !errors.As(err, &failed) || failed.Code != outOfMemory {
		return false, err
	}
	if err := r.collect(); err != nil {
		return false, err
	}
	for i := range r.slots {
		if err := r.slots[i].release(r.driver); err != nil {
			return false, err
		}
	}
	if err = s.reserve(r.driver, b, bytes); !errors.As(err, &failed) || failed.Code != outOfMemory {
		return false, err
	}
	if b.Windows == 1 {
		return false, fmt.Errorf("accel: window %d needs %d MiB of the device for %d events and %d counts: %w; use shorter windows, fewer bins or --device cpu",
			b.Window, (input(b)+bytes)>>20, b.Events, b.Counts, failed)
	}
	r.limit = scatter.Limit{Counts: b.Counts / 2, Events: b.Events / 2}
	r.kernel.limit = r.limit // the next job need not find out again
	return true, nil
}

// begin packs a batch and hands it to the slot's stream.
func (r *run) begin(s *slot, b scatter.Batch, to []uint8) error {
	began := time.Now()
	events, runs := s.room(b)
	nEvents, nRuns, off, err := r.planner.Pack(r.ctx, b, events, runs)
	if err != nil {
		return err
	}
	if r.clock != nil {
		r.clock.add("pack", time.Since(began))
	}
	r.off += off
	s.to = to
	return s.begin(r.kernel, b, nEvents, nRuns, target{s.counts, len(to), s.stream})
}

// collect copies back what the waiting batch counted.
func (r *run) collect() error {
	s := r.waiting
	r.waiting = nil
	if s == nil {
		return nil
	}
	if err := s.collect(r.driver); err != nil || r.clock == nil {
		return err
	}
	return r.clock.read(r.driver)
}

package order

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/evq-project/evq/io/event"
)

const (
	// optimism is the horizon of a scan that may start over: what is held back, in microseconds, before
	// anything is known of the recording's order.
	optimism = 10_000
	// footprint is what sorting one event takes at most: in a buffer, in a block, in its key twice, and in
	// a buffer again.
	footprint = 13 + 13 + 16 + 13
	// fewest and most bound how many events a buffer made here holds.
	fewest, most = 64, 1 << 16
)

// errChanged reports a recording that is less in order than it was when it was read before.
var errChanged = errors.New("the recording changed while it was read, or is not in order as it says; try again")

// sorted orders by time. It holds events back as long as an earlier one can follow: the horizon is the
// largest step back of the recording, which is learned by reading it once, or taken on trust where the scan
// may start over.
func sorted(ctx context.Context, open func(ctx context.Context, probe bool) (Input, error), o Options, rep *event.Report) (Input, error) {
	if o.Learned == nil {
		o.Learned = &Learned{}
	}
	horizon, sure := o.Learned.Step()
	if !sure {
		if sure = !o.Restartable || !o.Whole; sure {
			var err error
			if horizon, err = probe(ctx, open, o.Learned); err != nil {
				return nil, err
			}
		} else {
			horizon = optimism
		}
	}
	in, err := open(ctx, false)
	if err != nil {
		return nil, err
	}
	limit := int(min(max(o.Memory/footprint, 16*fewest), math.MaxInt32))
	size := min(max(limit/8, fewest), most)
	return &sorter{
		in: in, o: o, rep: rep, horizon: horizon, sure: sure,
		limit: limit, size: size, pool: event.NewPool(size), last: math.MinInt64,
	}, nil
}

// A sorter holds events back until no earlier one can follow. What is in order stays in the buffers it came
// in; what is not is sorted together with what it overlaps.
type sorter struct {
	in      Input
	o       Options
	rep     *event.Report
	horizon int64
	sure    bool // the horizon is known to suffice
	limit   int  // how many events may be held
	size    int  // of the buffers made here
	pool    *event.Pool

	clock clock
	step  int64 // the largest step back so far
	last  int64 // the time of the last event yielded

	queue []*event.Buffer // in time order
	held  int             // events that the buffers of queue and late have room for
	late  lateness
	block block
	spill *spill
	merge *merge
	end   error // what the input ended with
}

func (s *sorter) Next(ctx context.Context) (*event.Buffer, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.merge != nil {
			if b, err := s.merge.next(ctx); b != nil || err != nil {
				return b, err
			}
			return nil, s.end
		}
		if b := s.pop(); b != nil {
			return b, nil
		}
		if s.end != nil {
			return nil, s.end
		}
		step := s.take
		if s.held > s.limit {
			step = s.overflow
		}
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
}

// pop returns the first buffer of the queue if no earlier event can follow.
func (s *sorter) pop() *event.Buffer {
	if len(s.queue) == 0 {
		return nil
	}
	b := s.queue[0]
	t := b.T[b.Len()-1]
	if s.end == nil && (t > earlier(s.clock.now(), s.horizon) || s.late.n > 0 && t > s.late.earliest) {
		return nil
	}
	s.queue = slices.Delete(s.queue, 0, 1)
	s.held -= b.Cap()
	s.last = t
	return b
}

// take reads one buffer into the queue, or behind it.
func (s *sorter) take(ctx context.Context) error {
	b, late, err := s.read(ctx)
	if err != nil || b == nil {
		return err
	}
	s.held += b.Cap()
	if late == 0 && s.late.n == 0 {
		s.queue = append(s.queue, b)
	} else {
		s.late.add(b)
		s.repairIfDue()
	}
	return nil
}

// read returns the next buffer and how many of its events lie before an earlier one; no buffer at the end of
// the input, which it settles.
func (s *sorter) read(ctx context.Context) (*event.Buffer, int64, error) {
	b, err := s.in.Next(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, 0, err
		}
		s.finish(err)
		return nil, 0, nil
	}
	l := s.clock.see(b.T)
	if l.n == 0 {
		return b, 0, nil
	}
	s.rep.Count(event.Unsorted, l.n, l.first)
	s.step = max(s.step, l.step)
	if slices.Min(b.T) >= s.last && (!s.sure || l.step <= s.horizon) {
		return b, l.n, nil
	}
	b.Release()
	return nil, 0, s.disappointed(ctx)
}

// disappointed deals with an event that comes too late for the horizon.
func (s *sorter) disappointed(ctx context.Context) error {
	if s.sure {
		return fmt.Errorf("order: event before %d us: %w", s.last, errChanged)
	}
	step, err := exhaust(ctx, s.in, &s.clock)
	if ctx.Err() != nil {
		return err
	}
	s.o.Learned.Set(max(s.step, step))
	return event.ErrRestart
}

// finish settles the end of the input: nothing can follow what is held.
func (s *sorter) finish(err error) {
	s.end = err
	if s.late.n > 0 {
		s.repair()
	}
	if errors.Is(err, io.EOF) && s.o.Whole {
		s.o.Learned.Set(s.step)
	}
}

// overflow makes room. Where the horizon is sure, what is held and all that follows is sorted outside of
// memory. Otherwise events are let go early, on trust that nothing earlier follows.
func (s *sorter) overflow(ctx context.Context) error {
	switch {
	case s.late.n > s.limit/8:
		s.repair() // which may be all that is needed
		return nil
	case s.sure:
		return s.external(ctx)
	case s.late.n > 0:
		s.repair()
	}
	middle := s.queue[len(s.queue)/2]
	s.horizon = between(middle.T[middle.Len()-1], s.clock.now())
	return nil
}

func (s *sorter) Close() error {
	for _, b := range slices.Concat(s.queue, s.late.buffers) {
		b.Release()
	}
	s.queue, s.late = nil, lateness{}
	err := s.in.Close()
	if s.spill != nil {
		err = errors.Join(err, s.spill.close())
		s.spill = nil
	}
	return err
}

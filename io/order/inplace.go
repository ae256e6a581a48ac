package order

import (
	"context"

	"github.com/evq-project/evq/io/event"
)

// inPlace applies the policies that look at one event after the other and hold nothing back.
type inPlace struct {
	Input
	policy Policy
	rep    *event.Report
	clock  clock
}

func (s *inPlace) Next(ctx context.Context) (*event.Buffer, error) {
	for {
		b, err := s.Input.Next(ctx)
		if err != nil {
			return nil, err
		}
		before := s.clock
		if late := s.clock.see(b.T); late.n > 0 {
			if err := s.repair(b, before, late); err != nil {
				b.Release()
				return nil, err
			}
		}
		if b.Len() > 0 {
			return b, nil
		}
		b.Release()
	}
}

// repair treats a buffer in which some events lie before an earlier one.
func (s *inPlace) repair(b *event.Buffer, before clock, l late) error {
	switch s.policy {
	case Keep:
		s.rep.Count(event.Unsorted, l.n, l.first)
	case Clamp:
		s.rep.Count(event.Unsorted, l.n, l.first)
		clamp(b.T, before.now())
	case Drop:
		s.rep.Lose(event.Unsorted, l.n, l.first)
		drop(b, before.now())
	case Error:
		s.rep.Count(event.Unsorted, l.n, l.first)
		return &UnsortedError{Index: l.first, Step: l.firstStep}
	}
	return nil
}

// clamp raises each time to the largest before it.
func clamp(t []int64, now int64) {
	for i, v := range t {
		now = max(now, v)
		t[i] = now
	}
}

// drop leaves out the events that lie before the largest time so far.
func drop(b *event.Buffer, now int64) {
	n := 0
	for i, v := range b.T {
		if v < now {
			continue
		}
		now = v
		b.T[n] = v
		n++
		if len(b.X) == len(b.T) {
			b.X[n-1] = b.X[i]
		}
		if len(b.Y) == len(b.T) {
			b.Y[n-1] = b.Y[i]
		}
		if len(b.P) == len(b.T) {
			b.P[n-1] = b.P[i]
		}
	}
	shrink(b, n)
}

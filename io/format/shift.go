package format

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
)

// A shift subtracts the time of the recording's first event from all. Triggers that are met before it is
// known are held back.
type shift struct {
	start *start
	whole bool // the scan sees every event, so that its first is the recording's
	known bool
	by    int64

	out     func([]event.Trigger) error
	held    []event.Trigger
	shifted []event.Trigger
}

func (s *shift) init(st *start, triggers func([]event.Trigger) error) {
	s.start, s.out = st, triggers
	s.by, s.known = st.get()
}

// apply shifts the times of the next events, which are in order.
func (s *shift) apply(t []int64, rep *event.Report) error {
	if !s.known {
		s.known, s.by = true, t[0]
		if s.whole {
			s.start.set(s.by)
		}
	}
	if rep.Events == 0 {
		rep.Shift = s.by
		rep.Note("time shift %d us: the recording's first event lies at 0.", s.by)
		if err := s.flush(); err != nil {
			return err
		}
	}
	if last := t[len(t)-1]; last > s.by && last-s.by < 0 {
		return fmt.Errorf("times from %d to %d us lie further apart than 63 bits; leave out --zero", s.by, last)
	}
	for i, v := range t {
		t[i] = v - s.by
	}
	return nil
}

// triggers shifts what the decoder meets and hands it on.
func (s *shift) triggers(tr []event.Trigger) error {
	if !s.known {
		s.held = append(s.held, tr...)
		return nil
	}
	s.shifted = s.shifted[:0]
	for _, v := range tr {
		v.T -= s.by
		s.shifted = append(s.shifted, v)
	}
	return s.out(s.shifted)
}

// flush hands on the triggers that were held back. A recording without events is not shifted.
func (s *shift) flush() error {
	held := s.held
	s.held = nil
	if len(held) == 0 {
		return nil
	}
	s.known = true
	return s.triggers(held)
}

// addSaturated returns a+b, at the limits of int64 where it lies beyond them; the limits stay.
func addSaturated(a, b int64) int64 {
	switch {
	case a == math.MinInt64 || a == math.MaxInt64:
		return a
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

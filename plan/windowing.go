package plan

import (
	"fmt"
	"time"
)

// A Windowing says how events are cut into windows. The set is closed.
type Windowing interface {
	fmt.Stringer
	validate() error
}

// Ends are windows that end at given times, closed at both ends: event times from End-Span to End. This is
// how RVT cuts (searchsorted left on End-Span, right on End), so neighbours share events on their border.
type Ends struct {
	Times []int64 // microseconds, not decreasing
	Span  int64   // microseconds
}

// Every are half-open windows [Origin+k*Hop, Origin+k*Hop+Length) on a grid that has no beginning. The grid
// runs from the earliest window that holds the first event to the latest that holds the last, or over every
// window that intersects Range.
type Every struct {
	Length, Hop int64 // microseconds
	Origin      int64 // microseconds
	FromFirst   bool  // Origin counts from the first event
	Range       *TimeRange
}

// A TimeRange is half-open: From <= t < To, in microseconds.
type TimeRange struct{ From, To int64 }

// Count are windows of N events, each Step events after the one before. The rest of the recording makes a
// shorter last window unless Complete is set.
type Count struct {
	N, Step  int64
	Complete bool
}

// EndsCount are windows of the last N events at or before each given time: RVT's windows of so many events.
type EndsCount struct {
	Times []int64 // microseconds, not decreasing
	N     int64
}

// Whole is the whole recording as one window, from its first event to its last, both inside.
type Whole struct{}

// Intervals are half-open windows [Starts[i], Ends[i]) that are given one by one: between edges of a trigger, or
// around them.
type Intervals struct {
	Starts, Ends []int64 // microseconds; starts do not decrease, and no window ends before it starts
	By           string  // where they come from, as the plan shows it
}

func (w Intervals) String() string {
	s := fmt.Sprintf("intervals=%d", len(w.Starts))
	if w.By != "" {
		s += " by " + w.By
	}
	return s
}

func (w Intervals) validate() error {
	if len(w.Starts) != len(w.Ends) {
		return fmt.Errorf("%w: %d window starts and %d ends", ErrInvalid, len(w.Starts), len(w.Ends))
	}
	for i, start := range w.Starts {
		switch end := w.Ends[i]; {
		case start > end:
			return fmt.Errorf("%w: window %d ends at %d, before it starts at %d", ErrInvalid, i, end, start)
		case i > 0 && start < w.Starts[i-1]:
			return fmt.Errorf("%w: window %d starts at %d, before the one before it at %d", ErrInvalid, i, start, w.Starts[i-1])
		case start < -longest || end > longest:
			return fmt.Errorf("%w: window %d from %d to %d is out of reach", ErrInvalid, i, start, end)
		}
	}
	return nil
}

func (w Ends) String() string {
	return fmt.Sprintf("ends=%d span=%v", len(w.Times), micros(w.Span))
}

func (w Every) String() string {
	s := fmt.Sprintf("every=%v", micros(w.Hop))
	if w.Length != w.Hop {
		s += fmt.Sprintf(" length=%v", micros(w.Length))
	}
	if w.FromFirst {
		s += " origin=first"
		if w.Origin != 0 {
			s += fmt.Sprintf("%+d", w.Origin)
		}
	} else if w.Origin != 0 {
		s += fmt.Sprintf(" origin=%d", w.Origin)
	}
	if w.Range != nil {
		s += fmt.Sprintf(" over [%d, %d)", w.Range.From, w.Range.To)
	}
	return s
}

func (w Count) String() string {
	s := fmt.Sprintf("count=%d", w.N)
	if w.Step != w.N {
		s += fmt.Sprintf(" step=%d", w.Step)
	}
	if w.Complete {
		s += " complete"
	}
	return s
}

func (w EndsCount) String() string { return fmt.Sprintf("ends=%d count=%d", len(w.Times), w.N) }

func (Whole) String() string { return "whole recording" }

// micros prints microseconds as a duration.
func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// longest is the longest window and the farthest time, in microseconds, that window arithmetic allows: some
// 73,000 years. Sums of four such numbers fit into int64, which is what the arithmetic needs.
const longest = int64(1)<<61 - 1

func (w Ends) validate() error {
	if w.Span < 0 || w.Span > longest {
		return fmt.Errorf("%w: a window span of %d µs", ErrInvalid, w.Span)
	}
	return validateGrid(w.Times)
}

func (w EndsCount) validate() error {
	if w.N < 1 {
		return fmt.Errorf("%w: windows of %d events; at least 1 is possible", ErrInvalid, w.N)
	}
	return validateGrid(w.Times)
}

func validateGrid(times []int64) error {
	if len(times) == 0 {
		return fmt.Errorf("%w: a grid without window ends", ErrInvalid)
	}
	for i, t := range times {
		if i > 0 && t < times[i-1] {
			return fmt.Errorf("%w: window end %d at index %d lies before %d; sort the grid", ErrInvalid, t, i, times[i-1])
		}
		if t > longest || t < -longest {
			return fmt.Errorf("%w: window end %d at index %d is out of reach", ErrInvalid, t, i)
		}
	}
	return nil
}

func (w Every) validate() error {
	if w.Length < 1 || w.Hop < 1 || w.Length > longest || w.Hop > longest {
		return fmt.Errorf("%w: windows of %v every %v; both must be at least 1 µs", ErrInvalid, micros(w.Length), micros(w.Hop))
	}
	if w.Origin > longest || w.Origin < -longest {
		return fmt.Errorf("%w: window origin %d is out of reach", ErrInvalid, w.Origin)
	}
	if w.Range == nil {
		return nil
	}
	if w.Range.From > w.Range.To {
		return fmt.Errorf("%w: the time range from %d to %d ends before it starts", ErrInvalid, w.Range.From, w.Range.To)
	}
	if w.Range.From < -longest || w.Range.To > longest {
		return fmt.Errorf("%w: windows over the times from %d to %d are out of reach", ErrInvalid, w.Range.From, w.Range.To)
	}
	return nil
}

func (w Count) validate() error {
	if w.N < 1 || w.Step < 1 {
		return fmt.Errorf("%w: windows of %d events every %d; both must be at least 1", ErrInvalid, w.N, w.Step)
	}
	return nil
}

func (Whole) validate() error { return nil }

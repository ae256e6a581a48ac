package exec

import (
	"fmt"
	"math"
	"time"
)

// Bounds says which time windows there are, in order. Every event with start <= t <= last belongs to a
// window: half-open windows have last = end-1.
type Bounds interface {
	fmt.Stringer
	// Begin tells the time of the first event, before the first call of Window where there is an event.
	Begin(t int64)
	// Reaches reports whether windows can be laid around an event at t without leaving int64.
	Reaches(t int64) bool
	// Window returns window i. ok is false where there is none, as far as events up to seen tell; done says
	// that no event comes after them.
	Window(i int, seen int64, done bool) (w Interval, ok bool)
	// Ended reports that there are no windows from i on, whatever events come.
	Ended(i int) bool
}

// An Interval is one time window.
type Interval struct{ Start, End, Last int64 }

// EndsBounds are windows closed at both ends that end at the given times: t - Span <= event <= t.
type EndsBounds struct {
	Times []int64
	Span  int64 // microseconds
}

func (b *EndsBounds) String() string {
	return fmt.Sprintf("ends=%d span=%v, closed", len(b.Times), time.Duration(b.Span)*time.Microsecond)
}

// Begin implements Bounds: the grid does not depend on the events.
func (b *EndsBounds) Begin(int64) {}

// Reaches implements Bounds: event times are only compared.
func (b *EndsBounds) Reaches(int64) bool { return true }

// Window implements Bounds.
func (b *EndsBounds) Window(i int, _ int64, _ bool) (Interval, bool) {
	if i >= len(b.Times) {
		return Interval{}, false
	}
	end := b.Times[i]
	return Interval{end - b.Span, end, end}, true
}

// Ended implements Bounds.
func (b *EndsBounds) Ended(i int) bool { return i >= len(b.Times) }

// EveryBounds are half-open windows on a grid through Origin. Without a range the grid runs from the earliest
// window that holds the first event to the latest that starts by the last; with one, over every window that
// intersects [From, To).
type EveryBounds struct {
	Length, Hop, Origin int64 // microseconds
	FromFirst           bool  // Origin counts from the first event
	Ranged              bool
	From, To            int64

	begun bool
	first int64 // the number on the grid of window 0
}

func (b *EveryBounds) String() string {
	s := fmt.Sprintf("every=%v length=%v", time.Duration(b.Hop)*time.Microsecond, time.Duration(b.Length)*time.Microsecond)
	if b.FromFirst {
		s += fmt.Sprintf(" origin=first%+d", b.Origin)
	} else {
		s += fmt.Sprintf(" origin=%d", b.Origin)
	}
	return s + ", half-open"
}

// Begin implements Bounds.
func (b *EveryBounds) Begin(t int64) {
	if b.begun {
		return
	}
	if b.FromFirst {
		b.Origin += t
	}
	if b.Ranged {
		t = b.From
	}
	b.begun, b.first = true, b.earliest(t)
}

// farthest is the farthest event from time 0 that windows on a grid reach, in microseconds: as far as the plan
// lets origins and lengths lie, so that sums of four of them fit into int64.
const farthest = int64(1)<<61 - 1

// Reaches implements Bounds.
func (b *EveryBounds) Reaches(t int64) bool { return -farthest <= t && t <= farthest }

// earliest returns the number of the first window that ends after t.
func (b *EveryBounds) earliest(t int64) int64 {
	d := t - b.Origin - b.Length
	k := d / b.Hop
	if d%b.Hop < 0 {
		k--
	}
	return k + 1
}

// Window implements Bounds.
func (b *EveryBounds) Window(i int, seen int64, _ bool) (Interval, bool) {
	if !b.begun {
		if !b.Ranged || b.FromFirst {
			return Interval{}, false
		}
		b.Begin(b.From)
	}
	start := b.Origin + (b.first+int64(i))*b.Hop
	limit := seen
	if b.Ranged {
		limit = b.To - 1
	}
	return Interval{start, start + b.Length, start + b.Length - 1}, start <= limit
}

// Ended implements Bounds.
func (b *EveryBounds) Ended(i int) bool {
	if !b.Ranged || !b.begun {
		return false
	}
	_, ok := b.Window(i, math.MaxInt64, true)
	return !ok
}

// IntervalBounds are half-open windows that are given one by one.
type IntervalBounds struct{ Starts, Ends []int64 }

func (b *IntervalBounds) String() string {
	return fmt.Sprintf("intervals=%d, half-open", len(b.Starts))
}

// Begin implements Bounds: the windows do not depend on the events.
func (b *IntervalBounds) Begin(int64) {}

// Reaches implements Bounds: event times are only compared.
func (b *IntervalBounds) Reaches(int64) bool { return true }

// Window implements Bounds.
func (b *IntervalBounds) Window(i int, _ int64, _ bool) (Interval, bool) {
	if i >= len(b.Starts) {
		return Interval{}, false
	}
	return Interval{b.Starts[i], b.Ends[i], b.Ends[i] - 1}, true
}

// Ended implements Bounds.
func (b *IntervalBounds) Ended(i int) bool { return i >= len(b.Starts) }

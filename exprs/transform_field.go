package exprs

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
)

// ShiftTime adds a number of microseconds to every time. Times stop at the ends of int64.
type ShiftTime struct{ By int64 }

func (ShiftTime) isTransform()     {}
func (s ShiftTime) String() string { return fmt.Sprintf("shift-time %dus", s.By) }

// Project implements Transform.
func (s ShiftTime) Project(g event.Geometry) (Projection, error) {
	p := identity(g)
	if s.By != 0 {
		p.T = T.Add(Const(s.By))
	}
	return p, nil
}

// ScaleTime multiplies every time by Num/Den, rounding towards minus infinity. Both are from 1 to 1,000,000,000. The
// result is exact unless it lies within 1,000,000,000 of the ends of int64, where times stop.
type ScaleTime struct{ Num, Den int64 }

func (ScaleTime) isTransform()     {}
func (s ScaleTime) String() string { return fmt.Sprintf("scale-time %d/%d", s.Num, s.Den) }

func (s ScaleTime) valid() bool {
	limit := Interval{1, 1e9}
	return limit.holds(s.Num) && limit.holds(s.Den)
}

// Project implements Transform: t' = (t // den) * num + (t % den) * num // den, no part of which overflows unless the
// result does. The first part alone would do so at the lower end, and the second part would break the order there.
func (s ScaleTime) Project(g event.Geometry) (Projection, error) {
	p := identity(g)
	if !s.valid() {
		return p, fmt.Errorf("%w: %v; both parts are from 1 to 1000000000", ErrTransform, s)
	}
	num := Const(s.Num)
	switch {
	case s.Num == s.Den:
	case s.Den == 1:
		p.T = T.Mul(num)
	default:
		t := T
		if s.Num > s.Den {
			t = Max(T, Const(ceilDiv(math.MinInt64, s.Num)*s.Den))
		}
		p.T = t.Div(s.Den).Mul(num).Add(t.Mod(s.Den).Mul(num).Div(s.Den))
	}
	return p, nil
}

// MergePolarity makes every event an ON event.
type MergePolarity struct{}

func (MergePolarity) isTransform()   {}
func (MergePolarity) String() string { return "merge-polarity" }

// Project implements Transform.
func (MergePolarity) Project(g event.Geometry) (Projection, error) {
	p := identity(g)
	p.P = Const(1)
	return p, nil
}

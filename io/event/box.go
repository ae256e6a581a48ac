package event

import (
	"fmt"
	"math"
	"strings"
)

// Geometry is the size of the sensor in pixels. The zero value means that it is not known.
type Geometry struct{ Width, Height int }

// Known reports whether the sensor's size is known.
func (g Geometry) Known() bool { return g.Width > 0 && g.Height > 0 }

// String prints the size as WIDTHxHEIGHT, or "unknown".
func (g Geometry) String() string {
	if !g.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%dx%d", g.Width, g.Height)
}

// A Box is a closed range of each field: all that a source is ever told of a filter. A box whose range is
// empty in any field holds no event.
type Box struct {
	T0, T1         int64
	X0, X1, Y0, Y1 uint16
	P0, P1         int8
}

// Everything is the box that holds every event.
var Everything = Box{math.MinInt64, math.MaxInt64, 0, math.MaxUint16, 0, math.MaxUint16, 0, 1}

// Nothing is a box that holds no event.
var Nothing = Box{T0: 1, T1: 0, X1: math.MaxUint16, Y1: math.MaxUint16, P1: 1}

// Intersect returns the box of events that are in both a and b.
func (a Box) Intersect(b Box) Box {
	return Box{max(a.T0, b.T0), min(a.T1, b.T1), max(a.X0, b.X0), min(a.X1, b.X1),
		max(a.Y0, b.Y0), min(a.Y1, b.Y1), max(a.P0, b.P0), min(a.P1, b.P1)}
}

// Hull returns the smallest box that holds both a and b.
func (a Box) Hull(b Box) Box {
	if a.Empty() {
		return b
	}
	if b.Empty() {
		return a
	}
	return Box{min(a.T0, b.T0), max(a.T1, b.T1), min(a.X0, b.X0), max(a.X1, b.X1),
		min(a.Y0, b.Y0), max(a.Y1, b.Y1), min(a.P0, b.P0), max(a.P1, b.P1)}
}

// Empty reports whether the box can hold no event.
func (a Box) Empty() bool { return a.T0 > a.T1 || a.X0 > a.X1 || a.Y0 > a.Y1 || a.P0 > a.P1 }

// Overlaps reports whether an event can lie in both boxes.
func (a Box) Overlaps(b Box) bool { return !a.Intersect(b).Empty() }

// String prints only the sides that exclude something; it is empty for Everything.
func (a Box) String() string {
	if a.Empty() {
		return "nothing"
	}
	e := Everything
	var parts []string
	side := func(name string, lo, hi, elo, ehi int64) {
		switch {
		case lo == elo && hi == ehi:
		case lo == hi:
			parts = append(parts, fmt.Sprintf("%s=%d", name, lo))
		case lo == elo:
			parts = append(parts, fmt.Sprintf("%s<=%d", name, hi))
		case hi == ehi:
			parts = append(parts, fmt.Sprintf("%s>=%d", name, lo))
		default:
			parts = append(parts, fmt.Sprintf("%s=%d..%d", name, lo, hi))
		}
	}
	side("t", a.T0, a.T1, e.T0, e.T1)
	side("x", int64(a.X0), int64(a.X1), int64(e.X0), int64(e.X1))
	side("y", int64(a.Y0), int64(a.Y1), int64(e.Y0), int64(e.Y1))
	side("p", int64(a.P0), int64(a.P1), int64(e.P0), int64(e.P1))
	return strings.Join(parts, " ")
}

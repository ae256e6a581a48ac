package exprs

import (
	"cmp"
	"math"
	"slices"
)

// An Interval is the integers from Lo to Hi, both included; none where Lo > Hi.
type Interval struct{ Lo, Hi int64 }

// anything is the interval of all integers.
var anything = Interval{math.MinInt64, math.MaxInt64}

// nothing is an interval without an integer.
var nothing = Interval{0, -1}

func (a Interval) empty() bool              { return a.Lo > a.Hi }
func (a Interval) holds(n int64) bool       { return a.Lo <= n && n <= a.Hi }
func (a Interval) within(b Interval) bool   { return b.Lo <= a.Lo && a.Hi <= b.Hi }
func (a Interval) meets(b Interval) bool    { return a.Lo <= b.Hi && b.Lo <= a.Hi }
func (a Interval) meet(b Interval) Interval { return Interval{max(a.Lo, b.Lo), min(a.Hi, b.Hi)} }

// hull returns the smallest interval that holds all the numbers.
func hull(n ...int64) Interval { return Interval{slices.Min(n), slices.Max(n)} }

// A set is a set of integers: intervals that ascend, with gaps between them.
type set []Interval

// newSet joins intervals that overlap or touch.
func newSet(parts []Interval) set {
	slices.SortFunc(parts, func(a, b Interval) int { return cmp.Compare(a.Lo, b.Lo) })
	var out set
	for _, p := range parts {
		switch last := len(out) - 1; {
		case p.empty():
		case last >= 0 && (out[last].Hi == math.MaxInt64 || p.Lo <= out[last].Hi+1):
			out[last].Hi = max(out[last].Hi, p.Hi)
		default:
			out = append(out, p)
		}
	}
	return out
}

// unionOf returns what lies in at least one of the sets.
func unionOf(sets []set) set { return newSet(slices.Concat(sets...)) }

// meetOf returns what lies in every one of the sets.
func meetOf(sets []set) set {
	out := make([]set, len(sets))
	for i, s := range sets {
		out[i] = s.complement(anything)
	}
	return unionOf(out).complement(anything)
}

// intersect returns what lies in a and b.
func (a set) intersect(b set) set {
	var out set
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if m := a[i].meet(b[j]); !m.empty() {
			out = append(out, m)
		}
		if a[i].Hi < b[j].Hi {
			i++
		} else {
			j++
		}
	}
	return out
}

// complement returns what lies in the interval of and not in a.
func (a set) complement(of Interval) set {
	var out set
	for _, p := range a {
		if p.Lo > of.Lo { // a gap before it
			out = append(out, Interval{of.Lo, p.Lo - 1})
		}
		if p.Hi >= of.Hi {
			return out
		}
		of.Lo = max(of.Lo, p.Hi+1)
	}
	return append(out, of)
}

// singles returns the numbers of a set whose intervals are all one number long.
func (a set) singles() (numbers []int64, ok bool) {
	for _, p := range a {
		if p.Lo != p.Hi {
			return nil, false
		}
		numbers = append(numbers, p.Lo)
	}
	return numbers, true
}

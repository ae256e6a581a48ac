package accel

import (
	"math/bits"
	"sort"
)

// A Rounding says how a time is turned into a bin.
type Rounding uint8

// The rules. d is the time since the window's first event and dt the time from its first to its last event,
// at least 1.
const (
	// Torch32 is min(floor(float32(float32(d)/float32(dt)) * float32(bins)), bins-1) in IEEE single precision:
	// what uzh-rpg/RVT's StackedHistogram computes with torch.
	Torch32 Rounding = iota
	// Exact is min(floor(d*bins/dt), bins-1) in integers.
	Exact
)

// String returns the word users type.
func (r Rounding) String() string { return [...]string{"torch32", "exact"}[r] }

// Bin returns the bin of an event d microseconds after the first of a window that lasts dt microseconds:
// the plain rule, which Edges inverts. d must lie in [0, dt].
func (r Rounding) Bin(d, dt int64, bins int) int {
	dt = max(dt, 1)
	var b int
	switch r {
	case Torch32:
		q := float32(d) / float32(dt)
		b = int(float32(q * float32(bins))) // the conversion keeps the product from being fused
	case Exact:
		hi, lo := bits.Mul64(uint64(d), uint64(bins))
		if hi >= uint64(dt) {
			return bins - 1
		}
		q, _ := bits.Div64(hi, lo, uint64(dt))
		b = int(min(q, uint64(bins)))
	}
	return min(b, bins-1)
}

// Edges appends to dst, for each bin from 1 to bins-1, the smallest d in [0, dt] that falls in it or a later
// one, and dt+1 where there is none. The rule is monotone in d, so the edges say all of it.
func (r Rounding) Edges(dst []int64, dt int64, bins int) []int64 {
	dt = max(dt, 1)
	for k := 1; k < bins; k++ {
		dst = append(dst, r.edge(dt, bins, k))
	}
	return dst
}

// edge finds the first d of bin k: it starts at the exact edge, from which rounding moves it little, and
// doubles its steps away from there before it halves them.
func (r Rounding) edge(dt int64, bins, k int) int64 {
	hi, lo := bits.Mul64(uint64(k), uint64(dt))
	q, rem := bits.Div64(hi, lo, uint64(bins))
	e := int64(q)
	if rem > 0 {
		e++
	}
	var low, high int64 // the edge lies in [low, high]
	step := int64(1)
	if e <= dt && r.Bin(e, dt, bins) >= k {
		for high = e; high-step >= 0 && r.Bin(high-step, dt, bins) >= k; step *= 2 {
			high -= step
		}
		low = max(high-step, 0)
	} else {
		for low = min(e, dt+1); low+step <= dt && r.Bin(low+step, dt, bins) < k; step *= 2 {
			low += step
		}
		high = min(low+step, dt+1)
	}
	for low < high {
		if m := low + (high-low)/2; r.Bin(m, dt, bins) >= k {
			high = m
		} else {
			low = m + 1
		}
	}
	return low
}

// Segments appends the run of each bin of one window to dst: the events are [lo, hi) of t, which is in time
// order. The bins divide the time from from to to, of which every event in the window lies inside; RVT's
// rule takes the window's first and last event. Empty bins get no segment.
func (r Rounding) Segments(dst []Segment, t []int64, window, lo, hi int, from, to int64, bins int) []Segment {
	if lo >= hi {
		return dst
	}
	var room [64]int64
	edges := r.Edges(room[:0], to-from, bins)
	events, prev := t[lo:hi], 0
	for b := range bins {
		end := len(events)
		if b < len(edges) {
			edge := edges[b]
			end = prev + sort.Search(len(events)-prev, func(i int) bool { return events[prev+i]-from >= edge })
		}
		if end > prev {
			dst = append(dst, Segment{uint32(window), uint32(b), uint32(lo + prev), uint32(end - prev)})
		}
		prev = end
	}
	return dst
}

package udf

import (
	"fmt"
	"sort"

	"github.com/evq-project/evq/accel"
)

// Slices cuts windows into equal slices of time, by one of two rules.
type Slices struct {
	// Whole makes slices of floor((to-from)/n) microseconds and leaves out what comes after the last, as tonic does.
	// Otherwise an event lies in slice min(floor((t-from)*n/(to-from)), n-1).
	Whole bool

	segments []accel.Segment
	short    int64 // windows with events and without a slice
}

// Cut returns the runs of events that lie in the n slices between from and to, in order and without those that have
// no event; Window is 0. t are the times of a window's events. The result is valid until the next call.
func (s *Slices) Cut(t []int64, from, to int64, n int) []accel.Segment {
	s.Done(int64(len(t)), from, to, n)
	return s.Part(t, from, to, n)
}

// Done counts a window of so many events, for Notes. Who cuts a window in parts calls it once.
func (s *Slices) Done(events int64, from, to int64, n int) {
	if s.Whole && events > 0 && Duration(from, to) < uint64(n) {
		s.short++
	}
}

// Part is Cut for some of a window's events.
func (s *Slices) Part(t []int64, from, to int64, n int) []accel.Segment {
	s.segments = s.segments[:0]
	if !s.Whole {
		s.segments = accel.Exact.Segments(s.segments, t, 0, 0, len(t), from, to, n)
		return s.segments
	}
	length := Duration(from, to) / uint64(n)
	if length == 0 {
		return nil
	}
	start := 0
	for k := range n {
		end := start + sort.Search(len(t)-start, func(i int) bool { return Duration(from, t[start+i]) >= length*uint64(k+1) })
		if end > start {
			s.segments = append(s.segments, accel.Segment{Bin: uint32(k), Start: uint32(start), Len: uint32(end - start)})
		}
		start = end
	}
	return s.segments
}

// Notes says of how many windows nothing is left.
func (s *Slices) Notes(name string) []string {
	if s.short == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d windows are shorter than one microsecond a slice and all zeros under variant=tonic; use variant=exact", name, s.short)}
}

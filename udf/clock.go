package udf

import (
	"math"
	"sort"
)

// A Clock turns the times of one stream into stamps of 32 bits, so that what a filter remembers of a pixel stays in
// the cache. Stamps count microseconds from a base that moves on with the stream; differences of stamps are exact.
//
// The stamp 0 is never given: it stands for never, and lies further back than the horizon from every stamp that is
// given. The test whether something happened longer ago than the horizon thus needs no word for "it never did".
// The zero Clock has a horizon of 0 microseconds.
type Clock struct {
	first   uint64 // the stamp of a new base's first time: the horizon and one
	base    uint64 // a time, modulo 2^64, so that no difference of times overflows
	started bool
}

// MaxHorizon is the longest horizon in microseconds, about 35 minutes.
const MaxHorizon = 1 << 31

// NewClock makes a clock that tells times up to horizon microseconds ago from longer ones. It is cut to
// [0, MaxHorizon].
func NewClock(horizon int64) Clock {
	return Clock{first: uint64(min(max(horizon, 0), MaxHorizon)) + 1}
}

// Next readies the clock for the first n of the times t, which must not be empty and be in time order: Stamp may be
// called for them. Stamps that were given before must first be moved back by back, those that are less to 0
// (MoveBack). It is 0 but for once in half an hour of recording.
func (c *Clock) Next(t []int64) (n int, back uint32) {
	if c.first == 0 {
		c.first = 1
	}
	if !c.started || !c.fits(t[0]) {
		base := uint64(t[0]) - c.first
		if c.started {
			back = uint32(min(base-c.base, math.MaxUint32))
		}
		c.base, c.started = base, true
	}
	if last := len(t) - 1; c.fits(t[last]) {
		return len(t), back
	}
	return 1 + sort.Search(len(t)-1, func(i int) bool { return !c.fits(t[i+1]) }), back
}

func (c *Clock) fits(t int64) bool { return uint64(t)-c.base <= math.MaxUint32 }

// Base returns the time whose stamp is 0: the stamp of t is uint32(t - Base).
func (c *Clock) Base() int64 { return int64(c.base) }

// Stamp returns the stamp of a time that Next has readied the clock for.
func (c *Clock) Stamp(t int64) uint32 { return uint32(uint64(t) - c.base) }

// MoveBack moves stamps to a new base, as Next asks for.
func MoveBack(stamps []uint32, back uint32) {
	if back == 0 {
		return
	}
	for i, s := range stamps {
		stamps[i] = s - min(s, back)
	}
}

package rawheader

import "github.com/evq-project/evq/io/event"

// A Clock follows the time base that a sensor repeats in its stream, past the end of its range.
type Clock struct {
	Unit int64 // microseconds of one step of the base
	Bits uint  // width of the base

	high  int64
	loops int64
	set   bool
	lost  bool // the base was set, but may have moved on unseen
}

// gap is the longest forward step of the base that is no gap, in microseconds.
const gap = 1_000_000

// Set takes the base read at a byte offset and returns it in microseconds. A decrease by at least half the range is
// the end of the range; a smaller one is a glitch: the value is taken as it is and counted. A forward step of more
// than a second is counted as a gap.
func (c *Clock) Set(high uint32, rep *event.Report, offset int64) int64 {
	before, now := c.Base(), int64(high)
	switch half := int64(1) << (c.Bits - 1); {
	case !c.set:
		before = now * c.Unit
	case c.high-now >= half:
		c.loops++
		rep.Count(event.Wraps, 1, offset)
	case c.high > now:
		rep.Count(event.Glitches, 1, offset)
	}
	c.high, c.set, c.lost = now, true, false
	base := c.Base()
	if base-before > gap {
		rep.Count(event.Gaps, 1, offset)
	}
	return base
}

// Advance takes a base that repeats the last one or follows it by at most a second, which needs no remark, and reports
// whether it did; any other is for Set.
func (c *Clock) Advance(high uint32) bool {
	if step := int64(high) - c.high; !c.Running() || step < 0 || step*c.Unit > gap {
		return false
	}
	c.high = int64(high)
	return true
}

// Running reports whether the base is known: one was read, and none was lost since.
func (c *Clock) Running() bool { return c.set && !c.lost }

// Lose says that steps of the base may have gone unseen: it is not known until the next one is read. That one follows
// the last, so that the end of the range is still told.
func (c *Clock) Lose() { c.lost = true }

// High returns the base as it was last read.
func (c *Clock) High() uint32 { return uint32(c.high) }

// Base returns the last base in microseconds.
func (c *Clock) Base() int64 { return (c.loops<<c.Bits + c.high) * c.Unit }

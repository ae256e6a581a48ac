package order

import "math"

// A clock follows the largest time of a stream.
type clock struct {
	events  int64
	largest int64 // valid where events > 0
}

// now returns the largest time so far.
func (c clock) now() int64 {
	if c.events == 0 {
		return math.MinInt64
	}
	return c.largest
}

// late says how many events of a buffer lie before an earlier event of the stream.
type late struct {
	n         int64
	first     int64 // the index of the first of them in the stream
	firstStep int64 // how far it lies before the largest time so far
	step      int64 // the largest such step
}

// see advances the clock over a buffer.
func (c *clock) see(t []int64) (l late) {
	now, at := c.now(), c.events
	c.events += int64(len(t))
	if ascends(now, t) {
		if len(t) > 0 {
			c.largest = t[len(t)-1]
		}
		return l
	}
	// Without branches on the data: where some events are late, many are.
	n, step, largest := int64(0), uint64(0), now
	for _, v := range t {
		largest = max(largest, v)
		if v < largest {
			n++
		}
		step = max(step, uint64(largest)-uint64(v))
	}
	for i, v := range t {
		if v < now {
			l.first, l.firstStep = at+int64(i), between(v, now)
			break
		}
		now = v
	}
	l.n, l.step = n, int64(min(step, math.MaxInt64))
	c.largest = largest
	return l
}

// ascends reports whether no time lies before the one before it; now is the time before the first.
func ascends(now int64, t []int64) bool {
	if len(t) == 0 {
		return true
	}
	if t[0] < now {
		return false
	}
	// Eight at a time save most of the bounds checks and the loop.
	for len(t) > 8 {
		w := t[:9]
		if w[1] < w[0] || w[2] < w[1] || w[3] < w[2] || w[4] < w[3] || w[5] < w[4] || w[6] < w[5] || w[7] < w[6] || w[8] < w[7] {
			return false
		}
		t = t[8:]
	}
	for i := 1; i < len(t); i++ {
		if t[i] < t[i-1] {
			return false
		}
	}
	return true
}

// between returns the time from a to b >= a, at most the largest int64.
func between(a, b int64) int64 {
	if d := b - a; d >= 0 {
		return d
	}
	return math.MaxInt64
}

// earlier returns t-by for by >= 0, at least the smallest int64. The largest int64 stands for any step as
// large or larger.
func earlier(t, by int64) int64 {
	if d := t - by; d <= t && by != math.MaxInt64 {
		return d
	}
	return math.MinInt64
}

package evt21

import (
	"encoding/binary"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/rawheader"
)

// An encoder writes a TIME_HIGH where the base changes, and a vector for each run of events that fits one in its order.
type encoder struct {
	base int64 // the last TIME_HIGH, unwrapped; -1 before the first
}

func newEncoder() rawheader.Encoder { return &encoder{base: -1} }

// head makes the upper half of a word in its place.
func head(kind uint64, t int64, value uint64) uint64 {
	return kind<<60 | uint64(t%timeUnit)<<54 | value<<32
}

// Events implements rawheader.Encoder.
func (e *encoder) Events(dst []byte, t []int64, x, y []uint16, p []int8) []byte {
	for i := 0; i < len(t); {
		dst = e.time(dst, t[i])
		n, start, mask := vector(t[i:], x[i:], y[i:], p[i:])
		dst = binary.LittleEndian.AppendUint64(dst, head(uint64(p[i]), t[i], uint64(start)<<11|uint64(y[i]))|uint64(mask))
		i += n
	}
	return dst
}

// vector returns how many events at the start fit one vector in their order, its first column and its mask. Vectors
// start at multiples of their size, as those of cameras do.
func vector(t []int64, x, y []uint16, p []int8) (n int, start uint16, mask uint32) {
	start = x[0] &^ (vectorSize - 1)
	mask = 1 << (x[0] - start)
	for n = 1; n < len(t) && t[n] == t[0] && y[n] == y[0] && p[n] == p[0] && x[n] > x[n-1] && x[n]-start < vectorSize; n++ {
		mask |= 1 << (x[n] - start)
	}
	return n, start, mask
}

// time brings the base to that of t.
func (e *encoder) time(dst []byte, t int64) []byte {
	base := t / timeUnit
	if base == e.base {
		return dst
	}
	rawheader.Lead(e.base, base, timeUnit, timeBits, func(b int64) {
		dst = binary.LittleEndian.AppendUint64(dst, timeHigh<<60|uint64(b&maxHigh)<<32)
	})
	e.base = base
	return dst
}

// Trigger implements rawheader.Encoder.
func (e *encoder) Trigger(dst []byte, tr event.Trigger) []byte {
	dst = e.time(dst, tr.T)
	value := uint64(tr.Channel) << 8
	if tr.Rising {
		value |= 1
	}
	return binary.LittleEndian.AppendUint64(dst, head(extTrigger, tr.T, value))
}

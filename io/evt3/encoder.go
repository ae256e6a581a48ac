package evt3

import (
	"encoding/binary"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/rawheader"
)

// An encoder writes words where the state changes, and vectors where they are shorter than single events.
type encoder struct {
	width int   // vector groups stay within it
	base  int64 // the last TIME_HIGH, unwrapped; -1 before the first
	t     int64
	y     int32 // the last row, -1 before the first
}

// groupSize is how many columns a vector group covers, and minGroup from how many events on it is shorter than them.
const (
	groupSize = 32
	minGroup  = 5
)

func newEncoder(g event.Geometry) rawheader.Encoder {
	e := &encoder{width: rawheader.MaxCoordinate + 1, base: -1, t: -1, y: -1}
	if g.Known() {
		e.width = g.Width // some decoders drop a group that reaches over the border
	}
	return e
}

func word(dst []byte, kind, value uint16) []byte {
	return binary.LittleEndian.AppendUint16(dst, kind<<12|value)
}

// Events implements rawheader.Encoder.
func (e *encoder) Events(dst []byte, t []int64, x, y []uint16, p []int8) []byte {
	for i := 0; i < len(t); {
		dst = e.time(dst, t[i])
		if e.y != int32(y[i]) {
			e.y = int32(y[i])
			dst = word(dst, addrY, y[i])
		}
		n, mask := e.group(t[i:], x[i:], y[i:], p[i:])
		pol := uint16(p[i]) << 11
		if n >= minGroup {
			dst = word(dst, vectBaseX, pol|x[i]&^(groupSize-1))
			dst = word(dst, vect12, uint16(mask&0xFFF))
			dst = word(dst, vect12, uint16(mask>>12&0xFFF))
			dst = word(dst, vect8, uint16(mask>>24))
		} else {
			for _, xx := range x[i : i+n] {
				dst = word(dst, addrX, pol|xx)
			}
		}
		i += n
	}
	return dst
}

// group returns how many events at the start fit one vector group in their order, at least one, and their mask.
func (e *encoder) group(t []int64, x, y []uint16, p []int8) (n int, mask uint32) {
	start := x[0] &^ (groupSize - 1)
	mask = 1 << (x[0] - start)
	for n = 1; n < len(t) && t[n] == t[0] && y[n] == y[0] && p[n] == p[0] && x[n] > x[n-1] && x[n]-start < groupSize; n++ {
		mask |= 1 << (x[n] - start)
	}
	if int(start)+groupSize > e.width {
		n = min(n, minGroup-1)
	}
	return n, mask
}

// time brings the state to t. A TIME_HIGH resets the low part, so that a TIME_LOW always follows it.
func (e *encoder) time(dst []byte, t int64) []byte {
	if t == e.t {
		return dst
	}
	e.t = t
	if base := t >> 12; base != e.base {
		rawheader.Lead(e.base, base, 1<<12, 12, func(b int64) { dst = word(dst, timeHigh, uint16(b&0xFFF)) })
		e.base = base
	}
	return word(dst, timeLow, uint16(t&0xFFF))
}

// Trigger implements rawheader.Encoder.
func (e *encoder) Trigger(dst []byte, tr event.Trigger) []byte {
	dst = e.time(dst, tr.T)
	value := uint16(tr.Channel) << 8
	if tr.Rising {
		value |= 1
	}
	return word(dst, extTrigger, value)
}

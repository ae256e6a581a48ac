package evt2

import (
	"encoding/binary"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/rawheader"
)

// An encoder writes a TIME_HIGH where the base changes, and a word for each event.
type encoder struct {
	base  int64 // the last TIME_HIGH, unwrapped; -1 before the first
	zeros int   // words of zero bits since the last other one
}

// maxZeros is how many words of zero bits, which are OFF events at x=0, y=0, follow one another: more would be read as a
// block of the file that was never written.
const maxZeros = rawheader.BlankSize / wordSize / 2

func newEncoder(event.Geometry) rawheader.Encoder { return &encoder{base: -1} }

// Events implements rawheader.Encoder.
func (e *encoder) Events(dst []byte, t []int64, x, y []uint16, p []int8) []byte {
	for i, now := range t {
		if now/timeUnit != e.base {
			dst = e.time(dst, now)
		}
		w := uint32(p[i])<<28 | uint32(now%timeUnit)<<22 | uint32(x[i])<<11 | uint32(y[i])
		dst = binary.LittleEndian.AppendUint32(dst, w)
		if e.zeros++; w != 0 {
			e.zeros = 0
		} else if e.zeros == maxZeros {
			dst, e.zeros = binary.LittleEndian.AppendUint32(dst, timeHigh<<28|uint32(e.base&maxHigh)), 0
		}
	}
	return dst
}

// time brings the base to that of t.
func (e *encoder) time(dst []byte, t int64) []byte {
	base := t / timeUnit
	if base == e.base {
		return dst
	}
	rawheader.Lead(e.base, base, timeUnit, timeBits, func(b int64) {
		dst = binary.LittleEndian.AppendUint32(dst, timeHigh<<28|uint32(b&maxHigh))
	})
	e.base = base
	return dst
}

// Trigger implements rawheader.Encoder.
func (e *encoder) Trigger(dst []byte, tr event.Trigger) []byte {
	dst = e.time(dst, tr.T)
	w := extTrigger<<28 | uint32(tr.T%timeUnit)<<22 | uint32(tr.Channel)<<8
	if tr.Rising {
		w |= 1
	}
	return binary.LittleEndian.AppendUint32(dst, w)
}

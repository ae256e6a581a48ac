package evt3

import (
	"math/bits"

	"github.com/evq-project/evq/io/event"
)

// The types of words, in bits 15:12.
const (
	addrY       = 0x0
	addrX       = 0x2
	vectBaseX   = 0x3
	vect12      = 0x4
	vect8       = 0x5
	timeLow     = 0x6
	continued4  = 0x7
	timeHigh    = 0x8
	extTrigger  = 0xA
	others      = 0xE
	continued12 = 0xF
)

// maxBase is where the base address of vectors stops: far off every sensor, and near no overflow.
const maxBase = 0xF000

// step decodes one word, whatever the state. It is the complete account of the format; run is the fast one of its
// usual cases.
func (d *decoder) step(b *event.Buffer, w uint16, at int64) error {
	kind, low := w>>12, w&0xFFF
	if kind != vect12 && kind != vect8 {
		d.foreign(at)
	}
	switch kind {
	case addrY:
		d.y, d.hasY = w&0x7FF, true
	case addrX:
		if d.placed(1, at) {
			b.Append(d.t, w&0x7FF, d.y, int8(w>>11&1))
		}
	case vectBaseX:
		d.x, d.hasX, d.p = w&0x7FF, true, int8(w>>11&1)
	case vect12:
		d.vector(b, low, 12, at)
		if d.group == 2 { // a third one starts the next group
			d.foreign(at)
		}
		d.group++
	case vect8:
		d.vector(b, low&0xFF, 8, at)
		if d.group == 2 {
			d.group = 0 // complete
		}
		d.foreign(at)
	case timeLow:
		if d.clock.Running() {
			d.t, d.lowLost = d.base+int64(low), false
		}
	case timeHigh:
		if !d.clock.Running() || d.clock.High() != uint32(low) {
			if d.clock.Running() {
				d.lowLost = false // it has changed just now
			}
			d.base = d.clock.Set(uint32(low), d.Report, at)
			d.t = d.base
		}
	case extTrigger:
		if !d.timed() {
			d.Report.Lose(event.BeforeTimeBase, 1, at)
			return nil
		}
		return d.Triggers.Add(event.Trigger{T: d.t, Channel: int16(low >> 8), Rising: w&1 != 0}, d.Report, at)
	case others:
		d.Report.CountUnknown("others", 1, at)
	case continued12:
		d.Report.CountUnknown("continued_12", 1, at)
	case continued4:
		d.Report.CountUnknown("continued_4", 1, at)
	default:
		return d.Reserved("evt3", uint32(w), 4, uint8(kind), at)
	}
	return nil
}

// vector emits the events of one vector word and moves the base address on.
func (d *decoder) vector(b *event.Buffer, mask, width uint16, at int64) {
	n := bits.OnesCount16(mask)
	switch {
	case n == 0:
	case d.timed() && !d.hasX:
		d.Report.Lose(event.InvalidVectBase, int64(n), at)
		if !d.hasY {
			d.Report.Count(event.MissingY, int64(n), at)
		}
	case d.placed(n, at):
		for m := mask; m != 0; m &= m - 1 {
			b.Append(d.t, d.x+uint16(bits.TrailingZeros16(m)), d.y, d.p)
		}
	}
	d.x = min(d.x+width, maxBase)
}

// placed reports whether n events have a time and a row, and counts them where they have not.
func (d *decoder) placed(n int, at int64) bool {
	switch {
	case !d.timed():
		d.Report.Lose(event.BeforeTimeBase, int64(n), at)
	case !d.hasY:
		d.Report.Lose(event.MissingY, int64(n), at)
	default:
		return true
	}
	return false
}

// foreign ends a vector group at a word that does not belong to it.
func (d *decoder) foreign(at int64) {
	if d.group != 0 {
		d.Report.Count(event.PartialVect, 1, at)
		d.group = 0
	}
}

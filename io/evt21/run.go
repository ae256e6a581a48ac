package evt21

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/evq-project/evq/io/event"
)

const (
	stepSize = 4 // events that the fast loop writes at once

	// slack is how many slots of a buffer stay free for one vector: its last events are written as stepSize.
	slack = vectorSize + stepSize

	everyWord = 0x0001_0001_0001_0001
)

// A pick is what is done at once of a mask, by its lowest 8 bits.
type pick struct {
	lanes uint64 // the places of the first stepSize bits that are set, each in 16 bits, the first lowest
	after uint8  // the bits that are left
	n     uint8  // how many were taken
}

var picks = makePicks()

func makePicks() (picks [256]pick) {
	for m := range picks {
		p := pick{after: uint8(m)}
		for p.after != 0 && p.n < stepSize {
			p.lanes |= uint64(bits.TrailingZeros8(p.after)) << (16 * p.n)
			p.after &= p.after - 1
			p.n++
		}
		picks[m] = p
	}
	return picks
}

// run decodes vectors, and steps of the time base that repeat or that the clock can take without a remark, for as long
// as there are no others and b has room. It returns the bytes it took.
//
// Most vectors hold one event or few that lie close together, without a pattern in how many, so that a loop over bits
// would be left at a place that no processor foresees. Here a turn takes up to four events at once, out of the eight
// columns from the first event on, and writes four whatever they are; the next overwrites those that are none.
//
// The stores go through pointers without bounds checks: a vector starts with n <= cap-slack, and each turn moves n by at
// least one, by at most vectorSize in all, and stores to no slot past n+stepSize.
func (d *decoder) run(b *event.Buffer, words []byte) int {
	n, limit := b.Len(), min(cap(b.T), cap(b.X), cap(b.Y), cap(b.P))-slack
	pt, px := unsafe.Pointer(unsafe.SliceData(b.T)), unsafe.Pointer(unsafe.SliceData(b.X))
	py, pp := unsafe.Pointer(unsafe.SliceData(b.Y)), unsafe.Pointer(unsafe.SliceData(b.P))
	base, turn := d.clock.Base(), d.turn
	i := 0
	for n <= limit && i <= len(words)-wordSize {
		w := bits.RotateLeft64(binary.LittleEndian.Uint64(words[i:i+wordSize]), turn)
		if w>>60 > evtPos {
			if w>>60 != timeHigh || !d.clock.Advance(uint32(w>>32)&maxHigh) {
				break
			}
			base = d.clock.Base()
			i += wordSize
			continue
		}
		i += wordSize
		t, x, y, p := base+int64(w>>54&63), w>>43&0x7FF, w>>32&0x7FF, w>>60
		for mask := uint64(uint32(w)); mask != 0; {
			first := bits.TrailingZeros32(uint32(mask))
			mask >>= first
			x += uint64(first)
			k := &picks[mask&0xFF]
			ts := (*[stepSize]int64)(unsafe.Add(pt, n*8))
			ts[0], ts[1], ts[2], ts[3] = t, t, t, t
			quad((*[stepSize]uint16)(unsafe.Add(px, n*2)), x*everyWord+k.lanes)
			quad((*[stepSize]uint16)(unsafe.Add(py, n*2)), y*everyWord)
			ps := (*[stepSize]int8)(unsafe.Add(pp, n))
			q := uint32(p * 0x01010101)
			ps[0], ps[1], ps[2], ps[3] = int8(q), int8(q>>8), int8(q>>16), int8(q>>24)
			n += int(k.n)
			mask = mask&^0xFF | uint64(k.after)
		}
	}
	b.Resize(n)
	return i
}

// quad writes four values of 16 bits, the first lowest.
func quad(to *[stepSize]uint16, v uint64) {
	to[0], to[1], to[2], to[3] = uint16(v), uint16(v>>16), uint16(v>>32), uint16(v>>48)
}

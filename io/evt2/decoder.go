package evt2

import (
	"encoding/binary"
	"unsafe"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/rawheader"
)

// The types of words, in bits 31:28.
const (
	cdOff      = 0x0
	cdOn       = 0x1
	timeHigh   = 0x8
	extTrigger = 0xA
	imu        = 0xD
	others     = 0xE
	continued  = 0xF
)

const (
	timeUnit = 64        // microseconds of one step of TIME_HIGH
	timeBits = 28        // width of TIME_HIGH
	maxHigh  = 1<<28 - 1 // its last value
)

// A decoder is what the words have set so far; it implements rawheader.Words.
type decoder struct {
	rawheader.Scan
	clock rawheader.Clock
}

func newDecoder(s rawheader.Scan) rawheader.Words {
	return &decoder{Scan: s, clock: rawheader.Clock{Unit: timeUnit, Bits: timeBits}}
}

// Room implements rawheader.Words.
func (d *decoder) Room() int { return 1 }

// Decode implements rawheader.Words: the fast loop where it applies, else word by word.
func (d *decoder) Decode(b *event.Buffer, words []byte, at int64) (n int, err error) {
	for n < len(words) && b.Len() < b.Cap() {
		if d.clock.Running() {
			n += d.run(b, words[n:])
			if n == len(words) || b.Len() == b.Cap() {
				break
			}
		}
		if err := d.step(binary.LittleEndian.Uint32(words[n:]), at+int64(n)); err != nil {
			return n, err
		}
		n += wordSize
	}
	return n, nil
}

// run decodes events, and steps of the time base that repeat or that the clock can take without a remark, for as long
// as there are no others and b has room. It returns the bytes it took.
//
// The stores go through pointers without bounds checks: n stays below every column's capacity.
func (d *decoder) run(b *event.Buffer, words []byte) int {
	n, limit := b.Len(), min(cap(b.T), cap(b.X), cap(b.Y), cap(b.P))
	pt, px := unsafe.Pointer(unsafe.SliceData(b.T)), unsafe.Pointer(unsafe.SliceData(b.X))
	py, pp := unsafe.Pointer(unsafe.SliceData(b.Y)), unsafe.Pointer(unsafe.SliceData(b.P))
	base := d.clock.Base()
	i, last := 0, len(words)-wordSize
	for ; n < limit && i <= last; i += wordSize {
		w := binary.LittleEndian.Uint32(words[i:])
		if w>>28 > cdOn {
			if w>>28 != timeHigh || !d.clock.Advance(w&maxHigh) {
				break
			}
			base = d.clock.Base()
			continue
		}
		*(*int64)(unsafe.Add(pt, n*8)) = base + int64(w>>22&63)
		*(*uint16)(unsafe.Add(px, n*2)) = uint16(w >> 11 & 0x7FF)
		*(*uint16)(unsafe.Add(py, n*2)) = uint16(w & 0x7FF)
		*(*int8)(unsafe.Add(pp, n)) = int8(w >> 28)
		n++
	}
	b.Resize(n)
	return i
}

// step decodes a word that run leaves: all but events after the first time base.
func (d *decoder) step(w uint32, at int64) error {
	switch kind := w >> 28; kind {
	case cdOff, cdOn:
		d.Report.Lose(event.BeforeTimeBase, 1, at)
	case timeHigh:
		d.clock.Set(w&maxHigh, d.Report, at)
	case extTrigger:
		if !d.clock.Running() {
			d.Report.Lose(event.BeforeTimeBase, 1, at)
			return nil
		}
		tr := event.Trigger{T: d.clock.Base() + int64(w>>22&63), Channel: int16(w >> 8 & 31), Rising: w&1 != 0}
		return d.Triggers.Add(tr, d.Report, at)
	case imu:
		d.Report.CountUnknown("imu", 1, at)
	case others:
		d.Report.CountUnknown("others", 1, at)
	case continued:
		d.Report.CountUnknown("continued", 1, at)
	default:
		return d.Reserved("evt2", w, 8, uint8(kind), at)
	}
	return nil
}

// End implements rawheader.Words.
func (d *decoder) End(at, trailing int64) error { return d.Cut("evt2", at, trailing) }

// Blank implements rawheader.Blanker: steps of the time base may lie in what was there.
func (d *decoder) Blank(from, to int64, tail bool) (bool, error) {
	d.clock.Lose()
	return d.Scan.Blank("evt2", from, to, tail, "and events up to the next TIME_HIGH have no time")
}

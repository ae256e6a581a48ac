package evt21

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// The types of words, in bits 63:60.
const (
	evtNeg     = 0x0
	evtPos     = 0x1
	timeHigh   = 0x8
	extTrigger = 0xA
	others     = 0xE
	continued  = 0xF
)

const (
	timeUnit   = 64        // microseconds of one step of TIME_HIGH
	timeBits   = 28        // width of TIME_HIGH
	maxHigh    = 1<<28 - 1 // its last value
	vectorSize = 32        // columns of a vector
)

// A decoder is what the words have set so far; it implements rawheader.Words.
type decoder struct {
	rawheader.Scan
	clock rawheader.Clock
	turn  int // how far a little-endian number must be turned to be the word
}

func newDecoder(s rawheader.Scan) rawheader.Words {
	d := &decoder{Scan: s, clock: rawheader.Clock{Unit: timeUnit, Bits: timeBits}}
	if o, _, err := orderOf(s.Header, s.Policy.Layout); err == nil && o == legacy {
		d.turn = 32
	}
	return d
}

// Room implements rawheader.Words.
func (d *decoder) Room() int { return slack }

// Decode implements rawheader.Words: the fast loop where it applies, else word by word.
func (d *decoder) Decode(b *event.Buffer, words []byte, at int64) (n int, err error) {
	for n < len(words) && b.Len() <= b.Cap()-slack {
		if d.clock.Running() {
			n += d.run(b, words[n:])
			if n == len(words) || b.Len() > b.Cap()-slack {
				break
			}
		}
		if err := d.step(bits.RotateLeft64(binary.LittleEndian.Uint64(words[n:]), d.turn), at+int64(n)); err != nil {
			return n, err
		}
		n += wordSize
	}
	return n, nil
}

// step decodes a word that run leaves: all but vectors after the first time base.
func (d *decoder) step(w uint64, at int64) error {
	switch kind := w >> 60; kind {
	case evtNeg, evtPos:
		if n := bits.OnesCount32(uint32(w)); n > 0 {
			d.Report.Lose(event.BeforeTimeBase, int64(n), at)
		}
	case timeHigh:
		d.clock.Set(uint32(w>>32)&maxHigh, d.Report, at)
	case extTrigger:
		if !d.clock.Running() {
			d.Report.Lose(event.BeforeTimeBase, 1, at)
			return nil
		}
		tr := event.Trigger{T: d.clock.Base() + int64(w>>54&63), Channel: int16(w >> 40 & 31), Rising: w>>32&1 != 0}
		return d.Triggers.Add(tr, d.Report, at)
	case others:
		d.Report.CountUnknown("others", 1, at)
	case continued:
		d.Report.CountUnknown("continued", 1, at)
	default:
		if d.Policy.OnUnknown == format.Error {
			return &format.SyntaxError{Format: "evt21", Offset: at, Msg: fmt.Sprintf("word %016x is of the reserved type 0x%X; --on-unknown skip passes over it", w, kind)}
		}
		return d.Reserved("evt21", uint32(w>>32), 8, uint8(kind), at)
	}
	return nil
}

// End implements rawheader.Words.
func (d *decoder) End(at, trailing int64) error { return d.Cut("evt21", at, trailing) }

// Blank implements rawheader.Blanker: steps of the time base may lie in what was there.
func (d *decoder) Blank(from, to int64, tail bool) (bool, error) {
	d.clock.Lose()
	return d.Scan.Blank("evt21", from, to, tail, "and events up to the next TIME_HIGH have no time")
}

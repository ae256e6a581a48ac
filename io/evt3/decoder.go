package evt3

import (
	"encoding/binary"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/rawheader"
)

// A decoder is what the words have set so far; it implements rawheader.Words.
type decoder struct {
	rawheader.Scan
	clock rawheader.Clock
	base  int64 // the clock's base in microseconds
	t     int64 // the current time
	y     uint16
	hasY  bool
	x     uint16 // the base address of the next vector word
	hasX  bool
	p     int8 // the polarity of vectors
	group int  // words of a 12-12-8 group seen so far, 0 outside a group
	// lowLost says that the low bits of the time are not known, as after damage: a TIME_HIGH may be one that repeats.
	lowLost bool
}

func newDecoder(s rawheader.Scan) rawheader.Words {
	return &decoder{Scan: s, clock: rawheader.Clock{Unit: 1 << 12, Bits: 12}}
}

// Room implements rawheader.Words.
func (d *decoder) Room() int { return slack }

// Decode implements rawheader.Words: the fast loop where it applies, else word by word.
func (d *decoder) Decode(b *event.Buffer, words []byte, at int64) (n int, err error) {
	for n < len(words) && b.Len() <= b.Cap()-slack {
		if d.timed() && d.hasY && d.group == 0 {
			n += d.run(b, words[n:])
			if n == len(words) || b.Len() > b.Cap()-slack {
				break
			}
		}
		if err := d.step(b, binary.LittleEndian.Uint16(words[n:]), at+int64(n)); err != nil {
			return n, err
		}
		n += wordSize
	}
	return n, nil
}

// timed reports whether the current time is known.
func (d *decoder) timed() bool { return d.clock.Running() && !d.lowLost }

// End implements rawheader.Words.
func (d *decoder) End(at, trailing int64) error {
	d.foreign(at)
	return d.Cut("evt3", at, trailing)
}

// Blank implements rawheader.Blanker: all that words set may have changed in what was there.
func (d *decoder) Blank(from, to int64, tail bool) (bool, error) {
	d.foreign(from)
	d.clock.Lose()
	d.lowLost, d.hasY, d.hasX = true, false, false
	return d.Scan.Blank("evt3", from, to, tail, "and events up to the next time and address words have no place")
}

package evt3

import (
	"encoding/binary"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// A decoder is what the words have set so far; it implements rawheader.Words.
type decoder struct {
	rep    *event.Report
	strict bool // a cut last word is an error
	refuse bool // a word of a reserved type is an error

	clock    rawheader.Clock
	base     int64 // the clock's base in microseconds
	t        int64 // the current time
	y        uint16
	hasY     bool
	x        uint16 // the base address of the next vector word
	hasX     bool
	p        int8 // the polarity of vectors
	group    int  // words of a 12-12-8 group seen so far, 0 outside a group
	triggers rawheader.Triggers
}

func newDecoder(f format.File, payload int64, p format.Policy, want event.Request, rep *event.Report, pool *event.Pool) format.Decoder {
	d := &decoder{
		rep: rep, strict: p.Strict, refuse: p.OnUnknown == format.Error,
		clock: rawheader.Clock{Unit: 1 << 12, Bits: 12}, triggers: rawheader.Triggers{To: want.Triggers},
	}
	return rawheader.NewDecoder(rawheader.NewPayload(f, payload, f.Size, wordSize, p.ReadSize), d, pool, &d.triggers)
}

// Room implements rawheader.Words.
func (d *decoder) Room() int { return slack }

// Decode implements rawheader.Words: the fast loop where it applies, else word by word.
func (d *decoder) Decode(b *event.Buffer, words []byte, at int64) (n int, err error) {
	for n < len(words) && b.Len() <= b.Cap()-slack {
		if d.clock.Running() && d.hasY && d.group == 0 {
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

// End implements rawheader.Words.
func (d *decoder) End(at, trailing int64) error {
	d.foreign(at)
	if trailing == 0 {
		return nil
	}
	if d.strict {
		return &format.SyntaxError{Format: "evt3", Offset: at, Msg: "the last word is cut; without --strict it is left out"}
	}
	d.rep.Lose(event.TrailingBytes, trailing, at)
	return nil
}

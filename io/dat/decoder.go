package dat

import (
	"encoding/binary"
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// gap is the longest step from one event to the next that needs no remark, in microseconds.
const gap = 1_000_000

// A polarity is how values other than 0 and 1 are read.
type polarity int

const (
	signed  polarity = iota // -1, which is 15 in four bits, is OFF
	strict                  // 0 and 1 only
	nonzero                 // all but 0 is ON
)

// minusOne is -1 in the four bits of version 2.
const minusOne = 15

func polarityOf(encoding string) (polarity, error) {
	switch encoding {
	case "", "auto", "pm1":
		return signed, nil
	case "01":
		return strict, nil
	case "nonzero":
		return nonzero, nil
	}
	return 0, fmt.Errorf("the polarity encoding is one of auto, 01, pm1, nonzero, not %q", encoding)
}

// A decoder is what the records have set so far; it implements rawheader.Words.
type decoder struct {
	rawheader.Scan
	bits     bits
	polarity polarity

	running bool   // there was a time yet
	last    uint32 // the last time as stored
	base    int64  // 2^32 µs for each time that the clock ran over

	bad damage
}

// Room implements rawheader.Words.
func (d *decoder) Room() int { return 1 }

// Decode implements rawheader.Words: the fast loop where it applies, else record by record.
func (d *decoder) Decode(b *event.Buffer, records []byte, at int64) (n int, err error) {
	for n < len(records) && b.Len() < b.Cap() {
		if d.running {
			n += d.run(b, records[n:])
			if n == len(records) || b.Len() == b.Cap() {
				break
			}
		}
		if err := d.step(b, records[n:n+recordSize], at+int64(n)); err != nil {
			return n, err
		}
		n += recordSize
	}
	return n, nil
}

// step decodes one record, whatever it holds. It is the complete account of the format; run is the fast one of its
// usual cases.
func (d *decoder) step(b *event.Buffer, record []byte, at int64) error {
	t, w := binary.LittleEndian.Uint32(record), binary.LittleEndian.Uint32(record[4:])
	p, err := d.polarize(w>>d.bits.pShift&d.bits.pMask, at)
	if err != nil {
		if d.Policy.Salvage {
			d.bad.skip(d.Report, at)
			return nil
		}
		return err
	}
	b.Append(d.time(t, at), uint16(w&d.bits.xMask), uint16(w>>d.bits.yShift&d.bits.yMask), p)
	return nil
}

// time returns a stored time in microseconds since the clock's start. One that lies past the end of the range, seen
// from the last one, but less than a second back, is an event from before the clock ran over: it keeps its place.
func (d *decoder) time(t uint32, at int64) int64 {
	last := d.last
	switch {
	case !d.running:
	case last > t && last-t >= 1<<31:
		d.base += 1 << 32
		d.Report.Count(event.Wraps, 1, at)
		if t-last > gap { // modulo 2^32
			d.Report.Count(event.Gaps, 1, at)
		}
	case t > last && d.base > 0 && last-t < gap: // modulo 2^32
		return d.base - 1<<32 + int64(t)
	case t > last && t-last > gap:
		d.Report.Count(event.Gaps, 1, at)
	}
	d.last, d.running = t, true
	return d.base + int64(t)
}

// polarize returns a stored polarity as 0 or 1.
func (d *decoder) polarize(p uint32, at int64) (int8, error) {
	switch {
	case p <= 1:
		return int8(p), nil
	case d.polarity == nonzero:
		d.Report.Count(event.RemappedPolarity, 1, at)
		return 1, nil
	case d.polarity == signed && p == minusOne:
		d.Report.Count(event.RemappedPolarity, 1, at)
		return 0, nil
	}
	return 0, format.Damaged(name, at, fmt.Sprintf("%d is no polarity; give --polarity-encoding nonzero if every value but 0 is ON", p), nil)
}

// End implements rawheader.Words.
func (d *decoder) End(at, trailing int64) error {
	d.bad.note(d.Report)
	return d.Cut(name, at, trailing)
}

package aedat2

import (
	"encoding/binary"
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// signed is what the clock, which counts from 0, is ahead of signed times.
const signed = 1 << 31

// A decoder turns records into events; it implements rawheader.Words.
type decoder struct {
	rawheader.Scan
	version version
	layout  *layout
	clock   rawheader.Clock
	noted   bool // that the file does not say which way edges went
}

func newDecoder(v version, l *layout, s rawheader.Scan) *decoder {
	return &decoder{Scan: s, version: v, layout: l, clock: rawheader.Clock{Unit: 1, Bits: 32}}
}

// Room implements rawheader.Words.
func (d *decoder) Room() int { return 1 }

// Decode implements rawheader.Words.
func (d *decoder) Decode(b *event.Buffer, words []byte, at int64) (n int, err error) {
	k, room := b.Len(), b.Cap()
	b.Resize(room)
	defer func() { b.Resize(k) }()
	t, x, y, p := b.T[:room], b.X[:room], b.Y[:room], b.P[:room]
	l, record := *d.layout, d.version.record
	for k < room && n+record <= len(words) {
		w := words[n : n+record]
		time := binary.BigEndian.Uint32(w[record-4:])
		addr := uint32(binary.BigEndian.Uint16(w))
		if record == 8 {
			addr = binary.BigEndian.Uint32(w)
		}
		if now := time ^ signed; !d.clock.Advance(now) {
			d.clock.Set(now, d.Report, at+int64(n))
		}
		if addr&l.other != 0 {
			if err := d.other(addr, at+int64(n)); err != nil {
				return n, err
			}
			n += record
			continue
		}
		t[k] = d.clock.Base() - signed
		x[k], y[k] = uint16(addr>>l.xShift)&l.xMask, uint16(addr>>l.yShift)&l.yMask
		p[k] = int8(addr >> l.pShift & 1)
		k++
		n += record
	}
	return n, nil
}

// other takes an address that is no event's, at the byte at.
func (d *decoder) other(addr uint32, at int64) error {
	switch kind := d.layout.kind(addr); kind {
	case isRising, isFalling, isExternal:
		if kind == isExternal && !d.noted {
			d.noted = true
			d.Report.Note("The file does not say which way edges of the external input went: their triggers are kept as rising.")
		}
		return d.Triggers.Add(event.Trigger{T: d.clock.Base() - signed, Rising: kind != isFalling}, d.Report, at)
	case isReserved:
		if d.Policy.OnUnknown == format.Error {
			return &format.SyntaxError{Format: d.version.name, Offset: at, Msg: fmt.Sprintf(
				"address %08x is of no kind that the layout %s has; --on-unknown skip passes over it, --layout chooses another", addr, d.layout.name)}
		}
		d.Report.CountUnknown(kindNames[kind], 1, at)
	default:
		d.Report.CountUnknown(kindNames[kind], 1, at)
	}
	return nil
}

// End implements rawheader.Words.
func (d *decoder) End(at, trailing int64) error { return d.Cut(d.version.name, at, trailing) }

// Blank implements rawheader.Blanker. Records of time 0 behind another time are none.
func (d *decoder) Blank(from, to int64, tail bool) (bool, error) {
	if !d.clock.Running() || d.clock.High() == signed {
		return false, nil
	}
	return d.Scan.Blank(d.version.name, from, to, tail, "")
}

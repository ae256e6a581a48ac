package aer

import (
	"encoding/binary"
	"time"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// A decoder turns words into events; it implements rawheader.Words.
type decoder struct {
	rawheader.Scan
	step time.Duration
	n    int64 // events so far
}

// Room implements rawheader.Words.
func (d *decoder) Room() int { return 1 }

// Decode implements rawheader.Words. Words that are no events take no time.
func (d *decoder) Decode(b *event.Buffer, words []byte, at int64) (n int, err error) {
	k, room := b.Len(), b.Cap()
	b.Resize(room)
	defer func() { b.Resize(k) }()
	t, x, y, p := b.T[:room], b.X[:room], b.Y[:room], b.P[:room]
	for k < room && n+wordSize <= len(words) {
		w := binary.LittleEndian.Uint32(words[n:])
		if w>>(pShift+1) != 0 {
			if d.Policy.OnUnknown == format.Error {
				return n, errReserved(w, at+int64(n))
			}
			d.Report.CountUnknown("reserved", 1, at+int64(n))
		} else {
			t[k] = timeOf(d.n, d.step)
			x[k], y[k], p[k] = uint16(w>>xShift&mask), uint16(w&mask), int8(w>>pShift)
			k++
			d.n++
		}
		n += wordSize
	}
	return n, nil
}

// End implements rawheader.Words.
func (d *decoder) End(at, trailing int64) error { return d.Cut(name, at, trailing) }

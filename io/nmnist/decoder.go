package nmnist

import (
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/rawheader"
)

const (
	recordSize   = 5
	overflowRow  = 240
	overflowTime = 1 << 13   // µs
	gap          = 1_000_000 // µs; a longer step is a gap
)

// A decoder turns records into events; it implements rawheader.Words.
type decoder struct {
	rawheader.Scan
	overflow int64 // what the overflows so far add to times
	last     int64
	running  bool // there was a record
}

// timeOf returns the time of a record as it is stored.
func timeOf(w []byte) int64 { return int64(w[2]&0x7F)<<16 | int64(w[3])<<8 | int64(w[4]) }

// Room implements rawheader.Words.
func (d *decoder) Room() int { return 1 }

// Decode implements rawheader.Words.
func (d *decoder) Decode(b *event.Buffer, words []byte, at int64) (n int, err error) {
	k, room := b.Len(), b.Cap()
	b.Resize(room)
	t, x, y, p := b.T[:room], b.X[:room], b.Y[:room], b.P[:room]
	for k < room && n+recordSize <= len(words) {
		w := words[n : n+recordSize]
		if w[1] == overflowRow {
			d.overflow += overflowTime
			d.Report.Count(event.Wraps, 1, at+int64(n))
		}
		now := timeOf(w) + d.overflow
		if step := now - d.last; d.running && (step < 0 || step > gap) {
			d.remark(step, at+int64(n))
		}
		d.last, d.running = now, true
		if w[1] != overflowRow {
			t[k], x[k], y[k], p[k] = now, uint16(w[0]), uint16(w[1]), int8(w[2]>>7)
			k++
		}
		n += recordSize
	}
	b.Resize(k)
	return n, nil
}

// remark counts a step of the time that is backward or long.
func (d *decoder) remark(step, at int64) {
	if step < 0 {
		d.Report.Count(event.Glitches, 1, at)
		return
	}
	d.Report.Count(event.Gaps, 1, at)
}

// End implements rawheader.Words.
func (d *decoder) End(at, trailing int64) error { return d.Cut(name, at, trailing) }

// Blank implements rawheader.Blanker. Records of time 0 behind another time are none.
func (d *decoder) Blank(from, to int64, tail bool) (bool, error) {
	if !d.running || d.last == d.overflow {
		return false, nil
	}
	return d.Scan.Blank(name, from, to, tail, "")
}

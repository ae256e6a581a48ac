package dat

import (
	"encoding/binary"

	"github.com/evq-project/evq/io/event"
)

const (
	blockRecords = 64 // records that the fast loop takes at once
	blockSize    = blockRecords * recordSize
)

// run decodes events that follow the one before by at most a second and whose polarity is 0 or 1, for as long as there
// are no others and b has room. It returns the bytes it took. It starts record by record, for where one record is unusual
// more may be, and goes on by blocks.
func (d *decoder) run(b *event.Buffer, records []byte) int {
	n := d.each(b, records, blockRecords)
	if n < blockSize {
		return n
	}
	for len(records)-n >= blockSize && b.Cap()-b.Len() >= blockRecords {
		if !d.block(b, (*[blockSize]byte)(records[n:])) {
			break
		}
		n += blockSize
	}
	return n + d.each(b, records[n:], blockRecords)
}

// each is run, record by record, for at most k of them.
func (d *decoder) each(b *event.Buffer, records []byte, k int) int {
	start := b.Len()
	k = min(k, b.Cap()-start, len(records)/recordSize)
	b.Resize(start + k)
	ts, xs, ys, ps := b.T[start:], b.X[start:], b.Y[start:], b.P[start:]
	xs, ys, ps = xs[:len(ts)], ys[:len(ts)], ps[:len(ts)]
	last, base, l := d.last, d.base, d.bits
	n := 0
	for ; n < len(ts); n++ {
		r := records[n*recordSize:][:recordSize]
		t, w := binary.LittleEndian.Uint32(r), binary.LittleEndian.Uint32(r[4:])
		p := w >> (l.pShift & 31) & l.pMask
		if t < last || t-last > gap || p > 1 {
			break
		}
		last = t
		ts[n], xs[n], ys[n], ps[n] = base+int64(t), uint16(w&l.xMask), uint16(w>>(l.yShift&31)&l.yMask), int8(p)
	}
	d.last = last
	b.Resize(start + n)
	return n * recordSize
}

// block decodes a block if run may take all of it: b has room for it. It goes through it once for each of few columns,
// so that all that a pass needs stays in registers.
func (d *decoder) block(b *event.Buffer, r *[blockSize]byte) bool {
	n := b.Len()
	b.Resize(n + blockRecords)
	last, ok := d.times((*[blockRecords]int64)(b.T[n:]), r)
	if !ok || !d.polarities((*[blockRecords]int8)(b.P[n:]), r) {
		b.Resize(n)
		return false
	}
	d.pixels((*[blockRecords]uint16)(b.X[n:]), (*[blockRecords]uint16)(b.Y[n:]), r)
	d.last = last
	return true
}

const turn = 4 * recordSize // bytes of a turn of the loops below

// times decodes the times of a block and returns the last as stored, and whether none lies before the one before it, nor
// the last more than a second after the block.
func (d *decoder) times(to *[blockRecords]int64, r *[blockSize]byte) (uint32, bool) {
	last, base := int64(d.last), d.base
	odd := int64(0) // its sign is set where a step is back
	for i := 0; i <= blockSize-turn; i += turn {
		k := i / recordSize
		t := int64(binary.LittleEndian.Uint32(r[i:]))
		odd |= t - last
		to[k] = base + t
		u := int64(binary.LittleEndian.Uint32(r[i+recordSize:]))
		odd |= u - t
		to[k+1] = base + u
		t = int64(binary.LittleEndian.Uint32(r[i+2*recordSize:]))
		odd |= t - u
		to[k+2] = base + t
		last = int64(binary.LittleEndian.Uint32(r[i+3*recordSize:]))
		odd |= last - t
		to[k+3] = base + last
	}
	odd |= gap - (last - int64(d.last))
	return uint32(last), odd >= 0
}

// pixels decodes the coordinates of a block.
func (d *decoder) pixels(xs, ys *[blockRecords]uint16, r *[blockSize]byte) {
	xMask, yMask, yShift := d.bits.xMask, d.bits.yMask, d.bits.yShift&31
	for i := 0; i <= blockSize-turn; i += turn {
		k := i / recordSize
		w := binary.LittleEndian.Uint32(r[i+4:])
		xs[k], ys[k] = uint16(w&xMask), uint16(w>>yShift&yMask)
		w = binary.LittleEndian.Uint32(r[i+4+recordSize:])
		xs[k+1], ys[k+1] = uint16(w&xMask), uint16(w>>yShift&yMask)
		w = binary.LittleEndian.Uint32(r[i+4+2*recordSize:])
		xs[k+2], ys[k+2] = uint16(w&xMask), uint16(w>>yShift&yMask)
		w = binary.LittleEndian.Uint32(r[i+4+3*recordSize:])
		xs[k+3], ys[k+3] = uint16(w&xMask), uint16(w>>yShift&yMask)
	}
}

// polarities decodes those of a block and reports whether all are 0 or 1.
func (d *decoder) polarities(ps *[blockRecords]int8, r *[blockSize]byte) bool {
	mask, shift := d.bits.pMask, d.bits.pShift&31
	var seen uint32
	for i := 0; i <= blockSize-turn; i += turn {
		p0 := binary.LittleEndian.Uint32(r[i+4:]) >> shift & mask
		p1 := binary.LittleEndian.Uint32(r[i+4+recordSize:]) >> shift & mask
		p2 := binary.LittleEndian.Uint32(r[i+4+2*recordSize:]) >> shift & mask
		p3 := binary.LittleEndian.Uint32(r[i+4+3*recordSize:]) >> shift & mask
		seen |= p0 | p1 | p2 | p3
		k := i / recordSize
		ps[k], ps[k+1], ps[k+2], ps[k+3] = int8(p0), int8(p1), int8(p2), int8(p3)
	}
	return seen <= 1
}

package ecf

import (
	"encoding/binary"
	"math"
)

// Decode decodes a block into dst, whose columns it makes as long as the block says. Times are int64 however the origin
// is signed. Bytes after the block are ignored. A block that ends early, whose runs hold more events than it says, or
// whose times pass 64 bits, is ErrDamaged; dst is then part-filled.
func Decode(dst *Columns, block []byte) error {
	n, err := Len(block)
	if err != nil {
		return err
	}
	dst.Resize(n)
	if n == 0 {
		return nil
	}
	m := mode(binary.LittleEndian.Uint32(block) & 3)
	rest, err := times(dst.T, block[headerSize:])
	if err != nil {
		return err
	}
	if m&packed != 0 {
		return allPacked(dst, rest)
	}
	if rest, err = rows(dst.Y, rest); err != nil {
		return err
	}
	if m&packedXP != 0 {
		return columnsPacked(dst, rest)
	}
	if rest, err = columnsMasked(dst.X, rest); err != nil {
		return err
	}
	return polarities(dst.P, rest)
}

// times decodes the origin and the runs of steps, and returns what follows them.
func times(dst []int64, src []byte) ([]byte, error) {
	if len(src) < originSize {
		return nil, damaged("it ends before the time of its first event")
	}
	t := int64(binary.LittleEndian.Uint64(src))
	src = src[originSize:]
	for len(dst) > 0 {
		if len(src) == 0 {
			return nil, damaged("it ends inside the times")
		}
		v := src[0]
		src = src[1:]
		step, run := int64(v>>4), int(v&0xF)
		if step == escape {
			var err error
			if step, src, err = longStep(v, src); err != nil {
				return nil, err
			}
			run = 0
		} else if run == longT {
			if len(src) < 2 {
				return nil, damaged("it ends inside the times")
			}
			run, src = int(binary.LittleEndian.Uint16(src)), src[2:]
		}
		if t > 0 && step > math.MaxInt64-t {
			return nil, damaged("its times pass 64 bits")
		}
		t += step
		if run > len(dst) {
			return nil, damaged("its times are more than its events")
		}
		fillTimes(dst, run, t)
		dst = dst[run:]
	}
	return src, nil
}

// fillTimes starts dst with a run of times, no longer than it. Most runs are short, and of no length that a processor would
// foresee: four are written whatever it is, and what follows the run overwrites the rest.
func fillTimes(dst []int64, run int, t int64) {
	from := 0
	if len(dst) >= 4 {
		dst[0], dst[1], dst[2], dst[3] = t, t, t, t
		from = 4
	}
	for i := from; i < run; i++ {
		dst[i] = t
	}
}

// fill is fillTimes for the other columns, eight at once.
func fill(dst []uint16, run int, v uint16) {
	from := 0
	if len(dst) >= 8 {
		w := uint64(v) * 0x0001_0001_0001_0001
		quad((*[4]uint16)(dst), w)
		quad((*[4]uint16)(dst[4:]), w)
		from = 8
	}
	for i := from; i < run; i++ {
		dst[i] = v
	}
}

// quad writes four values of 16 bits, the first lowest.
func quad(to *[4]uint16, v uint64) {
	to[0], to[1], to[2], to[3] = uint16(v), uint16(v>>16), uint16(v>>32), uint16(v>>48)
}

// longStep decodes a step of 15 us or more: nibbles, the lowest first, in bytes whose high nibble is the escape.
func longStep(v byte, src []byte) (int64, []byte, error) {
	var step uint64
	for shift := 0; ; shift += 4 {
		nibble := uint64(v & 0xF)
		if shift >= 60 && nibble > 7 || shift >= 64 && nibble > 0 {
			return 0, nil, damaged("a step in time has more than 63 bits")
		}
		step |= nibble << min(shift, 63)
		if len(src) == 0 {
			return 0, nil, damaged("it ends inside the times")
		}
		if src[0]>>4 != escape {
			return int64(step), src, nil
		}
		v, src = src[0], src[1:]
	}
}

// rows decodes the runs of y.
func rows(dst []uint16, src []byte) ([]byte, error) {
	for len(dst) > 0 {
		if len(src) < 2 {
			return nil, damaged("it ends inside the rows")
		}
		v := binary.LittleEndian.Uint16(src)
		src = src[2:]
		run := int(v & longY)
		if run == longY {
			if len(src) < 2 {
				return nil, damaged("it ends inside the rows")
			}
			run, src = int(binary.LittleEndian.Uint16(src)), src[2:]
		}
		if run > len(dst) {
			return nil, damaged("its rows are more than its events")
		}
		fill(dst, run, v>>5)
		dst = dst[run:]
	}
	return src, nil
}

// A neighbours says which of the five pixels after a pixel a mask names: how many, and how far each lies behind it.
type neighbours struct {
	n   int
	far [5]uint16
}

// named are the neighbours of every mask; the highest bit is the nearest pixel.
var named = func() (all [32]neighbours) {
	for m := range all {
		for i := range 5 {
			if m&(0x10>>i) != 0 {
				all[m].far[all[m].n] = uint16(i + 1)
				all[m].n++
			}
		}
	}
	return all
}()

// columnsMasked decodes x: a pixel and which of the five after it follow. The last mask may claim events beyond the
// end, which are none.
func columnsMasked(dst []uint16, src []byte) ([]byte, error) {
	n := 0
	for n < len(dst) {
		if len(src) < 2 {
			return nil, damaged("it ends inside the columns")
		}
		v := binary.LittleEndian.Uint16(src)
		src = src[2:]
		x, m := v>>5, &named[v&0x1F]
		if len(dst)-n >= 6 { // all are written, and those that the mask does not name once more
			to := dst[n : n+6 : n+6]
			to[0], to[1], to[2], to[3], to[4], to[5] = x, x+m.far[0], x+m.far[1], x+m.far[2], x+m.far[3], x+m.far[4]
			n += 1 + m.n
			continue
		}
		dst[n] = x
		n++
		for _, far := range m.far[:min(m.n, len(dst)-n)] {
			dst[n] = x + far
			n++
		}
	}
	return src, nil
}

// polarities decodes the runs of p.
func polarities(dst []uint16, src []byte) error {
	for len(dst) > 0 {
		if len(src) == 0 {
			return damaged("it ends inside the polarities")
		}
		v := src[0]
		src = src[1:]
		run := int(v & longP)
		if run == longP {
			if len(src) < 2 {
				return damaged("it ends inside the polarities")
			}
			run, src = int(binary.LittleEndian.Uint16(src)), src[2:]
		}
		if run > len(dst) {
			return damaged("its polarities are more than its events")
		}
		fill(dst, run, uint16(v>>7))
		dst = dst[run:]
	}
	return nil
}

// columnsPacked decodes x and p, four events in three words of 16 bits; the last group is filled up.
func columnsPacked(dst *Columns, src []byte) error {
	const group = 6
	xs, ps := dst.X, dst.P[:len(dst.X)]
	for at := 0; at < len(xs); at += 4 {
		if len(src) < group {
			return damaged("it ends inside the columns")
		}
		a, b, c := binary.LittleEndian.Uint16(src), binary.LittleEndian.Uint16(src[2:]), binary.LittleEndian.Uint16(src[4:])
		src = src[group:]
		four := [4]uint16{a >> 4, a&0xF | b>>8<<4, b&0xFF | c>>12<<8, c & 0xFFF}
		for i, v := range four[:min(4, len(xs)-at)] {
			xs[at+i], ps[at+i] = v>>1, v&1
		}
	}
	return nil
}

// allPacked decodes y, x and p, four events in three words of 32 bits; the last group is filled up.
func allPacked(dst *Columns, src []byte) error {
	const group = 12
	xs, ys, ps := dst.X, dst.Y[:len(dst.X)], dst.P[:len(dst.X)]
	for at := 0; at < len(xs); at += 4 {
		if len(src) < group {
			return damaged("it ends inside the pixels")
		}
		a, b, c := binary.LittleEndian.Uint32(src), binary.LittleEndian.Uint32(src[4:]), binary.LittleEndian.Uint32(src[8:])
		src = src[group:]
		four := [4]uint32{a >> 8, a&0xFF | b>>16<<8, b&0xFFFF | c>>24<<16, c & 0xFFFFFF}
		for i, v := range four[:min(4, len(xs)-at)] {
			xs[at+i], ys[at+i], ps[at+i] = uint16(v>>1&maxPixel), uint16(v>>12&maxPixel), uint16(v&1)
		}
	}
	return nil
}

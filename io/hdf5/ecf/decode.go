package ecf

import (
	"encoding/binary"
	"math"
)

// Decode decodes a block into dst, which holds Len(block) records. Times are int64 however the origin is signed.
// Bytes after the block are ignored. A block that ends early, whose runs hold more events than it says, or whose
// times pass 64 bits, is ErrDamaged; dst is then part-filled.
func Decode(dst, block []byte) error {
	n, err := Len(block)
	if err != nil {
		return err
	}
	if len(dst) != n*RecordSize {
		return damaged("it holds %d events, not %d", n, len(dst)/RecordSize)
	}
	if n == 0 {
		return nil
	}
	m := mode(binary.LittleEndian.Uint32(block) & 3)
	rest, err := times(dst, block[headerSize:])
	if err != nil {
		return err
	}
	if m&packed != 0 {
		return allPacked(dst, rest)
	}
	if rest, err = rows(dst, rest); err != nil {
		return err
	}
	if m&packedXP != 0 {
		return columnsPacked(dst, rest)
	}
	if rest, err = columnsMasked(dst, rest); err != nil {
		return err
	}
	return polarities(dst, rest)
}

// times decodes the origin and the runs of steps, and returns what follows them.
func times(dst, src []byte) ([]byte, error) {
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
		if run*RecordSize > len(dst) {
			return nil, damaged("its times are more than its events")
		}
		for i := range run {
			binary.LittleEndian.PutUint64(dst[i*RecordSize+atT:], uint64(t))
		}
		dst = dst[run*RecordSize:]
	}
	return src, nil
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
func rows(dst, src []byte) ([]byte, error) {
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
		if run*RecordSize > len(dst) {
			return nil, damaged("its rows are more than its events")
		}
		for i := range run {
			binary.LittleEndian.PutUint16(dst[i*RecordSize+atY:], v>>5)
		}
		dst = dst[run*RecordSize:]
	}
	return src, nil
}

// columnsMasked decodes x: a pixel and which of the five after it follow. The last mask may claim events beyond the
// end, which are none.
func columnsMasked(dst, src []byte) ([]byte, error) {
	for len(dst) > 0 {
		if len(src) < 2 {
			return nil, damaged("it ends inside the columns")
		}
		v := binary.LittleEndian.Uint16(src)
		src = src[2:]
		x := v >> 5
		binary.LittleEndian.PutUint16(dst[atX:], x)
		dst = dst[RecordSize:]
		for m := v & 0x1F; m != 0 && len(dst) > 0; m = m << 1 & 0x1F {
			x++
			if m&0x10 != 0 {
				binary.LittleEndian.PutUint16(dst[atX:], x)
				dst = dst[RecordSize:]
			}
		}
	}
	return src, nil
}

// polarities decodes the runs of p.
func polarities(dst, src []byte) error {
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
		if run*RecordSize > len(dst) {
			return damaged("its polarities are more than its events")
		}
		for i := range run {
			binary.LittleEndian.PutUint16(dst[i*RecordSize+atP:], uint16(v>>7))
		}
		dst = dst[run*RecordSize:]
	}
	return nil
}

// columnsPacked decodes x and p, four events in three words of 16 bits.
func columnsPacked(dst, src []byte) error {
	const group = 6
	for len(dst) > 0 {
		if len(src) < group {
			return damaged("it ends inside the columns")
		}
		a, b, c := binary.LittleEndian.Uint16(src), binary.LittleEndian.Uint16(src[2:]), binary.LittleEndian.Uint16(src[4:])
		src = src[group:]
		for _, v := range [4]uint16{a >> 4, a&0xF | b>>8<<4, b&0xFF | c>>12<<8, c & 0xFFF} {
			if len(dst) == 0 {
				break // the last group is filled up
			}
			binary.LittleEndian.PutUint16(dst[atX:], v>>1)
			binary.LittleEndian.PutUint16(dst[atP:], v&1)
			dst = dst[RecordSize:]
		}
	}
	return nil
}

// allPacked decodes y, x and p, four events in three words of 32 bits.
func allPacked(dst, src []byte) error {
	const group = 12
	for len(dst) > 0 {
		if len(src) < group {
			return damaged("it ends inside the pixels")
		}
		a, b, c := binary.LittleEndian.Uint32(src), binary.LittleEndian.Uint32(src[4:]), binary.LittleEndian.Uint32(src[8:])
		src = src[group:]
		for _, v := range [4]uint32{a >> 8, a&0xFF | b>>16<<8, b&0xFFFF | c>>24<<16, c & 0xFFFFFF} {
			if len(dst) == 0 {
				break // the last group is filled up
			}
			binary.LittleEndian.PutUint16(dst[atY:], uint16(v>>12&maxPixel))
			binary.LittleEndian.PutUint16(dst[atX:], uint16(v>>1&maxPixel))
			binary.LittleEndian.PutUint16(dst[atP:], uint16(v&1))
			dst = dst[RecordSize:]
		}
	}
	return nil
}

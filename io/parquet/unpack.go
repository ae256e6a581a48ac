package parquet

import (
	"encoding/binary"
	"unsafe"
)

// lanes is the lowest bit of each of four 16-bit lanes of a word, lanesHigh the highest.
const (
	lanes     = 0x0001000100010001
	lanesHigh = lanes << 15
)

// littleHost says that four lanes of a word lie in memory as four numbers do.
var littleHost = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// unpackIndices reads indices of width bits, at most 32, the least significant first; data may hold more than they need.
// It reports whether all are at most limit.
//
// Eight values fill as many bytes as each has bits, so that every eight begin alike: the first four lie in the eight
// bytes from the first on, the other four in those from the middle on.
func unpackIndices(dst []uint16, data []byte, width int, limit uint16) (ok bool) {
	n := 0
	ok = true
	if width > 0 && width < 16 && littleHost {
		if groups := whole(len(dst), len(data), width); groups > 0 {
			n = 8 * groups
			// Without a limit that can be passed, no lane is ever above it.
			ok = unpackLanes(dst[:n], data, uint(width), uint64(min(limit, 1<<15-1))) == 0
		}
	}
	for at := n * width; n < len(dst); at += width {
		v := bitsAt(data, at, width) & (1<<width - 1)
		dst[n] = uint16(v)
		ok = ok && v <= uint64(limit)
		n++
	}
	return ok
}

// whole returns how many eights of values can be read in two loads of eight bytes each.
func whole(values, size, width int) int {
	if size < 8+width/2 {
		return 0
	}
	return min(values/8, (size-8-width/2)/width+1)
}

// unpackLanes unpacks whole eights, and returns 0 where all are at most limit, which is below 1<<15.
func unpackLanes(dst []uint16, data []byte, width uint, limit uint64) (over uint64) {
	w1, w2, w3 := width&63, 2*width&63, 3*width&63
	mask := uint64(1)<<w1 - 1
	middle, shift := width/2, 4*width&7
	full := lanesHigh | limit*lanes // less a lane, the highest bit stays unless the lane is above the limit
	left := uint64(lanesHigh)
	from, to := unsafe.Pointer(unsafe.SliceData(data)), unsafe.Pointer(unsafe.SliceData(dst))
	for i := range uint(len(dst) / 8) { // no pointer is kept from turn to turn: behind the last it would leave its slice
		a := load(unsafe.Add(from, i*width))
		b := load(unsafe.Add(from, i*width+middle)) >> shift
		a = a&mask | a>>w1&mask<<16 | a>>w2&mask<<32 | a>>w3&mask<<48
		b = b&mask | b>>w1&mask<<16 | b>>w2&mask<<32 | b>>w3&mask<<48
		left &= full - a
		left &= full - b
		*(*[2]uint64)(unsafe.Add(to, 16*i)) = [2]uint64{a, b}
	}
	return left&lanesHigh ^ lanesHigh
}

// load reads eight bytes, the lowest first.
func load(p unsafe.Pointer) uint64 { return binary.LittleEndian.Uint64((*[8]byte)(p)[:]) }

// sums adds up packed differences of less than 16 bits, each with least added, from last on. It returns the last sum and
// how many values it made, a multiple of 8: the rest lies too near the end of data.
func sums(dst []int64, data []byte, width int, last, least int64) (int64, int) {
	groups := whole(len(dst), len(data), width)
	if groups == 0 {
		return last, 0
	}
	w := uint(width)
	w1, w2, w3 := w&63, 2*w&63, 3*w&63
	mask := uint64(1)<<w1 - 1
	middle, shift := w/2, 4*w&7
	from := unsafe.Pointer(unsafe.SliceData(data))
	for i := range groups {
		to, at := dst[8*i:][:8:8], uint(i)*w
		a := load(unsafe.Add(from, at))
		b := load(unsafe.Add(from, at+middle)) >> shift
		t0 := last + int64(a&mask) + least
		t1 := t0 + int64(a>>w1&mask) + least
		t2 := t1 + int64(a>>w2&mask) + least
		t3 := t2 + int64(a>>w3&mask) + least
		to[0], to[1], to[2], to[3] = t0, t1, t2, t3
		t4 := t3 + int64(b&mask) + least
		t5 := t4 + int64(b>>w1&mask) + least
		t6 := t5 + int64(b>>w2&mask) + least
		last = t6 + int64(b>>w3&mask) + least
		to[4], to[5], to[6], to[7] = t4, t5, t6, last
	}
	return last, 8 * groups
}

// unpack reads values of width bits, the least significant first; data may hold more than they need.
func unpack(dst []uint64, data []byte, width int) {
	if width == 0 {
		clear(dst)
		return
	}
	mask := ^uint64(0) >> (64 - width)
	i := 0
	if width <= 57 { // a value lies within eight bytes
		safe := len(dst)
		if last := (len(data) - 8) * 8 / width; len(data) < 8 {
			safe = 0
		} else if last < safe {
			safe = last
		}
		for bit := 0; i < safe; i++ {
			dst[i] = binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7) & mask
			bit += width
		}
	}
	for ; i < len(dst); i++ {
		dst[i] = bitsAt(data, i*width, width) & mask
	}
}

// bitsAt reads bits that may lie in nine bytes, or at the end of data.
func bitsAt(data []byte, bit, width int) (v uint64) {
	shift := 0
	for at := bit >> 3; shift < width+bit&7 && at < len(data); at++ {
		b := uint64(data[at])
		if s := shift - bit&7; s >= 0 {
			v |= b << s
		} else {
			v |= b >> -s
		}
		shift += 8
	}
	return v
}

// narrowBits copies numbers into bytes; it returns false where one is neither 0 nor 1, and dst is then of no use.
func narrowBits(dst []int8, src []uint16) bool {
	all := uint16(0)
	dst = dst[:len(src)]
	n := 0
	if littleHost {
		n = len(src) &^ 7
		from, to := unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(dst))
		seen := uint64(0)
		for i := range n / 8 {
			a, b := load(unsafe.Add(from, 16*i)), load(unsafe.Add(from, 16*i+8))
			seen |= a | b
			a = (a | a>>8) & 0x0000FFFF0000FFFF // two bytes of two numbers each
			b = (b | b>>8) & 0x0000FFFF0000FFFF
			*(*[2]uint32)(unsafe.Add(to, 8*i)) = [2]uint32{uint32(a | a>>16), uint32(b | b>>16)}
		}
		if seen&^lanes != 0 {
			return false
		}
	}
	for i, v := range src[n:] {
		dst[n+i] = int8(v)
		all |= v
	}
	return all <= 1
}

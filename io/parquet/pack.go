package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The encodings that stores use, as parquet-format's Encodings.md has them. Each function appends a page's data.

const (
	deltaBlock = 128 // differences of a block, the geometry that most writers take
	deltaMinis = 4
	deltaMini  = deltaBlock / deltaMinis
	// leastRun is the shortest run of equal indices that is stored as one: a shorter one saves fewer bytes than its
	// breaking up a packed run costs time to decode.
	leastRun = 16
	// slack is what packing may write behind its result.
	slack = 16
)

// appendDelta appends DELTA_BINARY_PACKED integers, of which there is at least one.
func appendDelta(dst []byte, t []int64) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaMinis)
	dst = binary.AppendUvarint(dst, uint64(len(t)))
	dst = binary.AppendVarint(dst, t[0]) // varints are zigzag here as there
	var d [deltaBlock]uint64
	for at := 1; at < len(t); at += deltaBlock {
		now := t[at:min(at+deltaBlock, len(t))]
		before := t[at-1:][:len(now)]
		least, used := now[0]-before[0], d[:len(now)]
		for i, v := range now {
			step := v - before[i]
			used[i], least = uint64(step), min(least, step)
		}
		dst = appendBlock(dst, &d, len(now), least)
	}
	return dst
}

// appendBlock appends a block of n differences, of which least is the smallest.
func appendBlock(dst []byte, d *[deltaBlock]uint64, n int, least int64) []byte {
	dst = binary.AppendVarint(dst, least)
	clear(d[n:])
	if least != 0 {
		for i := range d[:n] {
			d[i] -= uint64(least)
		}
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for i := 0; i < n; i += deltaMini {
		mini, all := d[i:][:deltaMini], uint64(0)
		for _, v := range mini {
			all |= v
		}
		width := bits.Len64(all)
		dst[at+i/deltaMini] = byte(width)
		dst = appendPacked(dst, mini, width)
	}
	return dst
}

// appendRuns appends indices of at most width bits, in the hybrid of runs of equal values and packed ones.
func appendRuns(dst []byte, v []uint16, width int) []byte {
	dst = append(dst, byte(width))
	packed, i := 0, 0 // the first value not yet appended, and where to look for a run
	for i+leastRun <= len(v) {
		first := v[i]
		if first != v[i+7] || first != v[i+leastRun-1] {
			i += 8
			continue
		}
		end := i + 1
		for end < len(v) && v[end] == first {
			end++
		}
		if end-i < leastRun {
			i += max((end-i)&^7, 8)
			continue
		}
		dst = appendPackedRun(dst, v[packed:i], width)
		dst = binary.AppendUvarint(dst, uint64(end-i)<<1)
		dst = append(dst, byte(first))
		if width > 8 {
			dst = append(dst, byte(first>>8))
		}
		packed, i = end, end
	}
	return appendPackedRun(dst, v[packed:], width)
}

// appendPackedRun appends a run of packed values. Only the last run of a page may be filled up to a multiple of eight.
func appendPackedRun(dst []byte, v []uint16, width int) []byte {
	if len(v) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64((len(v)+7)/8)<<1|1)
	whole := len(v) &^ 7
	dst = appendPacked(dst, v[:whole], width)
	if whole < len(v) {
		var last [8]uint16
		copy(last[:], v[whole:])
		dst = appendPacked(dst, last[:], width)
	}
	return dst
}

// appendPacked appends values of width bits each, the least significant bit first; their number is a multiple of 8.
func appendPacked[T uint16 | uint64](dst []byte, v []T, width int) []byte {
	from, size := len(dst), len(v)/8*width
	dst = slices.Grow(dst, size+slack)[:from+size+slack]
	if width < 16 {
		packEights(dst[from:], v, uint(width))
	} else {
		packAny(dst[from:], v, uint(width))
	}
	return dst[:from+size]
}

// packEights packs values of less than 16 bits: eight of them fill as many bytes as each has bits.
func packEights[T uint16 | uint64](dst []byte, v []T, width uint) {
	w1, w2, w3, w4 := width&63, 2*width&63, 3*width&63, 4*width&63
	back := (64 - w4) & 63
	keep := uint64(0)
	if width > 0 {
		keep = ^uint64(0)
	}
	for at := 0; len(v) >= 8 && at+16 <= len(dst); at += int(width) {
		e := v[:8:8]
		a := uint64(e[0]) | uint64(e[1])<<w1 | uint64(e[2])<<w2 | uint64(e[3])<<w3
		b := uint64(e[4]) | uint64(e[5])<<w1 | uint64(e[6])<<w2 | uint64(e[7])<<w3
		binary.LittleEndian.PutUint64(dst[at:], a|b<<w4)
		binary.LittleEndian.PutUint64(dst[at+8:], b>>back&keep)
		v = v[8:]
	}
}

// packAny packs values of any width.
func packAny[T uint16 | uint64](dst []byte, v []T, width uint) {
	word, filled := uint64(0), uint(0)
	for _, e := range v {
		word |= uint64(e) << filled
		filled += width
		if filled < 64 {
			continue
		}
		binary.LittleEndian.PutUint64(dst, word)
		dst = dst[8:]
		filled -= 64
		word = uint64(e) >> (width - filled)
	}
	for ; filled > 0; filled -= min(filled, 8) {
		dst[0] = byte(word)
		word, dst = word>>8, dst[1:]
	}
}

// appendBits appends a packed run of values that are 0 or 1, as one bit each; it reports which values occur, and false
// where another one does.
func appendBits(dst []byte, p []byte) (_ []byte, zero, one, ok bool) {
	dst = append(dst, 1)
	dst = binary.AppendUvarint(dst, uint64((len(p)+7)/8)<<1|1)
	const each = 0x0101010101010101
	any1, all1 := uint64(0), uint64(each)
	for len(p) >= 8 {
		v := binary.LittleEndian.Uint64(p)
		any1, all1 = any1|v, all1&v
		dst = append(dst, byte(v*0x0102040810204080>>56)) // gathers the lowest bit of each byte
		p = p[8:]
	}
	if len(p) > 0 {
		last := byte(0)
		for i, v := range p {
			any1, all1 = any1|uint64(v), all1&^uint64(^v&1)
			last |= v & 1 << i
		}
		dst = append(dst, last)
	}
	return dst, all1 != each, any1 != 0, any1&^each == 0
}

package chunk

import "encoding/binary"

// unshuffle gathers elements of size bytes whose first bytes come first, then all second bytes, and so on.
// A rest that is no whole element stands as it is. dst and src are equally long and do not overlap.
func unshuffle(dst, src []byte, size int) {
	if size < 1 || size > len(src) {
		size = 1
	}
	n := len(src) / size
	switch size {
	case 1:
		copy(dst, src)
		return
	case 2:
		unshuffle2(dst, src[:n], src[n:2*n])
	case 4:
		unshuffle4(dst, src[:n], src[n:2*n], src[2*n:3*n], src[3*n:4*n])
	case 8:
		unshuffle8(dst, src, n)
	default:
		for j := range size {
			for i, b := range src[j*n : (j+1)*n] {
				dst[i*size+j] = b
			}
		}
	}
	copy(dst[n*size:len(src)], src[n*size:])
}

// spread moves the four low bytes of v apart, into the low halves of 16-bit lanes.
func spread(v uint64) uint64 {
	v = (v | v<<16) & 0x0000ffff0000ffff
	return (v | v<<8) & 0x00ff00ff00ff00ff
}

func unshuffle2(dst, a, b []byte) {
	n := len(a)
	i := 0
	for ; i+8 <= n; i += 8 {
		u, v := binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])
		out := dst[2*i : 2*i+16]
		binary.LittleEndian.PutUint64(out, spread(u&0xffffffff)|spread(v&0xffffffff)<<8)
		binary.LittleEndian.PutUint64(out[8:], spread(u>>32)|spread(v>>32)<<8)
	}
	for ; i < n; i++ {
		dst[2*i], dst[2*i+1] = a[i], b[i]
	}
}

func unshuffle4(dst, a, b, c, d []byte) {
	n := len(a)
	i := 0
	for ; i+8 <= n; i += 8 {
		u, v := binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])
		w, x := binary.LittleEndian.Uint64(c[i:]), binary.LittleEndian.Uint64(d[i:])
		out := dst[4*i : 4*i+32]
		lo, hi := spread(u&0xffffffff)|spread(v&0xffffffff)<<8, spread(w&0xffffffff)|spread(x&0xffffffff)<<8
		binary.LittleEndian.PutUint64(out, spread16(lo)|spread16(hi)<<16)
		binary.LittleEndian.PutUint64(out[8:], spread16(lo>>32)|spread16(hi>>32)<<16)
		lo, hi = spread(u>>32)|spread(v>>32)<<8, spread(w>>32)|spread(x>>32)<<8
		binary.LittleEndian.PutUint64(out[16:], spread16(lo)|spread16(hi)<<16)
		binary.LittleEndian.PutUint64(out[24:], spread16(lo>>32)|spread16(hi>>32)<<16)
	}
	for ; i < n; i++ {
		dst[4*i], dst[4*i+1], dst[4*i+2], dst[4*i+3] = a[i], b[i], c[i], d[i]
	}
}

// spread16 moves the two low 16-bit words of v apart, into the low halves of 32-bit lanes.
func spread16(v uint64) uint64 {
	return v&0xffff | v&0xffff0000<<16
}

func unshuffle8(dst, src []byte, n int) {
	i := 0
	for ; i+8 <= n; i += 8 {
		var m [8]uint64
		for j := range m {
			m[j] = binary.LittleEndian.Uint64(src[j*n+i:])
		}
		transposeBytes(&m)
		for j := range m {
			binary.LittleEndian.PutUint64(dst[8*(i+j):], m[j])
		}
	}
	for ; i < n; i++ {
		for j := range 8 {
			dst[8*i+j] = src[j*n+i]
		}
	}
}

// transposeBytes transposes a matrix of 8 by 8 bytes by swapping ever smaller halves.
func transposeBytes(m *[8]uint64) {
	swap := func(i, j int, shift uint, mask uint64) {
		t := (m[i]>>shift ^ m[j]) & mask
		m[j] ^= t
		m[i] ^= t << shift
	}
	for i := range 4 {
		swap(i, i+4, 32, 0x00000000ffffffff)
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		swap(i, i+2, 16, 0x0000ffff0000ffff)
	}
	for i := 0; i < 8; i += 2 {
		swap(i, i+1, 8, 0x00ff00ff00ff00ff)
	}
}

// unshuffleBits undoes the bit shuffle inside Blosc1: row 8*j+k holds bit k of byte j of every element. A
// block whose elements are no multiple of eight is not shuffled.
func unshuffleBits(dst, src []byte, size int) {
	n := len(src) / size
	if n%8 != 0 {
		copy(dst, src)
		return
	}
	row := n / 8
	for j := range size {
		for i := range row {
			var v uint64
			for k := range 8 {
				v |= uint64(src[(8*j+k)*row+i]) << (8 * k)
			}
			v = transposeBits(v)
			for k := range 8 {
				dst[(8*i+k)*size+j] = byte(v >> (8 * k))
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// transposeBits transposes a matrix of 8 by 8 bits (Hacker's Delight, section 7-3).
func transposeBits(v uint64) uint64 {
	t := (v ^ v>>7) & 0x00aa00aa00aa00aa
	v ^= t ^ t<<7
	t = (v ^ v>>14) & 0x0000cccc0000cccc
	v ^= t ^ t<<14
	t = (v ^ v>>28) & 0x00000000f0f0f0f0
	return v ^ t ^ t<<28
}

// shuffle scatters elements of size bytes into planes of bytes: the inverse of unshuffle.
func shuffle(dst, src []byte, size int) {
	n := len(src) / size
	for j := range size {
		plane := dst[j*n : (j+1)*n]
		for i := range plane {
			plane[i] = src[i*size+j]
		}
	}
	copy(dst[n*size:len(src)], src[n*size:])
}

package chunk

import (
	"encoding/binary"

	"github.com/pierrec/lz4/v4"
)

// What LZ4 asks of the end of a block (lz4_Block_format.md): the last bytes are literals, and no match starts near them.
const (
	lz4LastLiterals = 5
	lz4MatchLimit   = 12
	lz4MinMatch     = 4
)

// encodeLZ4 appends src as one LZ4 block to dst: the same runs as encode, at distance 1. Where src is not sparse it
// returns false and leaves it to the general encoder.
func (e *sparseEncoder) encodeLZ4(dst, src []byte) ([]byte, bool) {
	if len(src) < 256 {
		return dst, false
	}
	at := len(dst)
	// Each run takes one literal at least, of which there are one in eight bytes at most, and five bytes beside its own
	// ones, so that the bound of the general encoder holds.
	dst = grow(dst, lz4.CompressBlockBound(len(src))+2*wildBytes)
	out, n := dst[:cap(dst)], at
	from := 0 // where the literals start that wait
	for lo := 0; lo < len(src); lo += zstdBlock {
		part := src[lo:min(lo+zstdBlock, len(src))]
		if !e.scan(part) {
			if lo > 0 && len(part) <= 1<<10 {
				break // a short last part
			}
			return dst, false
		}
		end := lo
		for i, ll := range e.ll {
			start := end + int(ll)
			end = start + int(e.ml[i])
			stop := min(end, len(src)-lz4LastLiterals)
			if start > len(src)-lz4MatchLimit || stop-start < lz4MinMatch {
				continue // the rest is literals
			}
			n = appendRun(out, n, src, from, start, stop-start)
			from = stop
		}
	}
	rest := src[from:]
	if n += putLZ4Token(out[n:], len(rest), 0); n+len(rest) > len(out) {
		return dst, false
	}
	n += copy(out[n:], rest)
	return out[:n], true
}

// appendRun writes literals src[from:start] and a match at distance 1 at out[n:], and returns where it ends.
func appendRun(out []byte, n int, src []byte, from, start, match int) int {
	size := start - from
	if size < 15 && match < 15+lz4MinMatch && from+wildBytes <= len(src) { // nearly all
		out[n] = byte(size<<4 | (match - lz4MinMatch))
		copy(out[n+1:n+1+wildBytes], src[from:from+wildBytes])
		n += 1 + size
		binary.LittleEndian.PutUint16(out[n:], 1)
		return n + 2
	}
	n += putLZ4Token(out[n:], size, match-lz4MinMatch)
	n += copy(out[n:], src[from:start])
	binary.LittleEndian.PutUint16(out[n:], 1)
	n += 2
	if match -= lz4MinMatch; match >= 15 {
		n += putLZ4Length(out[n:], match-15)
	}
	return n
}

// putLZ4Token writes what comes before the literals and returns how many bytes that is.
func putLZ4Token(out []byte, literals, match int) int {
	out[0] = byte(min(literals, 15)<<4 | min(match, 15))
	if literals < 15 {
		return 1
	}
	return 1 + putLZ4Length(out[1:], literals-15)
}

// putLZ4Length writes what a length has beyond its four bits in the token.
func putLZ4Length(out []byte, v int) int {
	n := 0
	for ; v >= 255; v -= 255 {
		out[n] = 255
		n++
	}
	out[n] = byte(v)
	return n + 1
}

package chunk

import (
	"encoding/binary"
	"math/bits"
)

const (
	shortestRun = 8  // zeros that become a match; fewer stay literals
	groupBytes  = 32 // are looked at together
	wildBytes   = 16 // literals that are copied without looking how many they are
)

// A sparseScan finds what is not zero in a block. How many of the bytes are, and where, is not foreseeable: a processor
// that guesses loses more time than looking takes, so that nothing is guessed until single words are left.
type sparseScan struct {
	groups [zstdBlock/groupBytes + 1]uint16 // those with a count
	words  [zstdBlock/8 + 4]uint16          // the words with a count
	padded []byte                           // a block that is no whole number of groups
}

// find lists the words of src that are not zero. It holds a whole number of groups.
func (s *sparseScan) find(src []byte) []uint16 {
	n := 0
	for g := 0; g < len(src)/groupBytes; g++ {
		b := src[g*groupBytes : g*groupBytes+groupBytes]
		any := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) | binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
		s.groups[n] = uint16(g)
		n += int((any | -any) >> 63)
	}
	m := 0
	for _, g := range s.groups[:n] {
		b := src[int(g)*groupBytes : int(g)*groupBytes+groupBytes]
		to := s.words[m : m+4 : m+4]
		v, w := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		x, y := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		k := 0
		to[k] = 4 * g
		k += int((v | -v) >> 63)
		to[k] = 4*g + 1
		k += int((w | -w) >> 63)
		to[k&3] = 4*g + 2
		k += int((x | -x) >> 63)
		to[k&3] = 4*g + 3
		m += k + int((y|-y)>>63)
	}
	return s.words[:m]
}

// scan splits a block of at most zstdBlock bytes into literals and matches. Each match is a run of zeros after its
// first, which is the last of the literals before it. False: the block isn't sparse.
func (e *sparseEncoder) scan(src []byte) bool {
	n := len(src)
	if n%groupBytes != 0 {
		whole := (n + groupBytes - 1) / groupBytes * groupBytes
		e.runs.padded = append(e.runs.padded[:0], src...)
		e.runs.padded = append(e.runs.padded, make([]byte, whole-n)...)
		src = e.runs.padded
	}
	most := n / sparseAtMost
	if cap(e.literals) < most+wildBytes {
		e.literals = make([]byte, 0, zstdBlock/sparseAtMost+wildBytes)
		e.ll, e.ml = make([]uint32, 0, zstdBlock/shortestRun+1), make([]uint32, 0, zstdBlock/shortestRun+1)
	}
	literals, ll, ml := e.literals[:cap(e.literals)], e.ll[:cap(e.ll)], e.ml[:cap(e.ml)]
	kept, runs := 0, 0
	from, end := 0, 0 // where the literals start; behind the last byte that is not zero
	for _, w := range e.runs.find(src) {
		at := 8 * int(w)
		v := binary.LittleEndian.Uint64(src[at:])
		first := at + bits.TrailingZeros64(v)/8
		if first-end >= shortestRun {
			size := end + 1 - from
			if kept+size > most {
				return false
			}
			if size <= wildBytes && from+wildBytes <= len(src) {
				copy(literals[kept:kept+wildBytes], src[from:from+wildBytes])
			} else {
				copy(literals[kept:], src[from:end+1])
			}
			kept += size
			ll[runs], ml[runs] = uint32(size), uint32(first-end-1)
			runs++
			from = first
		}
		end = at + 8 - bits.LeadingZeros64(v)/8
	}
	rest := n
	if n-end >= shortestRun {
		rest = end + 1
		ll[runs], ml[runs] = uint32(rest-from), uint32(n-rest)
		runs++
	}
	if kept+rest-from > most {
		return false
	}
	kept += copy(literals[kept:], src[from:rest])
	e.literals, e.ll, e.ml = literals[:kept], ll[:runs], ml[:runs]
	return runs > 0
}

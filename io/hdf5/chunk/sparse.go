package chunk

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/huff0"
)

// Blocks of counts are nearly all zeros. A zstd frame can say so directly: literals, then a match at distance
// 1 that repeats the zero before it, and so on. Distance 1 is zstd's first repeated offset from the start of a
// frame, so offsets take no bits at all. Looking for zeros is all the search there is, which makes this several
// times faster than a general encoder; any zstd decoder reads the frame (RFC 8878).

const (
	zstdMagic     = 0xfd2fb528
	zstdBlock     = 128 << 10 // the most that a block holds
	blockRaw      = 0
	blockRLE      = 1
	blockPacked   = 2
	literalsRaw   = 0
	literalsRLE   = 1
	literalsHuff  = 2
	modeRLE       = 1
	modeTable     = 2
	sparseAtMost  = 8 // a block is sparse while at most one byte in so many is a literal
	sequenceBytes = 6 // more than any sequence takes on average in a block that is kept
)

// A sparseEncoder encodes blocks of mostly zeros. It serves one goroutine and keeps its memory.
type sparseEncoder struct {
	runs           sparseScan
	literals       []byte
	ll, ml         []uint32 // the lengths of each sequence
	llCode, mlCode []uint8
	llTable        fseTable
	mlTable        fseTable
	huff           huff0.Scratch
}

// encode appends src as one frame to dst. Where src is not sparse, or a block would not shrink, it returns false
// and leaves it to the general encoder.
func (e *sparseEncoder) encode(dst, src []byte) ([]byte, bool) {
	if len(src) < 256 {
		return dst, false
	}
	dst = binary.LittleEndian.AppendUint32(dst, zstdMagic)
	dst = append(dst, 2<<6|1<<5) // one segment, whose size follows in four bytes
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
	for len(src) > 0 {
		n := min(zstdBlock, len(src))
		head := len(dst)
		dst = append(dst, 0, 0, 0)
		kind, size := uint32(blockPacked), n
		switch {
		case AllZero(src[:n]):
			kind = blockRLE
			dst = append(dst, 0)
		case e.scan(src[:n]):
			var ok bool
			if dst, ok = e.writeSequences(e.writeLiterals(dst)); !ok {
				return dst, false
			}
			if size = len(dst) - head - 3; size >= n {
				return dst, false
			}
		case n <= 1<<10: // a short last block
			kind = blockRaw
			dst = append(dst, src[:n]...)
		default:
			return dst, false
		}
		h := kind<<1 | uint32(size)<<3
		if src = src[n:]; len(src) == 0 {
			h |= 1
		}
		dst[head], dst[head+1], dst[head+2] = byte(h), byte(h>>8), byte(h>>16)
	}
	return dst, true
}

// writeLiterals appends the literals section: Huffman coded, or as they are.
func (e *sparseEncoder) writeLiterals(dst []byte) []byte {
	n := len(e.literals)
	e.huff.Reuse = huff0.ReusePolicyNone
	var out []byte
	var err error
	single := n < 256
	if single {
		out, _, err = huff0.Compress1X(e.literals, &e.huff)
	} else {
		out, _, err = huff0.Compress4X(e.literals, &e.huff)
	}
	switch {
	case errors.Is(err, huff0.ErrUseRLE):
		return append(rawHeader(dst, literalsRLE, n), e.literals[0])
	case err != nil || len(out) >= n:
		return append(rawHeader(dst, literalsRaw, n), e.literals...)
	}
	size := uint64(len(out))
	switch {
	case single:
		dst = appendBytes(dst, literalsHuff|0<<2|uint64(n)<<4|size<<14, 3)
	case n < 1<<10:
		dst = appendBytes(dst, literalsHuff|1<<2|uint64(n)<<4|size<<14, 3)
	case n < 1<<14:
		dst = appendBytes(dst, literalsHuff|2<<2|uint64(n)<<4|size<<18, 4)
	default:
		dst = appendBytes(dst, literalsHuff|3<<2|uint64(n)<<4|size<<22, 5)
	}
	return append(dst, out...)
}

// rawHeader appends the header of literals that are not Huffman coded.
func rawHeader(dst []byte, kind uint64, n int) []byte {
	switch {
	case n < 1<<5:
		return appendBytes(dst, kind|uint64(n)<<3, 1)
	case n < 1<<12:
		return appendBytes(dst, kind|1<<2|uint64(n)<<4, 2)
	}
	return appendBytes(dst, kind|3<<2|uint64(n)<<4, 3)
}

func appendBytes(dst []byte, v uint64, n int) []byte {
	for range n {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

// writeSequences appends the sequences section: the number, the tables, and the lengths from the last to the
// first. False: the lengths fit in no table.
func (e *sparseEncoder) writeSequences(dst []byte) ([]byte, bool) {
	n := len(e.ll)
	switch {
	case n < 128:
		dst = append(dst, byte(n))
	case n < 0x7f00:
		dst = append(dst, byte(n>>8)+128, byte(n))
	default:
		return dst, false
	}
	llOnly, mlOnly, ok := e.fitTables()
	if !ok {
		return dst, false
	}
	modes := len(dst)
	dst = grow(append(dst, modeTable<<6|modeRLE<<4|modeTable<<2), 512+n*sequenceBytes)
	w := bitWriter{out: dst[:cap(dst)], n: len(dst)}
	if llOnly >= 0 {
		w.out[modes] ^= (modeTable ^ modeRLE) << 6
		w.out[w.n] = byte(llOnly)
		w.n++
	} else {
		e.llTable.describe(&w)
	}
	w.out[w.n] = 0 // the only code of offsets: the first repeated one
	w.n++
	if mlOnly >= 0 {
		w.out[modes] ^= (modeTable ^ modeRLE) << 2
		w.out[w.n] = byte(mlOnly)
		w.n++
	} else {
		e.mlTable.describe(&w)
	}
	ok = e.writeLengths(&w)
	return w.out[:w.n], ok
}

// writeLengths writes the bits of all sequences. False: they take more room than was made.
func (e *sparseEncoder) writeLengths(w *bitWriter) bool {
	last := len(e.ll) - 1
	ml, ll := e.mlTable.start(e.mlCode[last]), e.llTable.start(e.llCode[last])
	for i := last; ; i-- {
		c, m := e.llCode[i], e.mlCode[i]
		if i != last {
			ml = e.mlTable.encode(w, ml, m)
			ll = e.llTable.encode(w, ll, c)
		}
		w.add(uint64(e.ll[i]-llBase[c]), uint(llBits[c]))
		w.add(uint64(e.ml[i]-mlBase[m]), uint(mlBits[m]))
		if w.n+16 > len(w.out) {
			return false
		}
		w.flush()
		if i == 0 {
			break
		}
	}
	w.add(uint64(ml), e.mlTable.log)
	w.add(uint64(ll), e.llTable.log)
	w.add(1, 1) // marks the end
	w.end()
	return true
}

// fitTables finds the codes of all lengths and makes the tables for them.
func (e *sparseEncoder) fitTables() (llOnly, mlOnly int, ok bool) {
	n := len(e.ll)
	e.llCode, e.mlCode = slices.Grow(e.llCode[:0], n)[:n], slices.Grow(e.mlCode[:0], n)[:n]
	var llCounts, mlCounts [maxSymbols]uint32
	llCode, mlCode, ml := e.llCode[:n], e.mlCode[:n], e.ml[:n]
	for i, l := range e.ll {
		c, m := llCodeOf(l), mlCodeOf(ml[i])
		llCode[i], mlCode[i] = c, m
		llCounts[c]++
		mlCounts[m]++
	}
	llOnly, ok = e.llTable.fit(&llCounts, uint32(len(e.ll)))
	if !ok {
		return 0, 0, false
	}
	mlOnly, ok = e.mlTable.fit(&mlCounts, uint32(len(e.ml)))
	return llOnly, mlOnly, ok
}

// The codes of lengths (RFC 8878, section 3.1.1.3.2.1): where each starts and how many bits follow it.
var (
	llBase = [...]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 28, 32, 40,
		48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}
	llBits = [...]uint8{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3,
		4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	mlBase = [...]uint32{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
		27, 28, 29, 30, 31, 32, 33, 34, 35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051,
		4099, 8195, 16387, 32771, 65539}
	mlBits = [...]uint8{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11,
		12, 13, 14, 15, 16}
	llShort = shortCodes(llBase[:], 64)
	mlShort = shortCodes(mlBase[:], 1<<10) // nearly all; that a length is longer is not foreseeable
)

// shortCodes tabulates the codes of lengths below n.
func shortCodes(base []uint32, n uint32) []uint8 {
	codes := make([]uint8, n)
	for c, from := range base {
		for l := from; l < n; l++ {
			codes[l] = uint8(c)
		}
	}
	return codes
}

func llCodeOf(l uint32) uint8 {
	if l < uint32(len(llShort)) {
		return llShort[l]
	}
	return uint8(bits.Len32(l) - 1 + 19)
}

func mlCodeOf(l uint32) uint8 {
	if l < uint32(len(mlShort)) {
		return mlShort[l]
	}
	return uint8(bits.Len32(l-3) - 1 + 36)
}

package chunk

import (
	"encoding/binary"
	"math/bits"
)

// Finite state entropy as zstd's sequences use it (RFC 8878, section 4.1). Only what the encoder of sparse
// blocks needs stands here.

const (
	maxSymbols  = 53 // the codes of match lengths, the larger alphabet
	maxTableLog = 9
)

// A bitWriter writes bits from the least significant on. Its owner leaves 8 bytes of room behind n.
type bitWriter struct {
	out  []byte
	n    int
	acc  uint64
	held uint
}

// add appends the low k bits of v, k <= 32, after at most 24 bits since the last flush.
func (w *bitWriter) add(v uint64, k uint) {
	w.acc |= (v & (1<<(k&63) - 1)) << (w.held & 63)
	w.held += k
}

// flush moves whole bytes out.
func (w *bitWriter) flush() {
	binary.LittleEndian.PutUint64(w.out[w.n:], w.acc)
	w.n += int(w.held >> 3)
	w.acc >>= w.held & 56
	w.held &= 7
}

// end pads the last byte with zeros.
func (w *bitWriter) end() {
	w.flush()
	if w.held > 0 {
		w.n++
	}
	w.acc, w.held = 0, 0
}

// An fseTable encodes symbols of one distribution. log 0 is the table of one symbol, which takes no bits.
type fseTable struct {
	log    uint
	norm   [maxSymbols]int16
	next   [1 << maxTableLog]uint16
	deltas [maxSymbols]fseDelta
}

type fseDelta struct {
	bits uint32
	find int32
}

// fit makes the table for the given counts, which sum up to total > 0. It reports whether there is just one
// symbol, or whether the counts do not fit in a table.
func (t *fseTable) fit(counts *[maxSymbols]uint32, total uint32) (only int, ok bool) {
	used, largest := 0, 0
	for s, c := range counts {
		if c > 0 {
			used++
		}
		if c > counts[largest] {
			largest = s
		}
	}
	if used == 1 {
		t.log = 0
		return largest, true
	}
	t.log = uint(min(maxTableLog, max(6, bits.Len32(total)-2)))
	size, sum := uint32(1)<<t.log, int32(0)
	for s, c := range counts {
		n := int16(0)
		if c > 0 {
			n = int16(max(1, (uint64(c)*uint64(size)+uint64(total)/2)/uint64(total)))
		}
		t.norm[s] = n
		sum += int32(n)
	}
	rest := int32(t.norm[largest]) + int32(size) - sum // the largest takes up what rounding left
	if rest < 1 {
		return -1, false
	}
	t.norm[largest] = int16(rest)
	t.build()
	return -1, true
}

// build makes the encoding table from the normalised counts.
func (t *fseTable) build() {
	size := 1 << t.log
	var symbols [1 << maxTableLog]uint8
	var at [maxSymbols]int
	pos, sum := 0, 0
	for s, n := range t.norm {
		at[s] = sum
		for range n {
			symbols[pos] = uint8(s)
			pos = (pos + size>>1 + size>>3 + 3) & (size - 1)
		}
		switch {
		case n == 1:
			t.deltas[s] = fseDelta{uint32(t.log<<16) - uint32(size), int32(sum) - 1}
		case n > 1:
			out := t.log - uint(bits.Len16(uint16(n-1))-1)
			t.deltas[s] = fseDelta{uint32(out<<16) - uint32(n)<<out, int32(sum) - int32(n)}
		}
		sum += int(n)
	}
	for i, s := range symbols[:size] {
		t.next[at[s]] = uint16(size + i)
		at[s]++
	}
}

// start returns the state that encodes the last symbol.
func (t *fseTable) start(s uint8) uint32 {
	if t.log == 0 {
		return 0
	}
	d := t.deltas[s]
	k := (d.bits + 1<<15) >> 16
	return uint32(t.next[int32((k<<16-d.bits)>>k)+d.find])
}

// encode writes what takes the state back to the one before and returns that.
func (t *fseTable) encode(w *bitWriter, state uint32, s uint8) uint32 {
	if t.log == 0 {
		return 0
	}
	d := t.deltas[s]
	k := (state + d.bits) >> 16 & 31
	w.add(uint64(state), uint(k))
	return uint32(t.next[int32(state>>k)+d.find])
}

// describe writes the distribution (RFC 8878, section 4.1.1).
func (t *fseTable) describe(w *bitWriter) {
	w.add(uint64(t.log-5), 4)
	remaining, threshold, width := int32(1)<<t.log+1, int32(1)<<t.log, t.log+1
	for s := 0; remaining > 1; {
		n := int32(t.norm[s])
		s++
		most := 2*threshold - 1 - remaining
		remaining -= n
		v, k := n+1, width
		if v >= threshold {
			v += most
		}
		if v < most {
			k--
		}
		w.add(uint64(v), k)
		w.flush()
		for remaining < threshold {
			width--
			threshold >>= 1
		}
		if n != 0 || remaining <= 1 {
			continue
		}
		zeros := 0 // more symbols without a count, in threes
		for t.norm[s] == 0 {
			s++
			zeros++
		}
		for ; zeros >= 3; zeros -= 3 {
			w.add(3, 2)
			w.flush()
		}
		w.add(uint64(zeros), 2)
		w.flush()
	}
	w.end()
}

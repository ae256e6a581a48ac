package exec

import (
	"math/bits"
	"slices"
	"sort"
)

// A groupIDs numbers groups in the order in which they are met.
type groupIDs interface {
	// assign writes the group of each event into of: those of one bin, whose keys are keys[k][i]. It reports false,
	// and has assigned nothing, where it cannot hold a key.
	assign(bin int, keys [][]int64, of []int32) bool
	// len returns how many groups there are.
	len() int
	// key returns the bin and the keys of a group; dst has room for the keys.
	key(id int, dst []int64) (bin int)
	// sorted returns the groups in ascending order of bin and keys.
	sorted() []int32
	// reset forgets the groups.
	reset()
}

// slotIDs finds a group by address: bin and keys lie in known ranges.
type slotIDs struct {
	ranges []KeyRange
	sizes  []int64
	plane  int64   // slots of a bin
	slots  []int32 // group+1, 0 where there is none
	cells  []int32 // the slot of each group
	at     []int32 // scratch: the slot of each event
}

// newSlotIDs returns nil where the ranges make more than most slots.
func newSlotIDs(bins int, ranges []KeyRange, most int64) *slotIDs {
	s := &slotIDs{ranges: ranges, plane: 1}
	for _, r := range ranges {
		n := r.Hi - r.Lo + 1
		if n < 1 || n > most || s.plane > most/n {
			return nil
		}
		s.sizes = append(s.sizes, n)
		s.plane *= n
	}
	total := s.plane * int64(max(bins, 1))
	if total > most {
		return nil
	}
	s.slots = make([]int32, total)
	return s
}

func (s *slotIDs) assign(bin int, keys [][]int64, of []int32) bool {
	if cap(s.at) < len(of) {
		s.at = make([]int32, len(of))
	}
	at := s.at[:len(of)]
	base := int32(int64(bin) * s.plane)
	for i := range at {
		at[i] = 0
	}
	for k, values := range keys {
		lo, size := s.ranges[k].Lo, s.sizes[k]
		n := int32(size)
		values = values[:len(at)]
		stray := uint64(0)
		for i, v := range values {
			d := uint64(v - lo)
			stray |= (uint64(size) - 1 - d) >> 63 // d >= size
			stray |= d >> 63
			at[i] = at[i]*n + int32(d)
		}
		if stray != 0 {
			return false
		}
	}
	for i, cell := range at {
		cell += base
		id := s.slots[cell]
		if id == 0 {
			s.cells = append(s.cells, cell)
			id = int32(len(s.cells))
			s.slots[cell] = id
		}
		of[i] = id - 1
	}
	return true
}

func (s *slotIDs) len() int { return len(s.cells) }

func (s *slotIDs) key(id int, dst []int64) (bin int) {
	cell := int64(s.cells[id])
	bin, cell = int(cell/s.plane), cell%s.plane
	for k := len(s.sizes) - 1; k >= 0; k-- {
		dst[k] = s.ranges[k].Lo + cell%s.sizes[k]
		cell /= s.sizes[k]
	}
	return bin
}

func (s *slotIDs) sorted() []int32 {
	out := make([]int32, 0, len(s.cells))
	if len(s.cells) > len(s.slots)/16 {
		for _, id := range s.slots {
			if id != 0 {
				out = append(out, id-1)
			}
		}
		return out
	}
	for id := range s.cells {
		out = append(out, int32(id))
	}
	slices.SortFunc(out, func(a, b int32) int { return int(s.cells[a]) - int(s.cells[b]) })
	return out
}

func (s *slotIDs) reset() {
	if len(s.cells) > len(s.slots)/16 {
		clear(s.slots)
	} else {
		for _, c := range s.cells {
			s.slots[c] = 0
		}
	}
	s.cells = s.cells[:0]
}

// tableIDs finds a group by hashing its bin and keys into a table with open addresses.
type tableIDs struct {
	width int     // keys, and the bin before them
	keys  []int64 // width of them for each group
	slots []int32 // group+1, 0 where there is none; a power of two
	row   []int64 // scratch
	last  int32   // the group of the event before
}

func newTableIDs(keys int) *tableIDs {
	return &tableIDs{width: keys + 1, slots: make([]int32, 1<<10), row: make([]int64, keys+1)}
}

func (t *tableIDs) assign(bin int, keys [][]int64, of []int32) bool {
	row := t.row
	row[0] = int64(bin)
	for i := range of {
		for k := range keys {
			row[k+1] = keys[k][i]
		}
		if n := len(t.keys); n > 0 && slices.Equal(t.keys[int(t.last)*t.width:][:t.width], row) {
			of[i] = t.last // times make long runs of one key
			continue
		}
		t.last = t.find(row)
		of[i] = t.last
	}
	return true
}

// find returns the group of a row of bin and keys, a new one where there is none.
func (t *tableIDs) find(row []int64) int32 {
	mask := len(t.slots) - 1
	at := int(hashRow(row)) & mask
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		id := t.slots[at] - 1
		if slices.Equal(t.keys[int(id)*t.width:][:t.width], row) {
			return id
		}
	}
	id := int32(t.len())
	t.keys = append(t.keys, row...)
	t.slots[at] = id + 1
	if t.len() > len(t.slots)/2 {
		t.grow()
	}
	return id
}

func (t *tableIDs) grow() {
	t.slots = make([]int32, 2*len(t.slots))
	mask := len(t.slots) - 1
	for id := range t.len() {
		at := int(hashRow(t.keys[id*t.width:][:t.width])) & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = int32(id) + 1
	}
}

// hashRow mixes the values of a row; the constants are odd and have no pattern (the golden ratio's bits).
func hashRow(row []int64) uint64 {
	h := uint64(0)
	for _, v := range row {
		hi, lo := bits.Mul64(h^uint64(v)^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
		h = hi ^ lo
	}
	return h
}

func (t *tableIDs) len() int { return len(t.keys) / t.width }

func (t *tableIDs) key(id int, dst []int64) (bin int) {
	row := t.keys[id*t.width:][:t.width]
	copy(dst, row[1:])
	return int(row[0])
}

func (t *tableIDs) sorted() []int32 {
	out := make([]int32, t.len())
	for id := range out {
		out[id] = int32(id)
	}
	sort.Slice(out, func(a, b int) bool {
		return slices.Compare(t.keys[int(out[a])*t.width:][:t.width], t.keys[int(out[b])*t.width:][:t.width]) < 0
	})
	return out
}

func (t *tableIDs) reset() {
	if t.len() > 0 {
		clear(t.slots)
	}
	t.keys, t.last = t.keys[:0], 0
}

// moved returns the groups of s, under the same numbers, in a table.
func (s *slotIDs) moved() *tableIDs {
	t := newTableIDs(len(s.sizes))
	row := make([]int64, t.width)
	for id := range s.len() {
		row[0] = int64(s.key(id, row[1:]))
		t.find(row)
	}
	return t
}

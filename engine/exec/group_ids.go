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
	tally  int64   // events that are counted in slots, where no group has a number yet
	rising bool    // groups are numbered in ascending order
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
	at := s.address(bin, keys, len(of))
	if at == nil {
		return false
	}
	s.rising = false
	for i, cell := range at {
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

// address returns the slot of each of n events, or nil where a key is out of its range.
func (s *slotIDs) address(bin int, keys [][]int64, n int) []int32 {
	if cap(s.at) < n {
		s.at = make([]int32, n)
	}
	at := s.at[:n]
	base := int32(int64(bin) * s.plane)
	if len(keys) == 0 {
		for i := range at {
			at[i] = base
		}
	}
	for k, values := range keys {
		lo, size := s.ranges[k].Lo, s.sizes[k]
		n := int32(size)
		values = values[:len(at)]
		stray := uint64(0)
		if k == 0 {
			for i, v := range values {
				d := uint64(v - lo)
				stray |= uint64(size) - 1 - d | d // d >= size
				at[i] = int32(d)
			}
		} else {
			for i, v := range values {
				d := uint64(v - lo)
				stray |= uint64(size) - 1 - d | d
				at[i] = at[i]*n + int32(d)
			}
		}
		if stray>>63 != 0 {
			return nil
		}
	}
	if base != 0 && len(keys) > 0 {
		for i := range at {
			at[i] += base
		}
	}
	return at
}

// mostTally bounds the events that are counted in slots.
const mostTally = 1<<31 - 1

// count counts events in their slots, before any group has a number. It reports false, and has counted nothing, where
// that is no longer possible: settle numbers the groups then.
func (s *slotIDs) count(bin int, keys [][]int64, n int) bool {
	if s.tally > mostTally-int64(n) {
		return false
	}
	at := s.address(bin, keys, n)
	if at == nil {
		return false
	}
	for i := 0; i < len(at); {
		cell, run := at[i], i
		for i++; i < len(at) && at[i] == cell; i++ { // times make long runs of one key
		}
		s.slots[cell] += int32(i - run)
	}
	s.tally += int64(n)
	return true
}

// settle numbers the groups of what was counted in slots, and returns the events of each.
func (s *slotIDs) settle() []int64 {
	if s.tally == 0 {
		return nil
	}
	var events []int64
	for cell, n := range s.slots {
		if n != 0 {
			s.cells = append(s.cells, int32(cell))
			events = append(events, int64(n))
			s.slots[cell] = int32(len(s.cells))
		}
	}
	s.tally, s.rising = 0, true
	return events
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
	if s.rising {
		for id := range s.cells {
			out = append(out, int32(id))
		}
		return out
	}
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
	s.cells, s.rising = s.cells[:0], false
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

package exprs

import (
	"math"
	"slices"
	"strconv"

	"github.com/evq-project/evq/io/event"
)

// In holds where the value is one of the numbers.
func (v Value) In(numbers ...int64) Expr {
	n := slices.Clone(numbers)
	slices.Sort(n)
	switch n = slices.Compact(n); len(n) {
	case 0:
		return False
	case 1:
		return v.Eq(n[0])
	}
	e := &list{v: v, numbers: n}
	if span := uint64(n[len(n)-1]) - uint64(n[0]); span < maxListBits {
		e.bits = make([]uint64, span/64+1)
		for _, m := range n {
			at := uint64(m) - uint64(n[0])
			e.bits[at/64] |= 1 << (at % 64)
		}
	}
	return e
}

// maxListBits bounds the numbers that a list has bits for; one that spans more is searched.
const maxListBits = math.MaxUint16 + 1

// list holds where a value is one of two or more numbers.
type list struct {
	v       Value
	numbers []int64  // ascending
	bits    []uint64 // from the first number on; nil where they span too much
}

func (e *list) Columns() event.Columns          { return e.v.Columns() }
func (e *list) Box() event.Box                  { return e.box(event.Everything) }
func (e *list) Mask(b event.Batch, keep []bool) { maskBlocks(e, b, keep) }
func (e *list) String() string                  { return e.text("") }

func (e *list) box(within event.Box) event.Box {
	return e.v.narrow(Interval{e.numbers[0], e.numbers[len(e.numbers)-1]}, within)
}

// text prints the predicate, or its opposite where not is "not ".
func (e *list) text(not string) string {
	to := append(e.v.append(nil), " "+not+"in ("...)
	for i, n := range e.numbers {
		if i > 0 {
			to = append(to, ", "...)
		}
		to = strconv.AppendInt(to, n, 10)
	}
	return string(append(to, ')'))
}

func (e *list) mask(b event.Batch, keep []bool, s *scratch) {
	v := s.ints.take(len(keep))
	e.v.eval(b, v, s)
	if e.bits == nil {
		for i, n := range v {
			if keep[i] {
				_, keep[i] = slices.BinarySearch(e.numbers, n)
			}
		}
	} else {
		first := uint64(e.numbers[0])
		for i, n := range v {
			at := uint64(n) - first
			word := min(at/64, uint64(len(e.bits)-1)) // the far ones look at the last word and are out by its index
			in := bit(e.bits[word]>>(at%64)&1 != 0) & bit(word == at/64)
			keep[i] = in&bit(keep[i]) != 0
		}
	}
	s.ints.give(1)
}

package exprs

import (
	"slices"

	"github.com/evq-project/evq/io/event"
)

// A Projection makes a new event of each event that it keeps: the columns of the new event in terms of the old one's,
// and the size of the sensor they lie on. T must not fall where t rises, so that batches stay in time order.
type Projection struct {
	Keep       Expr // which events there are new ones of, of the old columns; nil keeps all
	T, X, Y, P Value
	Geometry   event.Geometry // zero where it is not known
}

// Columns returns the new columns, to substitute them in what is said of the new event.
func (p Projection) Columns() Columns { return Columns{p.T, p.X, p.Y, p.P} }

// Reads returns the old columns beside t that the given new ones need; 0 where there is none, as elsewhere. Computed
// coordinates are among them whether they are asked for or not: they decide which events there are.
func (p Projection) Reads(of event.Columns) event.Columns {
	c := p.T.Columns()
	if p.Keep != nil {
		c |= p.Keep.Columns()
	}
	for _, v := range []struct {
		Value
		as event.Columns
	}{{p.X, event.ColX}, {p.Y, event.ColY}, {p.P, event.ColP}} {
		if _, plain := v.column(); !plain || of.Has(v.as) {
			c |= v.Columns()
		}
	}
	return c
}

// Apply computes the new events of a batch into dst, whose events are replaced. It returns how many were dropped
// because they cannot be: those that Keep keeps and whose computed coordinates leave the new geometry or 0 to 65535,
// or whose polarity is neither 0 nor 1. A coordinate that is a plain column of the old event is not held to the
// geometry, so that what lay off the sensor before stays off it. A column whose operands b lacks is missing in dst.
func (p Projection) Apply(b event.Batch, dst *event.Buffer) (dropped int) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	n := b.Len()
	dst.T = room(dst.T, n, true)
	dst.X = room(dst.X, n, readable(p.X, b))
	dst.Y = room(dst.Y, n, readable(p.Y, b))
	dst.P = room(dst.P, n, readable(p.P, b))
	at := 0
	for i := 0; i < n; i += blockLen {
		kept, lost := p.block(b.Slice(i, min(i+blockLen, n)), dst, at, s)
		at += kept
		dropped += lost
	}
	dst.T, dst.X, dst.Y, dst.P = cut(dst.T, at), cut(dst.X, at), cut(dst.Y, at), cut(dst.P, at)
	return dropped
}

// room returns a column for n events, an empty one where it is not wanted.
func room[N any](v []N, n int, wanted bool) []N {
	if !wanted {
		return v[:0]
	}
	return slices.Grow(v[:0], n)[:n]
}

func cut[N any](v []N, n int) []N { return v[:min(n, len(v))] }

// readable reports whether a batch has the columns that a value reads.
func readable(v Value, b event.Batch) bool {
	c := v.Columns()
	return (c&event.ColX == 0 || has(b, colX)) && (c&event.ColY == 0 || has(b, colY)) && (c&event.ColP == 0 || has(b, colP))
}

// block writes the new events of a block from position at on.
func (p Projection) block(b event.Batch, dst *event.Buffer, at int, s *scratch) (kept, lost int) {
	keep := s.bools.take(b.Len())
	defer s.bools.give(1)
	fillTrue(keep)
	wanted := b.Len()
	if p.Keep != nil && p.Keep != True {
		p.Keep.mask(b, keep, s)
		wanted = count(keep)
	}
	width, height := int64(1<<16), int64(1<<16)
	if p.Geometry.Known() {
		width, height = int64(p.Geometry.Width), int64(p.Geometry.Height)
	}
	x, y, t, pol := s.compute(p.X, b, len(dst.X) > 0), s.compute(p.Y, b, len(dst.Y) > 0), s.compute(p.T, b, true), s.compute(p.P, b, len(dst.P) > 0)
	under(x, min(width, 1<<16), keep)
	under(y, min(height, 1<<16), keep)
	under(pol, 2, keep)
	kept = wanted
	if x != nil || y != nil || pol != nil {
		kept = count(keep)
	}
	put(dst.T, at, p.T, t, b, keep, kept)
	put(dst.X, at, p.X, x, b, keep, kept)
	put(dst.Y, at, p.Y, y, b, keep, kept)
	put(dst.P, at, p.P, pol, b, keep, kept)
	for _, v := range [][]int64{x, y, t, pol} {
		if v != nil {
			s.ints.give(1)
		}
	}
	return kept, wanted - kept
}

// compute evaluates a value that is not simply a column; of one that is, it returns nil.
func (s *scratch) compute(v Value, b event.Batch, wanted bool) []int64 {
	if _, ok := v.column(); ok || !wanted {
		return nil
	}
	block := s.ints.take(b.Len())
	v.eval(b, block, s)
	return block
}

// under clears keep where a computed value does not lie in 0 to limit-1.
func under(v []int64, limit int64, keep []bool) {
	for i, n := range v {
		keep[i] = bit(uint64(n) < uint64(limit))&bit(keep[i]) != 0
	}
}

// put writes the kept values of a column, computed or taken over from the old event.
func put[N int64 | uint16 | int8](dst []N, at int, v Value, computed []int64, b event.Batch, keep []bool, kept int) {
	if len(dst) == 0 {
		return
	}
	dst = dst[at:]
	c, plain := v.column()
	switch {
	case !plain:
		pack(dst, computed, keep, kept)
	case c == colT:
		pack(dst, b.T(), keep, kept)
	case c == colX:
		pack(dst, b.X(), keep, kept)
	case c == colY:
		pack(dst, b.Y(), keep, kept)
	case c == colP:
		pack(dst, b.P(), keep, kept)
	}
}

// pack writes the kept values next to one another. Those that are not kept are written as well, and over.
func pack[N, M int64 | uint16 | int8](dst []N, src []M, keep []bool, kept int) {
	if kept == len(keep) {
		if same, ok := any(dst).([]M); ok {
			copy(same, src)
			return
		}
		dst = dst[:len(src)]
		for i, n := range src {
			dst[i] = N(n)
		}
		return
	}
	at := 0
	for i, k := range keep {
		dst[at] = N(src[i])
		at += int(bit(k))
	}
}

func fillTrue(v []bool) {
	for i := range v {
		v[i] = true
	}
}

func count(keep []bool) int {
	n := 0
	for _, k := range keep {
		n += int(bit(k))
	}
	return n
}

package order

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/evq-project/evq/io/event"
)

// A block is a run of events that is sorted as a whole. It sorts keys, not events: a key is the time since the
// earliest event with the event's index below it, so that keys differ and equal times keep their order.
type block struct {
	events event.Buffer
	origin int64 // the earliest time
	index  int   // the low bits of a key that hold the event's index
	keys   []uint64
	spare  []uint64
	order  ordering
}

// An ordering says how the order of a block is held.
type ordering uint8

const (
	asAdded ordering = iota // the events are in order
	byKey                   // keys hold time and index
	byIndex                 // keys hold the index only: times too far apart for both
)

func (b *block) len() int { return b.events.Len() }

func (b *block) reset() {
	e := &b.events
	e.T, e.X, e.Y, e.P = e.T[:0], e.X[:0], e.Y[:0], e.P[:0]
}

// reserve makes room for n events.
func (b *block) reserve(n int) {
	e := &b.events
	e.T, e.X, e.Y, e.P = slices.Grow(e.T, n), slices.Grow(e.X, n), slices.Grow(e.Y, n), slices.Grow(e.P, n)
}

// add copies events [lo, hi) of a buffer. Columns that the buffers lack stay empty.
func (b *block) add(from *event.Buffer, lo, hi int) {
	e, n := &b.events, from.Len()
	e.T = append(e.T, from.T[lo:hi]...)
	if len(from.X) == n {
		e.X = append(e.X, from.X[lo:hi]...)
	}
	if len(from.Y) == n {
		e.Y = append(e.Y, from.Y[lo:hi]...)
	}
	if len(from.P) == n {
		e.P = append(e.P, from.P[lo:hi]...)
	}
}

// sort finds the order of the events by time; those of one time stay as they were added.
func (b *block) sort() {
	t := b.events.T
	b.order = asAdded
	if len(t) == 0 || ascends(t[0], t) {
		return
	}
	b.origin = slices.Min(t)
	span := bits.Len64(uint64(slices.Max(t)) - uint64(b.origin))
	b.index = bits.Len(uint(len(t) - 1))
	b.keys = slices.Grow(b.keys[:0], len(t))[:len(t)]
	if span+b.index > 64 {
		b.order = byIndex
		for i := range b.keys {
			b.keys[i] = uint64(i)
		}
		slices.SortFunc(b.keys, func(i, j uint64) int { return cmp.Or(cmp.Compare(t[i], t[j]), cmp.Compare(i, j)) })
		return
	}
	b.order = byKey
	for i, v := range t {
		b.keys[i] = (uint64(v)-uint64(b.origin))<<b.index | uint64(i)
	}
	if len(t) < smallBlock {
		slices.Sort(b.keys)
		return
	}
	b.spare = slices.Grow(b.spare[:0], len(t))[:len(t)]
	b.keys, b.spare = radixSort(b.keys, b.spare, b.index, span)
}

// smallBlock is the number of events from which radix sorting pays.
const smallBlock = 1024

// radixSort sorts keys by span bits from bit low on, least digit first, and returns the sorted slice and the
// other one. Keys that are equal there keep their order, which is that of their low bits.
func radixSort(keys, spare []uint64, low, span int) (sorted, other []uint64) {
	const digit = 11
	for shift := low; shift < low+span; shift += digit {
		var next [1 << digit]int
		for _, k := range keys {
			next[k>>shift&(1<<digit-1)]++
		}
		if next[keys[0]>>shift&(1<<digit-1)] == len(keys) {
			continue
		}
		sum := 0
		for i, n := range next {
			next[i] = sum
			sum += n
		}
		for _, k := range keys {
			d := k >> shift & (1<<digit - 1)
			spare[next[d]] = k
			next[d]++
		}
		keys, spare = spare, keys
	}
	return keys, spare
}

// gather overwrites a buffer with events [lo, hi) of the sorted block.
func (b *block) gather(into *event.Buffer, lo, hi int) {
	e, n := &b.events, b.len()
	into.Resize(hi - lo)
	if b.order == asAdded {
		copy(into.T, e.T[lo:hi])
		into.X, into.Y, into.P = copied(into.X, e.X, lo, hi), copied(into.Y, e.Y, lo, hi), copied(into.P, e.P, lo, hi)
		return
	}
	keys, mask := b.keys[lo:hi], uint64(1)<<b.index-1
	if b.order == byKey {
		for i, k := range keys {
			into.T[i] = int64(k>>b.index) + b.origin
		}
	} else {
		for i, k := range keys {
			into.T[i] = e.T[k]
		}
	}
	into.X, into.Y, into.P = picked(into.X, e.X, keys, mask, n), picked(into.Y, e.Y, keys, mask, n), picked(into.P, e.P, keys, mask, n)
}

// copied fills a column with values [lo, hi) of another; a column that is missing stays empty.
func copied[V any](into, from []V, lo, hi int) []V {
	if len(from) == 0 {
		return into[:0]
	}
	copy(into, from[lo:hi])
	return into
}

// picked fills a column with the values that keys point at, in a block of n events.
func picked[V any](into, from []V, keys []uint64, mask uint64, n int) []V {
	if len(from) != n {
		return into[:0]
	}
	for i, k := range keys {
		into[i] = from[k&mask]
	}
	return into
}

// shrink cuts a buffer, whose columns beside t may be missing, to n events.
func shrink(b *event.Buffer, n int) {
	b.T = b.T[:n]
	b.X, b.Y, b.P = b.X[:min(n, len(b.X))], b.Y[:min(n, len(b.Y))], b.P[:min(n, len(b.P))]
}

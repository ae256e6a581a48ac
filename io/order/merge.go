package order

import (
	"context"
	"math"
	"slices"

	"github.com/evq-project/evq/io/event"
)

// A merge yields the events of a spill's runs in time order; of one time, those of earlier runs first.
//
// It holds a piece of each run and moves forward in strides: every event up to the earliest last time of the
// pieces is in memory, so those are sorted as one block. That needs no comparison per event and run.
type merge struct {
	spill *spill
	heads []head
	block *block
	at    int // the first event of the block that is still to be yielded
	size  int
	pool  *event.Pool
}

// A head is the piece of a run that is in memory, from lo on, and what of the run is not.
type head struct {
	rest run
	buf  *event.Buffer
	lo   int
}

// newMerge readies a merge that holds about limit events and yields size at a time.
func newMerge(s *spill, b *block, limit, size int, pool *event.Pool) *merge {
	b.reset()
	m := &merge{spill: s, block: b, size: size, pool: pool}
	piece := max(limit/max(len(s.runs), 1), fewest/4)
	for _, r := range s.runs {
		m.heads = append(m.heads, head{rest: r, buf: event.NewBuffer(int(min(int64(piece), r.n)))})
	}
	return m
}

// next returns the next events, or no buffer after the last.
func (m *merge) next(ctx context.Context) (*event.Buffer, error) {
	if m.at == m.block.len() {
		if err := m.stride(ctx); err != nil || m.block.len() == 0 {
			return nil, err
		}
	}
	b := m.pool.Get()
	hi := min(m.at+m.size, m.block.len())
	m.block.gather(b, m.at, hi)
	m.at = hi
	return b, nil
}

// stride fills the block with all events up to the earliest time at which a piece ends before its run does.
func (m *merge) stride(ctx context.Context) error {
	m.at = 0
	m.block.reset()
	end, by := int64(math.MaxInt64), len(m.heads)
	for i := range m.heads {
		h := &m.heads[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.load(h); err != nil {
			return err
		}
		if h.rest.n > 0 && (by == len(m.heads) || h.buf.T[h.buf.Len()-1] < end) {
			end, by = h.buf.T[h.buf.Len()-1], i
		}
	}
	for i := range m.heads {
		h := &m.heads[i]
		hi := h.buf.Len()
		switch {
		case i <= by && by < len(m.heads):
			hi = after(h.buf.T, end)
		case i > by: // its events at the end's time come after those that run by may still have
			hi = notBefore(h.buf.T, end)
		}
		if hi > h.lo {
			m.block.add(h.buf, h.lo, hi)
			h.lo = hi
		}
	}
	m.block.sort()
	return nil
}

// load reads the next piece of a run whose last piece is used up.
func (m *merge) load(h *head) error {
	if h.lo < h.buf.Len() || h.rest.n == 0 {
		return nil
	}
	h.lo = 0
	return m.spill.read(&h.rest, h.buf)
}

// notBefore returns the index of the first time at or after t in a sorted column.
func notBefore(times []int64, t int64) int {
	i, _ := slices.BinarySearch(times, t)
	return i
}

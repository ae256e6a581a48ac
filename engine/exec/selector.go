package exec

import (
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

// A selector copies the events of a batch that are kept. It serves one goroutine.
type selector struct {
	yes, keep []bool // one for each event of a batch; yes is all true
	kept      []int32
	pool      *event.Pool
}

// choose returns a copy of the events of b that satisfy pred, which the caller releases. The caller keeps b.
func (s *selector) choose(pred exprs.Expr, b event.Batch) event.Batch {
	return s.compact(b, s.indices(s.mask(pred, b)))
}

// all returns n times true, to be cleared for the events that are left out.
func (s *selector) all(n int) []bool {
	if len(s.yes) < n {
		s.yes, s.keep, s.kept = make([]bool, n), make([]bool, n), make([]int32, n)
		for i := range s.yes {
			s.yes[i] = true
		}
	}
	keep := s.keep[:n]
	copy(keep, s.yes)
	return keep
}

func (s *selector) mask(pred exprs.Expr, b event.Batch) []bool {
	keep := s.all(b.Len())
	pred.Mask(b, keep)
	return keep
}

// indices returns where keep is true. No branch depends on the data.
func (s *selector) indices(keep []bool) []int32 {
	kept := s.kept[:len(keep)]
	at := 0
	for i, k := range keep {
		kept[at] = int32(i)
		step := 0
		if k {
			step = 1
		}
		at += step
	}
	return kept[:at]
}

// compact copies the kept events of b.
func (s *selector) compact(b event.Batch, kept []int32) event.Batch {
	if s.pool == nil {
		s.pool = event.NewPool(b.Len())
	}
	out := s.pool.Get()
	out.T = gather(out.T, b.T(), kept)
	out.X = gather(out.X, b.X(), kept)
	out.Y = gather(out.Y, b.Y(), kept)
	out.P = gather(out.P, b.P(), kept)
	return out.Batch()
}

// gather writes the kept values of v into dst. A column that is not there stays away.
func gather[N any](dst, v []N, kept []int32) []N {
	if len(v) == 0 {
		return dst[:0]
	}
	if cap(dst) < len(kept) {
		dst = make([]N, len(kept))
	}
	dst = dst[:len(kept)]
	for j, i := range kept {
		dst[j] = v[i]
	}
	return dst
}

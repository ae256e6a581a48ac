package order

import (
	"context"
	"slices"

	"github.com/evq-project/evq/io/event"
)

// external sorts what is held and all that follows into runs on disk, to be merged.
func (s *sorter) external(ctx context.Context) error {
	var err error
	if s.spill, err = newSpill(s.o.TempDir); err != nil {
		return err
	}
	s.block.reset()
	s.block.reserve(s.limit)
	for _, b := range slices.Concat(s.queue, s.late.buffers) {
		if err := s.keep(b); err != nil {
			return err
		}
		s.discard(b)
	}
	s.queue, s.late = nil, lateness{}
	for s.end == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, _, err := s.read(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		err = s.keep(b)
		b.Release()
		if err != nil {
			return err
		}
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.merge = newMerge(s.spill, &s.block, s.limit, s.size, s.pool)
	return nil
}

// keep adds a buffer to the block and spills the block when it is full.
func (s *sorter) keep(b *event.Buffer) error {
	for lo := 0; lo < b.Len(); {
		hi := min(b.Len(), lo+s.limit-s.block.len())
		s.block.add(b, lo, hi)
		lo = hi
		if s.block.len() == s.limit {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush spills the block as a sorted run.
func (s *sorter) flush() error {
	if s.block.len() == 0 {
		return nil
	}
	s.block.sort()
	buf := s.pool.Get()
	defer buf.Release()
	err := s.spill.write(&s.block, buf, s.size)
	s.block.reset()
	return err
}

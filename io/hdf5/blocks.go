//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"errors"
	"fmt"

	"github.com/evq-project/evq/io/hdf5/chunk"
	"github.com/evq-project/evq/io/tensor"
	"gonum.org/v1/hdf5"
)

// extendBy is how many rows a dataset grows at a time; Close gives back what is too much.
const extendBy = 256

// elementKinds are the types of createDataset.
var elementKinds = map[tensor.DType]int{
	tensor.Uint8: 1, tensor.Int8: -1, tensor.Uint32: 4, tensor.Int32: -4, tensor.Int64: -8, tensor.Float32: 104,
}

// A blockSink writes blocks, each as one chunk of the dataset of its layout.
type blockSink struct {
	layouts []tensor.Layout
	order   *tensor.Windows
	target  *target // its first sets are the layouts'
	packer  *packer
	extent  int64 // rows of these sets
	windows windowTable
	sums    *blockSums // nil where nobody asks for them
	closed  bool
}

func (o output) open(layouts []tensor.Layout) (tensor.Sink, error) {
	p, err := parsePacking(o.compression)
	if err != nil {
		return nil, err
	}
	order, err := tensor.NewWindows(layouts)
	if err != nil {
		return nil, fmt.Errorf("hdf5: %s: %w", o.path, err)
	}
	const most = 1<<32 - 1<<20 // bytes of a chunk, by the format, with room for what does not compress
	for _, l := range layouts {
		if n, _ := l.Size(); n >= most {
			return nil, fmt.Errorf("hdf5: %s: blocks of %d bytes make no chunk (up to 4 GiB); choose another shape", o.path, n)
		}
	}
	s := &blockSink{layouts: layouts, order: order}
	if o.sums != nil {
		if len(layouts) != 1 {
			return nil, fmt.Errorf("hdf5: %s: checksums of blocks are for one layout, not %d", o.path, len(layouts))
		}
		s.sums = &blockSums{to: o.sums, size: layouts[0].Bytes()}
	}
	s.target, err = createTarget(o.path, o.force, func(h *hdf5.File) ([]int64, error) { return s.create(h, p) })
	if err != nil {
		return nil, err
	}
	s.packer = newPacker(s.target, threadsOr(o.threads), false, func(part int) *chunk.Encoder {
		l := layouts[part]
		e := p.encoder(l.DType.Size(), l.Bytes(), newCZstd())
		e.Sums = s.sums != nil
		return e
	})
	if s.sums != nil {
		s.packer.written = s.sums.put
	}
	return s, nil
}

// create makes the datasets and returns their numbers. Call it inside the library.
func (s *blockSink) create(h *hdf5.File, p packing) (sets []int64, err error) {
	for i, name := range tensor.Names(s.layouts) {
		l := s.layouts[i]
		id, err := createDataset(h.ID(), name, elementKinds[l.DType], append([]int{1}, l.Shape...),
			p.filters(l.DType.Size(), l.Bytes()))
		if err != nil {
			return sets, err
		}
		sets = append(sets, id)
	}
	more, err := s.windows.create(h)
	return append(sets, more...), err
}

// Write queues one block.
func (s *blockSink) Write(ctx context.Context, b tensor.Block) error {
	row := int64(s.order.Len())
	if err := s.admit(b, row); err != nil {
		b.Release()
		return err
	}
	if b.Zero { // a chunk that isn't written reads as zeros
		b.Release()
		if s.sums != nil {
			s.sums.put(row, s.sums.ofZeros())
		}
		return ctx.Err()
	}
	return s.packer.add(ctx, b.Part, row, b.Data, b.Release)
}

// admit checks a block and makes room for its row. Where there is no room, the file can't be completed.
func (s *blockSink) admit(b tensor.Block, row int64) error {
	if s.closed {
		return errors.New("hdf5: the file is closed")
	}
	if err := s.order.Add(b); err != nil {
		return fmt.Errorf("hdf5: %s: %w", s.target.path, err)
	}
	if b.Part > 0 {
		return nil
	}
	if row == s.extent {
		s.extent += max(extendBy, s.extent/8)
		if err := s.resize(s.extent); err != nil {
			s.packer.err = err
			return err
		}
	}
	if err := s.windows.add(b); err != nil {
		s.packer.err = s.target.wrap(err)
		return s.packer.err
	}
	return nil
}

// whole returns an error where the last window lacks a block.
func (s *blockSink) whole() error {
	if err := s.order.Whole(); err != nil {
		return s.target.wrap(err)
	}
	return nil
}

// resize sets the rows of the datasets of blocks.
func (s *blockSink) resize(rows int64) error {
	err := locked(func() error {
		for _, id := range s.target.sets[:len(s.layouts)] {
			if err := extend(id, rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s.target.wrap(err)
	}
	return nil
}

// Close writes what is queued and the windows, and gives the file its name. After a failed Write, and where the last
// window lacks a block, it drops the file.
func (s *blockSink) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.packer.stop()
	if err == nil {
		err = s.whole()
	}
	if err == nil {
		err = s.resize(int64(s.order.Len()))
	}
	if err != nil {
		s.target.abort()
		return err
	}
	return s.target.finish(func(*hdf5.File) error { return s.windows.flush() })
}

// Abort drops the file.
func (s *blockSink) Abort() error {
	if s.closed {
		return nil
	}
	s.closed = true
	_ = s.packer.stop()
	s.target.abort()
	return nil
}

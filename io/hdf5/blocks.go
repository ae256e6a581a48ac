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
	s.target, err = createTarget(o.path, o.force, func(h *hdf5.File) ([]int64, error) { return s.create(h, p) })
	if err != nil {
		return nil, err
	}
	s.packer = newPacker(s.target, threadsOr(o.threads), false, func(part int) *chunk.Encoder {
		l := layouts[part]
		return p.encoder(l.DType.Size(), l.Bytes(), newCZstd())
	})
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
	if err := s.admit(b); err != nil {
		b.Release()
		return err
	}
	row := int64(b.row(s))
	return s.packer.add(ctx, b.Part, row, b.Data, b.Release)
}

// Close writes what is queued and the windows, and gives the file its name.
func (s *blockSink) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.packer.stop()
	if err == nil {
		err = s.resize(s.n)
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

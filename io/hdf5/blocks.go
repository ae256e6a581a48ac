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

// A blockSink writes blocks of one layout, each as one chunk.
type blockSink struct {
	layout    tensor.Layout
	target    *target
	packer    *packer
	n, extent int64
	windows   windowTable
	closed    bool
}

func (o output) open(l tensor.Layout) (tensor.Sink, error) {
	p, err := parsePacking(o.compression)
	if err != nil {
		return nil, err
	}
	const most = 1<<32 - 1 // bytes of a chunk, by the format
	if l.Bytes() <= 0 || int64(l.Bytes()) > most-1<<20 {
		return nil, fmt.Errorf("hdf5: %s: blocks of %d bytes make no chunk (1 to 4 GiB); choose another shape", o.path, l.Bytes())
	}
	s := &blockSink{layout: l}
	s.target, err = createTarget(o.path, o.force, func(h *hdf5.File) ([]int64, error) {
		id, err := createDataset(h.ID(), "data", elementKinds[l.DType], append([]int{1}, l.Shape...),
			p.filters(l.DType.Size(), l.Bytes()))
		if err != nil {
			return nil, err
		}
		more, err := s.windows.create(h)
		return append([]int64{id}, more...), err
	})
	if err != nil {
		return nil, err
	}
	s.packer = newPacker(s.target, threadsOr(o.threads), false, func(int) *chunk.Encoder {
		return p.encoder(l.DType.Size(), l.Bytes(), newCZstd())
	})
	return s, nil
}

// Write queues one block.
func (s *blockSink) Write(ctx context.Context, b tensor.Block) error {
	if s.closed {
		b.Release()
		return errors.New("hdf5: the file is closed")
	}
	if len(b.Data) != s.layout.Bytes() || b.DType != s.layout.DType {
		b.Release()
		return fmt.Errorf("hdf5: %s: a block of %d bytes of %s; the layout says %d of %s",
			s.target.path, len(b.Data), b.DType, s.layout.Bytes(), s.layout.DType)
	}
	if s.n == s.extent {
		s.extent += max(extendBy, s.extent/8)
		if err := s.resize(s.extent); err != nil {
			b.Release()
			s.packer.err = err
			return err
		}
	}
	if err := s.windows.add(b); err != nil {
		b.Release()
		s.packer.err = s.target.wrap(err)
		return s.packer.err
	}
	row := s.n
	s.n++
	return s.packer.add(ctx, 0, row, b.Data, b.Release)
}

func (s *blockSink) resize(rows int64) error {
	if err := locked(func() error { return extend(s.target.sets[0], rows) }); err != nil {
		return s.target.wrap(err)
	}
	return nil
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

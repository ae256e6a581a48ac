package hdf5

import (
	"fmt"

	"github.com/evq-project/evq/io/tensor"
)

// largestBlock bounds the bytes of a block, or of one of its chunks, that is read back.
const largestBlock = 1 << 30

// Blocks is a dataset of blocks, opened for reading: of shape (N, block...), as Create writes it, or as RVT
// does. It is safe for concurrent use: the file is read by one goroutine at a time, chunks are decoded by all.
type Blocks struct {
	path, name string
	layout     tensor.Layout
	n          int64
	file       blockFile
}

// OpenBlocks opens a dataset of blocks, such as data. Elements of type uint8, int8, uint32, int32, int64 and
// float32 are read, in chunks of any shape under any filter that Compressions names, or in none.
func OpenBlocks(path, dataset string) (*Blocks, error) {
	b := &Blocks{path: path, name: dataset}
	if err := b.open(); err != nil {
		return nil, b.wrap(err)
	}
	return b, nil
}

// String names the dataset in messages.
func (b *Blocks) String() string { return b.path + ": " + b.name }

// Layout is the shape and type of one block; its Name is the dataset's.
func (b *Blocks) Layout() tensor.Layout { return b.layout }

// Len is the number of blocks.
func (b *Blocks) Len() int { return int(b.n) }

// Read fills dst, which holds Layout().Bytes() bytes, with the elements of block i in C order. Chunks that
// were never written have the dataset's fill value, which is 0 unless its writer chose another.
func (b *Blocks) Read(i int, dst []byte) error {
	if i < 0 || int64(i) >= b.n {
		return b.wrap(fmt.Errorf("block %d of %d", i, b.n))
	}
	if len(dst) != b.layout.Bytes() {
		return b.wrap(fmt.Errorf("block %d has %d bytes, not %d", i, b.layout.Bytes(), len(dst)))
	}
	if err := b.file.read(i, dst); err != nil {
		return b.wrap(fmt.Errorf("block %d: %w", i, err))
	}
	return nil
}

// Close closes the file; no Read may be under way.
func (b *Blocks) Close() error { return b.file.close() }

func (b *Blocks) wrap(err error) error {
	return fmt.Errorf("hdf5: %s: dataset %s: %w", b.path, b.name, err)
}

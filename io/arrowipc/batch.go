package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/evq-project/evq/io/flatbuffer"
	"github.com/evq-project/evq/io/format"
)

// The codecs of a compressed batch (Message.fbs, CompressionType); plain is none.
const (
	plain     = -1
	codecLZ4  = 0
	codecZstd = 1
)

// mostUnpacked is more than a codec makes of one byte: 128 KiB of a Zstandard block of four bytes.
const mostUnpacked = 40_000

// A batch is a record batch on its way: a reader for the values of each column.
type batch struct {
	rows    int64
	readers [numColumns]io.Reader
	close   []func()
}

// errBatch reports a batch whose parts contradict each other.
var errBatch = errors.New("the batch contradicts itself; the file is damaged")

// openBatch readies the columns of a batch.
func openBatch(f format.File, s *schema, m message) (*batch, error) {
	rows, err := m.header.Number(0, 8, 0)
	if err != nil {
		return nil, err
	}
	nodes, _, err := m.header.Vector(1, 16)
	if err != nil {
		return nil, err
	}
	buffers, _, err := m.header.Vector(2, 16)
	if err != nil {
		return nil, err
	}
	codec, err := codecOf(m.header)
	if err != nil {
		return nil, err
	}
	if rows < 0 || rows > 1<<48 {
		return nil, errBatch
	}
	b := &batch{rows: rows}
	for k, c := range s.columns {
		if err := b.column(f, m, k, c, nodes, buffers, codec); err != nil {
			b.Close()
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	return b, nil
}

func codecOf(header flatbuffer.Table) (int64, error) {
	c, err := header.Child(3)
	if err != nil || !c.Exists() {
		return plain, err
	}
	codec, err := c.Number(0, 1, codecLZ4)
	if err == nil && codec != codecLZ4 && codec != codecZstd {
		err = fmt.Errorf("it is compressed by the codec %d, which is not known; LZ4 and Zstandard are", codec)
	}
	return codec, err
}

// column opens the values of one column.
func (b *batch) column(f format.File, m message, k int, c column, nodes, buffers []byte, codec int64) error {
	if 16*c.node+16 > len(nodes) || 16*c.buffer+32 > len(buffers) {
		return errBatch
	}
	node := nodes[16*c.node:]
	if int64(binary.LittleEndian.Uint64(node)) != b.rows {
		return errBatch
	}
	if nulls := binary.LittleEndian.Uint64(node[8:]); nulls != 0 {
		return fmt.Errorf("%d of its rows have no value; fill or drop such rows", nulls)
	}
	values := buffers[16*c.buffer+16:]
	at, size := int64(binary.LittleEndian.Uint64(values)), int64(binary.LittleEndian.Uint64(values[8:]))
	if at < 0 || size < 0 || at > m.size || size > m.size-at {
		return errBatch
	}
	need := (b.rows*c.bits + 7) / 8
	r := io.NewSectionReader(f, m.body+at, size)
	if codec != plain && need > 0 {
		var prefix [8]byte
		if _, err := io.ReadFull(r, prefix[:]); err != nil {
			return errBatch
		}
		if raw := int64(binary.LittleEndian.Uint64(prefix[:])); raw != -1 {
			if raw < need || need/mostUnpacked > size {
				return errBatch
			}
			var err error
			b.readers[k], err = b.unpack(r, codec)
			return err
		}
		size -= 8
	}
	if size < need {
		return errBatch
	}
	b.readers[k] = r
	return nil
}

// unpack decompresses as it is read.
func (b *batch) unpack(r io.Reader, codec int64) (io.Reader, error) {
	if codec == codecLZ4 {
		z := lz4.NewReader(r)
		return z, z.Apply(lz4.ConcurrencyOption(1))
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	b.close = append(b.close, z.Close)
	return z, nil
}

// Close ends decompression.
func (b *batch) Close() {
	for _, done := range b.close {
		done()
	}
	b.close = nil
}

package npy

import (
	"bufio"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/tensor"
)

// archive is the body of a .npz. The entry data comes first and is streamed: its header lies in the deflated
// stream as a stored block, so that the number of blocks can be set in place at the end.
type archive struct {
	file   *atomicfile.File
	layout tensor.Layout
	data   zipEntry
	buffer *bufio.Writer
	pack   io.WriteCloser // into buffer
	crc    uint32         // of the blocks
	bytes  int64          // of the blocks

	starts, ends, events []int64
}

func openArchive(f *atomicfile.File, l tensor.Layout, level int) (body, error) {
	a := &archive{file: f, layout: l, data: zipEntry{name: "data.npy"}, buffer: bufio.NewWriterSize(f, 1<<18)}
	a.pack = unpacked{a.buffer}
	if level > 0 {
		w, err := flate.NewWriter(a.buffer, level)
		if err != nil {
			return nil, err
		}
		a.data.method, a.pack = 8, w
	}
	_, err := a.buffer.Write(a.head(0))
	return a, err
}

// head is everything before the blocks: the local header and, as a stored block where the entry is deflated,
// the array's header.
func (a *archive) head(n int) []byte {
	h := a.data.local()
	array := blockHeader(a.layout, n)
	if a.data.method != 0 {
		h = le(h, uint8(0), uint16(len(array)), ^uint16(len(array)))
	}
	return append(h, array...)
}

func (a *archive) write(b tensor.Block) error {
	if _, err := a.pack.Write(b.Data); err != nil {
		return err
	}
	a.crc = crc32.Update(a.crc, crc32.IEEETable, b.Data)
	a.bytes += int64(len(b.Data))
	a.starts, a.ends, a.events = append(a.starts, b.Start), append(a.ends, b.End), append(a.events, b.Events)
	return nil
}

func (a *archive) finish(n int) error {
	if err := a.pack.Close(); err != nil {
		return err
	}
	if err := a.buffer.Flush(); err != nil {
		return err
	}
	at, err := a.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	array := blockHeader(a.layout, n)
	a.data.packed = at - int64(len(a.data.local()))
	a.data.actual = int64(len(array)) + a.bytes
	a.data.crc = joinCRC(crc32.ChecksumIEEE(array), a.crc, a.bytes)
	if _, err := a.file.WriteAt(a.head(n), 0); err != nil {
		return err
	}
	entries := []zipEntry{a.data}
	for _, c := range []struct {
		name   string
		values []int64
	}{{"window_start.npy", a.starts}, {"window_end.npy", a.ends}, {"window_events.npy", a.events}} {
		e, err := storeEntry(a.file, c.name, at, ints(c.values))
		if err != nil {
			return err
		}
		entries = append(entries, e)
		at += int64(len(e.local())) + e.packed
	}
	_, err = a.file.Write(directory(entries, at))
	return err
}

// ints is a whole .npy of int64.
func ints(v []int64) []byte {
	return le(blockHeader(tensor.Layout{DType: tensor.Int64}, len(v)), v)
}

// unpacked is the compressor that does nothing.
type unpacked struct{ io.Writer }

func (unpacked) Close() error { return nil }

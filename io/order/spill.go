package order

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/evq-project/evq/io/event"
)

// A spill is a temporary file of sorted runs, one after the other, of packed little-endian records
// t int64, x uint16, y uint16, p uint8. Where the system allows it, the file has no name while it is in use,
// so that nothing is left of it however the process ends.
type spill struct {
	f       *os.File
	runs    []run
	columns event.Columns // that the events have
	end     int64         // in records
	raw     []byte
}

// A run is a range of records.
type run struct{ at, n int64 }

const recordSize = 8 + 2 + 2 + 1

func newSpill(dir string) (*spill, error) {
	f, err := os.CreateTemp(dir, "evq-sort-*")
	if err != nil {
		return nil, fmt.Errorf("sorting needs a temporary file; name a folder with TMPDIR: %w", err)
	}
	_ = os.Remove(f.Name()) // fails where open files keep their name; close removes it then
	return &spill{f: f}, nil
}

// write appends a sorted block as a run, through buf, size events at a time.
func (s *spill) write(b *block, buf *event.Buffer, size int) error {
	s.runs = append(s.runs, run{s.end, int64(b.len())})
	s.end += int64(b.len())
	s.columns = columnsOf(&b.events)
	for lo := 0; lo < b.len(); lo += size {
		b.gather(buf, lo, min(lo+size, b.len()))
		s.raw = encode(s.raw[:0], buf)
		if _, err := s.f.Write(s.raw); err != nil {
			return s.failed("writing", err)
		}
	}
	return nil
}

// read fills a buffer with as many records of a run as it has room for and takes them off the run.
func (s *spill) read(r *run, into *event.Buffer) error {
	n := int(min(int64(into.Cap()), r.n))
	if cap(s.raw) < n*recordSize {
		s.raw = make([]byte, n*recordSize)
	}
	s.raw = s.raw[:n*recordSize]
	if _, err := s.f.ReadAt(s.raw, r.at*recordSize); err != nil {
		return s.failed("reading", err)
	}
	r.at, r.n = r.at+int64(n), r.n-int64(n)
	into.Resize(n)
	decode(into, s.raw, s.columns)
	return nil
}

func (s *spill) failed(doing string, err error) error {
	return fmt.Errorf("%s the temporary file %s of the sort (%d MB so far); name a folder with room with TMPDIR: %w",
		doing, s.f.Name(), s.end*recordSize>>20, err)
}

func (s *spill) close() error {
	err := s.f.Close()
	if rm := os.Remove(s.f.Name()); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

// columnsOf returns the columns that a buffer has beside t.
func columnsOf(b *event.Buffer) (c event.Columns) {
	if len(b.X) > 0 {
		c |= event.ColX
	}
	if len(b.Y) > 0 {
		c |= event.ColY
	}
	if len(b.P) > 0 {
		c |= event.ColP
	}
	return c
}

// encode appends the records of a buffer; a missing column is written as zeros.
func encode(raw []byte, b *event.Buffer) []byte {
	at := len(raw)
	raw = append(raw, make([]byte, b.Len()*recordSize)...)
	for _, t := range b.T {
		binary.LittleEndian.PutUint64(raw[at:], uint64(t))
		at += recordSize
	}
	base := raw[len(raw)-b.Len()*recordSize:]
	for i, x := range b.X {
		binary.LittleEndian.PutUint16(base[i*recordSize+8:], x)
	}
	for i, y := range b.Y {
		binary.LittleEndian.PutUint16(base[i*recordSize+10:], y)
	}
	for i, p := range b.P {
		base[i*recordSize+12] = byte(p)
	}
	return raw
}

// decode fills the columns of a buffer from its records; columns that the events lack become empty.
func decode(b *event.Buffer, raw []byte, c event.Columns) {
	for i := range b.T {
		r := raw[i*recordSize : (i+1)*recordSize]
		b.T[i] = int64(binary.LittleEndian.Uint64(r))
		b.X[i] = binary.LittleEndian.Uint16(r[8:])
		b.Y[i] = binary.LittleEndian.Uint16(r[10:])
		b.P[i] = int8(r[12])
	}
	if c&event.ColX == 0 {
		b.X = b.X[:0]
	}
	if c&event.ColY == 0 {
		b.Y = b.Y[:0]
	}
	if c&event.ColP == 0 {
		b.P = b.P[:0]
	}
}

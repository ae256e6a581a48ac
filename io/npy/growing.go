package npy

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/evq-project/evq/io/atomicfile"
)

// growingBuffer is how many bytes are collected before they are written.
const growingBuffer = 1 << 18

// A GrowingArray is a .npy file of an array with one axis whose length is known only at its end. Memory does not grow
// with it.
type GrowingArray struct {
	file  *atomicfile.File
	out   *bufio.Writer
	descr string
	size  int64
	bytes int64
}

// NewGrowingArray starts the file that will be called path. descr is NumPy's type as a header has it: '<i8' with its
// quotes, or a list of fields such as [('t', '<i8'), ('p', '|i1')]; an element has size bytes.
func NewGrowingArray(path, descr string, size int, force bool) (*GrowingArray, error) {
	f, err := atomicfile.Create(path, force)
	if err != nil {
		return nil, err
	}
	a := &GrowingArray{file: f, out: bufio.NewWriterSize(f, growingBuffer), descr: descr, size: int64(size)}
	if _, err := a.out.Write(growingHeader(descr, nil, 0)); err != nil {
		return nil, errors.Join(err, f.Abort())
	}
	return a, nil
}

// Write adds whole elements, little-endian and packed.
func (a *GrowingArray) Write(b []byte) (int, error) {
	n, err := a.out.Write(b)
	a.bytes += int64(n)
	return n, err
}

// Close completes the header and gives the file its name.
func (a *GrowingArray) Close() error {
	err := a.out.Flush()
	if err == nil {
		_, err = a.file.WriteAt(growingHeader(a.descr, nil, a.bytes/a.size), 0)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("npy: %w", err), a.file.Abort())
	}
	return a.file.Commit()
}

// Abort drops the file. After Close it does nothing.
func (a *GrowingArray) Abort() error { return a.file.Abort() }

// A GrowingMember is one array of a GrowingArchive: Descr as for NewGrowingArray.
type GrowingMember struct {
	Name  string // without .npy
	Descr string
	Shape []int // of an element: the axes after the first; none for numbers and records
	Size  int   // bytes of an element of that shape
}

// A GrowingArchive is a .npz file whose arrays grow side by side and are of one length. The first goes to its place
// right away, the others wait compressed in files beside it and are copied at the end; memory does not grow with them.
// Where the system allows it, those files have no name, so that nothing is left of them however the process ends.
type GrowingArchive struct {
	file    *atomicfile.File
	columns []*growing
	done    bool
}

// A growing is one array on its way.
type growing struct {
	GrowingMember
	zipEntry
	file  *atomicfile.File // of the archive, or one that is dropped
	out   *bufio.Writer
	pack  io.WriteCloser // into out
	crc   uint32
	bytes int64
}

// NewGrowingArchive starts the archive that will be called path. Level 0 stores the arrays as they are, as numpy.savez
// does; 1 to 9 deflate them, as numpy.savez_compressed does.
func NewGrowingArchive(path string, members []GrowingMember, level int, force bool) (_ *GrowingArchive, err error) {
	a := &GrowingArchive{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Abort())
		}
	}()
	if a.file, err = atomicfile.Create(path, force); err != nil {
		return nil, err
	}
	for i, m := range members {
		g := &growing{GrowingMember: m, zipEntry: zipEntry{name: m.Name + ".npy"}, file: a.file}
		if i > 0 {
			if g.file, err = atomicfile.Create(path+"."+m.Name+".column", true); err != nil {
				return nil, err
			}
			_ = os.Remove(g.file.Name()) // fails where open files keep their name; drop removes it then
		}
		g.out = bufio.NewWriterSize(g.file, growingBuffer)
		g.pack = unpacked{g.out}
		if level > 0 {
			if g.pack, err = flate.NewWriter(g.out, level); err != nil {
				return nil, errors.Join(err, drop(g.file, i))
			}
			g.method = 8
		}
		a.columns = append(a.columns, g)
	}
	_, err = a.columns[0].out.Write(a.columns[0].head(0))
	return a, err
}

// drop drops the file of a column, unless that is the archive.
func drop(f *atomicfile.File, column int) error {
	if column == 0 {
		return nil
	}
	if err := f.Abort(); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// head is everything before the values: the local header and, as a stored block where the values are deflated, the
// array's header.
func (g *growing) head(n int64) []byte {
	h := g.local()
	array := growingHeader(g.Descr, g.Shape, n)
	if g.method != 0 {
		h = le(h, uint8(0), uint16(len(array)), ^uint16(len(array)))
	}
	return append(h, array...)
}

// Write adds whole elements to a member, little-endian.
func (a *GrowingArchive) Write(member int, b []byte) error {
	g := a.columns[member]
	if _, err := g.pack.Write(b); err != nil {
		return fmt.Errorf("npy: member %s: %w", g.Name, err)
	}
	g.crc = crc32.Update(g.crc, crc32.IEEETable, b)
	g.bytes += int64(len(b))
	return nil
}

// Close puts the archive together, adds the given whole arrays, and gives the file its name.
func (a *GrowingArchive) Close(more ...Member) error {
	if a.done {
		return nil
	}
	if err := a.finish(more); err != nil {
		return errors.Join(fmt.Errorf("npy: %w", err), a.Abort())
	}
	a.done = true
	return errors.Join(a.file.Commit(), a.dropColumns())
}

func (a *GrowingArchive) finish(more []Member) error {
	var entries []zipEntry
	var at int64
	for i, g := range a.columns {
		if err := errors.Join(g.pack.Close(), g.out.Flush()); err != nil {
			return err
		}
		held, err := g.file.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		length := g.bytes / int64(g.Size)
		array := growingHeader(g.Descr, g.Shape, length)
		g.offset, g.packed = at, held-int64(len(g.local()))
		if i > 0 {
			g.packed = held + int64(len(g.head(0))-len(g.local()))
		}
		g.actual = int64(len(array)) + g.bytes
		g.zipEntry.crc = joinCRC(crc32.ChecksumIEEE(array), g.crc, g.bytes)
		if err := a.place(g, i, length, held); err != nil {
			return err
		}
		at += int64(len(g.local())) + g.packed
		entries = append(entries, g.zipEntry)
	}
	for _, m := range more {
		e, err := storeEntry(a.file, m.Name+".npy", at, m.Array.file())
		if err != nil {
			return err
		}
		entries = append(entries, e)
		at += int64(len(e.local())) + e.packed
	}
	_, err := a.file.Write(directory(entries, at))
	return err
}

// place brings an array into the archive: the first lies there and lacks its header, the others are copied.
func (a *GrowingArchive) place(g *growing, column int, length, held int64) error {
	if column == 0 {
		_, err := a.file.WriteAt(g.head(length), 0)
		return err
	}
	if _, err := a.file.Write(g.head(length)); err != nil {
		return err
	}
	n, err := io.Copy(a.file, io.NewSectionReader(g.file, 0, held))
	if err == nil && n < held {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Abort drops the archive. After Close it does nothing.
func (a *GrowingArchive) Abort() error {
	if a.done {
		return nil
	}
	a.done = true
	err := a.dropColumns()
	if a.file != nil {
		err = errors.Join(err, a.file.Abort())
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (a *GrowingArchive) dropColumns() (err error) {
	for i, g := range a.columns {
		err = errors.Join(err, drop(g.file, i))
	}
	return err
}

// FieldsDescr is the type of packed records of fields, for a header: pairs of a name and a type, such as t and <i8.
func FieldsDescr(fields ...[2]string) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "('%s', '%s')", f[0], f[1])
	}
	return "[" + b.String() + "]"
}

// unpacked is the compressor that does nothing.
type unpacked struct{ io.Writer }

func (unpacked) Close() error { return nil }

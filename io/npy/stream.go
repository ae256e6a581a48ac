package npy

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/flate"
)

// A Field is one column of a structured array, or the values of a plain one.
type Field struct {
	Name   string // empty in a plain array
	Descr  string // NumPy's type, such as <f4
	Kind   byte   // of the type: b i u f c S a U V m M
	Big    bool   // big-endian
	Size   int    // bytes
	Offset int    // in a record
}

// A Stored is what the header of an array says; Open reads its values in parts.
type Stored struct {
	Name    string  // in an archive; empty in a .npy
	Fields  []Field // without padding; one of a plain array
	Record  int     // bytes of a record, or of a value of a plain array
	Shape   []int64
	Fortran bool  // the first axis varies fastest
	Named   bool  // it is structured: its fields have names
	Bytes   int64 // behind the header
	At      int64 // where in the file it starts: its header, or the first of its packed bytes in an archive
	Err     error // why it cannot be read, such as ErrObjects
	// Open starts to read behind the header. A reader of an archive checks the checksum where it meets io.EOF.
	Open func() (io.ReadCloser, error)
}

// maxMembers bounds the arrays of an archive that are looked at.
const maxMembers = 4096

// OpenArray reads the header of a .npy file of size bytes. The file may be shorter than its header declares.
func OpenArray(r io.ReaderAt, size int64) (Stored, error) {
	info, err := readHeader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return Stored{}, err
	}
	a := describe("", info, size)
	a.Open = func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(r, info.offset, size-info.offset)), nil
	}
	return a, nil
}

// OpenArchive reads the headers of all arrays of a .npz archive of size bytes. The Err of a Stored says why one cannot
// be read; the error is of the archive as a whole.
func OpenArchive(r io.ReaderAt, size int64) ([]Stored, error) {
	z, err := readDirectory(r, size)
	if err != nil {
		return nil, err
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	var arrays []Stored
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if len(arrays) == maxMembers {
			return nil, fmt.Errorf("the archive has more than %d arrays", maxMembers)
		}
		a, err := openMember(name, f, size)
		if err != nil {
			a = Stored{Name: name, Err: err}
		}
		arrays = append(arrays, a)
	}
	return arrays, nil
}

func openMember(name string, f *zip.File, archiveSize int64) (Stored, error) {
	size, err := unpackedSize(f, archiveSize)
	if err != nil {
		return Stored{}, err
	}
	r, err := f.Open()
	if err != nil {
		return Stored{}, err
	}
	defer func() { _ = r.Close() }()
	info, err := readHeader(r)
	if err != nil {
		return Stored{}, err
	}
	a := describe(name, info, size)
	if a.At, err = f.DataOffset(); err != nil {
		return Stored{}, err
	}
	a.Open = func() (io.ReadCloser, error) {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, r, info.offset); err != nil {
			_ = r.Close()
			return nil, err
		}
		return r, nil
	}
	return a, nil
}

// describe turns a header into what readers are told of it.
func describe(name string, info arrayInfo, size int64) Stored {
	a := Stored{Name: name, Shape: info.shape, Fortran: info.fortran, Bytes: max(size-info.offset, 0)}
	var fields []field
	if info.descr == structured {
		a.Named = true
		fields, a.Record, a.Err = parseFields(info.fields)
	} else {
		var f field
		f, a.Err = simpleField("", info.descr)
		fields, a.Record = []field{f}, f.size
		if a.Err == nil && f.size == 0 {
			a.Err = errors.New("its values have no bytes")
		}
	}
	for _, f := range fields {
		if f.name != "" || !a.Named {
			a.Fields = append(a.Fields, Field{f.name, f.descr, f.kind, f.big, f.size, f.offset})
		}
	}
	return a
}

// Len returns the number of records along the first axis, 1 where there is no axis. A number that no file holds is
// bounded.
func (a Stored) Len() int64 {
	if len(a.Shape) == 0 {
		return 1
	}
	return min(a.Shape[0], math.MaxInt64/int64(max(a.Record, 1)))
}

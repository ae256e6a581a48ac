package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/tensor"
)

// A Column is a named field of a table and its value in each record.
type Column struct {
	Name   string
	Values any // []int64, []uint64, []int32, []uint32, []uint8, []float32 or []float64
}

// plainName is a name that needs no escape in a header, and of which a header holds many.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// NewTable makes a table of columns of equal length. Its records are packed: the fields follow each other in the
// order of the columns, little-endian, without room between them.
func NewTable(columns ...Column) (*Table, error) {
	t := &Table{}
	if len(columns) > 256 {
		return nil, fmt.Errorf("npy: %d columns; up to 256 are possible", len(columns))
	}
	for i, c := range columns {
		descr, n := columnType(c.Values)
		if descr == "" {
			return nil, fmt.Errorf("npy: column %q: values of %T are not possible", c.Name, c.Values)
		}
		if i == 0 {
			t.n = n
		}
		if n != t.n {
			return nil, fmt.Errorf("npy: column %q has %d values, and %q has %d", c.Name, n, columns[0].Name, t.n)
		}
		if !plainName.MatchString(c.Name) || t.Has(c.Name) {
			return nil, fmt.Errorf("npy: column %d is called %q; a name of its own of up to 64 letters, digits and _ is needed", i, c.Name)
		}
		f, err := simpleField(c.Name, descr)
		if err != nil {
			return nil, fmt.Errorf("npy: column %w", err)
		}
		f.offset = t.size
		t.size += f.size
		t.fields = append(t.fields, f)
	}
	t.data = make([]byte, t.n*t.size)
	for i, c := range columns {
		t.fill(t.fields[i], c.Values)
	}
	return t, nil
}

// columnType returns NumPy's type of a slice, "" where it has none here, and its length.
func columnType(values any) (descr string, n int) {
	switch v := values.(type) {
	case []int64:
		return "<i8", len(v)
	case []uint64:
		return "<u8", len(v)
	case []int32:
		return "<i4", len(v)
	case []uint32:
		return "<u4", len(v)
	case []uint8:
		return "|u1", len(v)
	case []float32:
		return "<f4", len(v)
	case []float64:
		return "<f8", len(v)
	}
	return "", 0
}

// fill sets a field of every record.
func (t *Table) fill(f field, values any) {
	for i := range t.n {
		b := t.bytes(f, i)
		switch v := values.(type) {
		case []int64:
			binary.LittleEndian.PutUint64(b, uint64(v[i]))
		case []uint64:
			binary.LittleEndian.PutUint64(b, v[i])
		case []int32:
			binary.LittleEndian.PutUint32(b, uint32(v[i]))
		case []uint32:
			binary.LittleEndian.PutUint32(b, v[i])
		case []uint8:
			b[0] = v[i]
		case []float32:
			binary.LittleEndian.PutUint32(b, math.Float32bits(v[i]))
		case []float64:
			binary.LittleEndian.PutUint64(b, math.Float64bits(v[i]))
		}
	}
}

// file is the whole .npy of a table.
func (t *Table) file() []byte {
	descr := "["
	for i, f := range t.fields {
		if i > 0 {
			descr += ", "
		}
		descr += fmt.Sprintf("('%s', '%s')", f.name, f.descr)
	}
	text := fmt.Sprintf("{'descr': %s], 'fortran_order': False, 'shape': (%d,), }", descr, t.n)
	return append(header(text, (len(magic)+4+len(text)+1+align-1)/align*align), t.data...)
}

// A Member is a named array of an archive.
type Member struct {
	Name  string // without .npy
	Array Array
}

// An Array is what a member can hold: a *Table, or Ints.
type Array interface {
	// file is the whole .npy.
	file() []byte
}

// Ints are integers, kept as int64.
type Ints []int64

func (v Ints) file() []byte { return ints(v) }

// ints is a whole .npy of int64.
func ints(v []int64) []byte {
	return le(growingHeader(quoted(tensor.Int64), nil, int64(len(v))), v)
}

// WriteInts writes integers to a .npy file as an int64 array with one axis. The file appears under its name only
// when it is complete; one that exists is refused without Force.
func WriteInts(path string, v []int64, options ...Option) error {
	return writeWhole(path, options, func(w io.Writer) error {
		_, err := w.Write(ints(v))
		return err
	})
}

// WriteArchive writes arrays to a .npz file, in their order and without compression, as numpy.savez does. The
// file appears under its name only when it is complete; one that exists is refused without Force.
func WriteArchive(path string, members []Member, options ...Option) error {
	return writeWhole(path, options, func(w io.Writer) error {
		var entries []zipEntry
		at := int64(0)
		for _, m := range members {
			e, err := storeEntry(w, m.Name+".npy", at, m.Array.file())
			if err != nil {
				return err
			}
			entries = append(entries, e)
			at += int64(len(e.local())) + e.packed
		}
		_, err := w.Write(directory(entries, at))
		return err
	})
}

// writeWhole makes a file of what fill writes.
func writeWhole(path string, options []Option, fill func(io.Writer) error) error {
	o := output{path: path}
	for _, option := range options {
		option(&o)
	}
	f, err := atomicfile.Create(path, o.force)
	if err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	if err := fill(f); err != nil {
		return errors.Join(fmt.Errorf("npy: writing %s: %w", path, err), f.Abort())
	}
	return f.Commit()
}

package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// ErrNoField reports a field that a table does not have.
var ErrNoField = errors.New("no such field")

// A Table is a structured array with one axis: records of named fields. It is read as data; Python objects are
// refused with ErrObjects.
type Table struct {
	fields []field
	size   int // bytes of a record
	n      int
	data   []byte
}

// ReadTable reads the structured array of a .npy file, of any order and width of fields and either byte order.
// It holds the whole array in memory. An array without fields is ErrNotTable, one of objects ErrObjects.
func ReadTable(path string) (*Table, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	t, err := readTable(f, size)
	if err != nil {
		return nil, fmt.Errorf("npy: %s: %w", path, err)
	}
	return t, nil
}

// readTable reads from a file of the given size, by which the declared length is checked before memory is taken
// for it.
func readTable(r io.Reader, size int64) (*Table, error) {
	info, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(info.descr, "O"):
		return nil, fmt.Errorf("%w; save it with a type of fields", ErrObjects)
	case info.descr != structured:
		return nil, fmt.Errorf("%w: the type is %.40q; save records with named fields", ErrNotTable, info.descr)
	case len(info.shape) > 1:
		return nil, fmt.Errorf("%w with one axis: the shape is %v; save its ravel()", ErrNotTable, info.shape)
	}
	t := &Table{}
	if t.fields, t.size, err = parseFields(info.fields); err != nil {
		return nil, err
	}
	n := int64(1)
	if len(info.shape) == 1 {
		n = info.shape[0]
	}
	if n > (size-info.offset)/int64(t.size) {
		return nil, fmt.Errorf("it declares %d records of %d bytes, and %d bytes follow; the file is cut or damaged", n, t.size, max(size-info.offset, 0))
	}
	t.n, t.data = int(n), make([]byte, n*int64(t.size))
	if _, err := io.ReadFull(r, t.data); err != nil {
		return nil, fmt.Errorf("reading %d records: %w", n, err)
	}
	return t, nil
}

// Len returns the number of records.
func (t *Table) Len() int { return t.n }

// Names returns the names of the fields, in the order of the file.
func (t *Table) Names() []string {
	var names []string
	for _, f := range t.fields {
		if f.name != "" {
			names = append(names, f.name)
		}
	}
	return names
}

// Has reports whether there is a field of that name.
func (t *Table) Has(name string) bool {
	_, err := t.field(name)
	return err == nil
}

func (t *Table) field(name string) (field, error) {
	for _, f := range t.fields {
		if f.name == name && name != "" {
			return f, nil
		}
	}
	return field{}, fmt.Errorf("npy: %w: %q; there are %s", ErrNoField, name, strings.Join(t.Names(), ", "))
}

// Int64 returns a field as integers: of any integer or truth type, or of a floating one that holds only whole
// numbers. A value that an int64 does not hold is an error.
func (t *Table) Int64(name string) ([]int64, error) {
	f, err := t.field(name)
	if err != nil {
		return nil, err
	}
	out := make([]int64, t.n)
	if f.kind == 'f' {
		values, err := t.floats(f)
		for i, v := range values {
			if v != math.Trunc(v) || v < -1<<63 || v >= 1<<63 {
				return nil, fmt.Errorf("npy: field %q: record %d is %v, which is not a whole number", name, i, v)
			}
			out[i] = int64(v)
		}
		return out, err
	}
	width, decode, err := integer(f.integerDescr())
	if err != nil {
		return nil, fmt.Errorf("npy: field %q: it has the type %q; integers are needed", name, f.descr)
	}
	for i := range out {
		v, ok := decode(t.bytes(f, i)[:width])
		if !ok {
			return nil, fmt.Errorf("npy: field %q: record %d is %d, which is more than an int64 holds", name, i, uint64(v))
		}
		out[i] = v
	}
	return out, nil
}

// integerDescr is the type of an integer field as integer wants it; a truth value is a byte.
func (f field) integerDescr() string {
	if f.kind == 'b' && f.size == 1 {
		return "|u1"
	}
	if strings.ContainsAny(f.descr[:1], "<>|=") {
		return f.descr
	}
	return "=" + f.descr
}

// Float32 returns a field in single precision: of a floating type of 4 or 8 bytes, or of integers, rounded to
// nearest.
func (t *Table) Float32(name string) ([]float32, error) {
	f, err := t.field(name)
	if err != nil {
		return nil, err
	}
	out := make([]float32, t.n)
	if f.kind != 'f' {
		values, err := t.Int64(name)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			out[i] = float32(v)
		}
		return out, nil
	}
	values, err := t.floats(f)
	for i, v := range values {
		out[i] = float32(v)
	}
	return out, err
}

// floats returns a floating field, widened.
func (t *Table) floats(f field) ([]float64, error) {
	if f.size != 4 && f.size != 8 {
		return nil, fmt.Errorf("npy: field %q: it has the type %q; floats of 4 or 8 bytes are possible", f.name, f.descr)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if f.big {
		order = binary.BigEndian
	}
	out := make([]float64, t.n)
	for i := range out {
		if b := t.bytes(f, i); f.size == 4 {
			out[i] = float64(math.Float32frombits(order.Uint32(b)))
		} else {
			out[i] = math.Float64frombits(order.Uint64(b))
		}
	}
	return out, nil
}

// bytes returns one value of a field.
func (t *Table) bytes(f field, record int) []byte {
	at := record*t.size + f.offset
	return t.data[at : at+f.size]
}

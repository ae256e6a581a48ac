package rvt

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/npy"
)

// arrays compares two .npy files.
func (d *Difference) arrays(file, a, b string) error {
	return d.array(file, "", arrayFile(a), arrayFile(b))
}

// archives compares two .npz files, array by array.
func (d *Difference) archives(file, a, b string) error {
	inA, errA := npy.Members(a)
	inB, errB := npy.Members(b)
	if err := errors.Join(errA, errB); err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	slices.Sort(inA)
	slices.Sort(inB)
	if !slices.Equal(inA, inB) {
		d.note(file, "arrays", strings.Join(inA, " "), strings.Join(inB, " "))
		return nil
	}
	before := d.Files
	for _, name := range inA {
		if err := d.array(file, name, arrayIn(a, name), arrayIn(b, name)); err != nil {
			return err
		}
		if d.Files > before {
			return nil // one file, one difference
		}
	}
	return nil
}

// A stored array can be read as integers or as a table.
type stored struct {
	open  func() (io.ReadCloser, error)
	ints  func() ([]int64, error)
	table func() (*npy.Table, error)
}

func arrayFile(path string) stored {
	return stored{
		func() (io.ReadCloser, error) { return os.Open(path) },
		func() ([]int64, error) { return npy.ReadInts(path) },
		func() (*npy.Table, error) { return npy.ReadTable(path) },
	}
}

func arrayIn(archive, name string) stored {
	open := func() (io.ReadCloser, error) {
		z, err := zip.OpenReader(archive)
		if err != nil {
			return nil, err
		}
		f, err := z.Open(name + ".npy")
		if err != nil {
			return nil, errors.Join(err, z.Close())
		}
		return memberReader{f, z}, nil
	}
	return stored{
		open,
		func() ([]int64, error) { return npy.ReadIntsIn(archive, name) },
		func() (*npy.Table, error) { return npy.ReadTableIn(archive, name) },
	}
}

// A memberReader closes the archive with its member.
type memberReader struct {
	io.Reader
	archive io.Closer
}

// Close closes the archive.
func (m memberReader) Close() error { return m.archive.Close() }

var (
	typeField   = regexp.MustCompile(`['"]descr['"]\s*:\s*(\[.*?\]|['"][^'"]*['"])`)
	recordField = regexp.MustCompile(`\(['"]([^'"]*)['"],['"]([^'"]*)['"]\)`) // a name and a type
	shapeField  = regexp.MustCompile(`['"]shape['"]\s*:\s*(\([^)]*\))`)
)

// header returns the type and the shape of an array as its header writes them, without spaces.
func (s stored) header() (dtype, shape string, err error) {
	f, err := s.open()
	if err != nil {
		return "", "", err
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, 1<<14)
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", "", err
	}
	if b = b[:n]; n < 10 || string(b[1:6]) != "NUMPY" {
		return "", "", errors.New("not a .npy file")
	}
	at, length := 10, int(binary.LittleEndian.Uint16(b[8:]))
	if b[6] > 1 && n > 12 {
		at, length = 12, int(binary.LittleEndian.Uint32(b[8:]))
	}
	text := string(b[at:min(n, at+length)])
	find := func(e *regexp.Regexp) string {
		if m := e.FindStringSubmatch(text); m != nil {
			return strings.ReplaceAll(m[1], " ", "")
		}
		return "unknown"
	}
	return find(typeField), find(shapeField), nil
}

// array compares one array. name is "" where it is the whole file.
func (d *Difference) array(file, name string, a, b stored) error {
	typeA, shapeA, errA := a.header()
	typeB, shapeB, errB := b.header()
	if err := errors.Join(errA, errB); err != nil {
		return fmt.Errorf("rvt: %s %s: %w", file, name, err)
	}
	of := func(what string) string { return strings.TrimSpace(name + " " + what) }
	switch {
	case !alike(typeA, typeB):
		d.note(file, of("type"), typeA, typeB)
		return nil
	case shapeA != shapeB:
		d.note(file, of("shape"), shapeA, shapeB)
		return nil
	case strings.HasPrefix(typeA, "["):
		return d.tables(file, name, a, b, typeA, typeB)
	}
	x, errA := a.ints()
	y, errB := b.ints()
	if err := errors.Join(errA, errB); err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			d.note(file, fmt.Sprintf("%s[%d]", name, i), strconv.FormatInt(x[i], 10), strconv.FormatInt(y[i], 10))
			return nil
		}
	}
	return nil
}

// alike reports whether arrays of two types, as headers write them, have values to compare: one type, or integers
// of whatever width and sign; of records, the same fields of such types.
func alike(a, b string) bool {
	if a == b || kind(a) == kind(b) {
		return true
	}
	x, y := fieldKinds(a), fieldKinds(b)
	return len(x) > 0 && slices.Equal(x, y)
}

// fieldKinds are the names and kinds of a record's fields without those that pad it; none where the type is not a
// record, or has fields of several elements.
func fieldKinds(dtype string) (out [][2]string) {
	fields := recordField.FindAllStringSubmatch(dtype, -1)
	if len(fields) != strings.Count(dtype, "(") {
		return nil
	}
	for _, f := range fields {
		if f[1] != "" {
			out = append(out, [2]string{f[1], kind(f[2])})
		}
	}
	return out
}

// kind is a type without its byte order, and i for integers of any width and sign.
func kind(dtype string) string {
	dtype = strings.TrimLeft(strings.Trim(dtype, `'"`), "<>|=")
	if strings.HasPrefix(dtype, "i") || strings.HasPrefix(dtype, "u") {
		return "i"
	}
	return dtype
}

// tables compares records field by field; the first record that differs is named, and the types where values of
// different types cannot be compared.
func (d *Difference) tables(file, name string, a, b stored, typeA, typeB string) error {
	x, errA := a.table()
	y, errB := b.table()
	if err := errors.Join(errA, errB); err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	row, where, inA, inB := x.Len(), "", "", ""
	for _, field := range x.Names() {
		i, textA, textB, err := firstOf(x, y, field, row)
		if err != nil && typeA != typeB {
			d.note(file, strings.TrimSpace(name+" type"), typeA, typeB)
			return nil
		}
		if err != nil {
			return fmt.Errorf("rvt: %w", err)
		}
		if i < row {
			row, where, inA, inB = i, fmt.Sprintf("%s[%d].%s", name, i, field), textA, textB
		}
	}
	if where != "" {
		d.note(file, where, inA, inB)
	}
	return nil
}

// firstOf returns the first of n records whose field differs, n where none does, and both values. Fields are
// compared as integers, or in single precision where one of them holds others.
func firstOf(a, b *npy.Table, field string, n int) (at int, inA, inB string, err error) {
	x, errA := a.Int64(field)
	y, errB := b.Int64(field)
	if errA == nil && errB == nil {
		for i := range min(n, len(x), len(y)) {
			if x[i] != y[i] {
				return i, strconv.FormatInt(x[i], 10), strconv.FormatInt(y[i], 10), nil
			}
		}
		return n, "", "", nil
	}
	v, errA := a.Float32(field)
	w, errB := b.Float32(field)
	if err := errors.Join(errA, errB); err != nil {
		return n, "", "", err
	}
	for i := range min(n, len(v), len(w)) {
		if math.Float32bits(v[i]) != math.Float32bits(w[i]) {
			text := func(f float32) string { return strconv.FormatFloat(float64(f), 'g', -1, 32) }
			return i, text(v[i]), text(w[i]), nil
		}
	}
	return n, "", "", nil
}

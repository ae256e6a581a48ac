package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// file is a .npy with any text for a header.
func file(text string, data ...byte) []byte {
	h := binary.LittleEndian.AppendUint16([]byte(magic+"\x01\x00"), uint16(len(text)))
	return append(append(h, text...), data...)
}

func TestReadInts(t *testing.T) {
	const head = "{'descr': '%', 'fortran_order': False, 'shape': (2,), }\n"
	of := func(descr string) string { return strings.Replace(head, "%", descr, 1) }
	for _, c := range []struct {
		name string
		raw  []byte
		want []int64
	}{
		{"<i8", file(of("<i8"), 1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255), []int64{1, -1}},
		{">i8", file(of(">i8"), 0, 0, 0, 0, 0, 0, 1, 2, 255, 255, 255, 255, 255, 255, 255, 254), []int64{258, -2}},
		{"<i4", file(of("<i4"), 1, 2, 0, 0, 0, 0, 0, 128), []int64{513, math.MinInt32}},
		{">u4", file(of(">u4"), 255, 255, 255, 255, 0, 0, 0, 7), []int64{math.MaxUint32, 7}},
		{">i2", file(of(">i2"), 255, 0, 0, 1), []int64{-256, 1}},
		{"<u2", file(of("<u2"), 255, 255, 1, 0), []int64{65535, 1}},
		{"|i1", file(of("|i1"), 128, 1), []int64{-128, 1}},
		{"|u1", file(of("|u1"), 128, 1), []int64{128, 1}},
		{"=i2", file(of("=i2"), 2, 1, 1, 0), []int64{258, 1}},
		{"bytes behind it", file(of("|u1"), 128, 1, 7, 7), []int64{128, 1}},
		{"fortran", file(`{"descr": "|u1", "fortran_order": True, "shape": (2,)}`, 5, 6), []int64{5, 6}},
		{"no axis", file("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", 9), []int64{9}},
		{"python 2", file("{'descr': '|u1', 'fortran_order': False, 'shape': (2L,), }", 9, 8), []int64{9, 8}},
		{"empty", file("{'descr': '<i8', 'fortran_order': False, 'shape': (0,), }"), []int64{}},
	} {
		got, err := readInts(bytes.NewReader(c.raw), int64(len(c.raw)))
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	v2 := append([]byte(magic+"\x02\x00"), byte(len(of("|u1"))), 0, 0, 0)
	v2 = append(append(v2, of("|u1")...), 3, 4)
	if got, err := readInts(bytes.NewReader(v2), int64(len(v2))); err != nil || !slices.Equal(got, []int64{3, 4}) {
		t.Errorf("version 2: %v, %v", got, err)
	}
}

func TestReadIntsRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"nothing", nil, "numpy.save"},
		{"text", []byte("1 2 3 4 5 6 7 8"), "numpy.save"},
		{"archive", []byte("PK\x03\x04............"), "archive"},
		{"version 9", append([]byte(magic), 9, 0, 1, 0, 0, 0), "version 9"},
		{"cut header", file("{'descr': '|u1', ")[:20], "cut"},
		{"huge header", append([]byte(magic), 2, 0, 255, 255, 255, 255), "damaged"},
		{"no shape", file("{'descr': '|u1', 'fortran_order': False}"), "lacks"},
		{"shape of words", file("{'descr': '|u1', 'fortran_order': False, 'shape': (a,)}"), "damaged"},
		{"negative shape", file("{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}"), "damaged"},
		{"two axes", file("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1)}", 1, 2), "2 axes"},
		{"floats", file("{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}"), `"<f8"`},
		{"truth values", file("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", 1), `"|b1"`},
		{"records", file("{'descr': [('t', '<i8')], 'fortran_order': False, 'shape': (0,)}"), "structured"},
		{"cut data", file("{'descr': '<i4', 'fortran_order': False, 'shape': (2,)}", 1, 2, 3, 4, 5, 6, 7), "cut or damaged"},
		{"huge shape", file("{'descr': '<i8', 'fortran_order': False, 'shape': (9223372036854775807,)}", 1), "cut or damaged"},
		{"too large", file("{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}", 255, 255, 255, 255, 255, 255, 255, 255), "18446744073709551615"},
	} {
		if got, err := readInts(bytes.NewReader(c.raw), int64(len(c.raw))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestGrid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ends.npy")
	for _, c := range []struct {
		values []int64
		want   string
	}{{[]int64{-5, 0, 0, 9}, ""}, {nil, "empty"}, {[]int64{1, 3, 2}, "index 2 is 2, after 3"}} {
		if err := os.WriteFile(path, ints(c.values), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Grid(path)
		switch {
		case c.want == "" && (err != nil || !slices.Equal(got, c.values)):
			t.Errorf("%v: %v, %v", c.values, got, err)
		case c.want != "" && (!errors.Is(err, ErrNotGrid) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: %v", c.values, err)
		}
	}
	if _, err := Grid(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzReadInts(f *testing.F) {
	f.Add(ints([]int64{1, 2, 3}))
	f.Add(file("{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}", 1, 2, 3, 4))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if v, err := readInts(bytes.NewReader(raw), int64(len(raw))); err == nil && len(v) > len(raw) {
			t.Errorf("%d values from %d bytes", len(v), len(raw))
		}
	})
}

// TestNotARegularFile asks a folder and a device, which have no size to check a header against.
func TestNotARegularFile(t *testing.T) {
	for _, path := range []string{t.TempDir(), os.DevNull} {
		if _, err := ReadInts(path); err == nil || !strings.Contains(err.Error(), "regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

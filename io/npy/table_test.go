package npy

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evq-project/evq/io/atomicfile"
)

func read(raw []byte) (*Table, error) { return readTable(bytes.NewReader(raw), int64(len(raw))) }

// records is a .npy of n records of one type.
func records(descr, shape string, data ...byte) []byte {
	return file("{'descr': "+descr+", 'fortran_order': False, 'shape': "+shape+", }\n", data...)
}

func TestReadTableLayouts(t *testing.T) {
	f32 := binary.BigEndian.AppendUint32(nil, math.Float32bits(1.5))
	for _, c := range []struct {
		name string
		raw  []byte
		t    []int64
		x    []float32
	}{
		{"padding", records("[('t', '<i2'), ('', '|V3'), ('x', '<i2'), ('', '|V1')]", "(2,)",
			1, 0, 9, 9, 9, 5, 0, 9, 255, 255, 9, 9, 9, 6, 0, 9), []int64{1, -1}, []float32{5, 6}},
		{"other order, big endian", records("[('x', '>f4'), ('t', '>u2')]", "(1,)", append(f32, 1, 2)...), []int64{258}, []float32{1.5}},
		{"titles", records("[(('time', 't'), '|u1'), (('column', 'x'), '|i1')]", "(1,)", 7, 250), []int64{7}, []float32{-6}},
		{"python 2", records("[(u't', u'|u1'), (b'x', b'|i1')]", "(1L,)", 7, 250), []int64{7}, []float32{-6}},
		{"double quotes, text", records(`[("s", "<U2"), ("a", "|S3"), ("t", "|b1"), ("x", "|u1")]`, "(1,)",
			0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 1, 4), []int64{1}, []float32{4}},
		{"one record without an axis", records("[('t', '|u1'), ('x', '|u1')]", "()", 1, 2), []int64{1}, []float32{2}},
		{"none", records("[('t', '<i8'), ('x', '<f4')]", "(0,)"), []int64{}, []float32{}},
		{"fortran", file("{'fortran_order': True, 'shape': (1,), 'descr': [('t', '|u1'), ('x', '|u1')]}", 1, 2), []int64{1}, []float32{2}},
	} {
		tab, err := read(c.raw)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		ts, err1 := tab.Int64("t")
		xs, err2 := tab.Float32("x")
		if err := errors.Join(err1, err2); err != nil || !slices.Equal(ts, c.t) || !slices.Equal(xs, c.x) || tab.Len() != len(c.t) {
			t.Errorf("%s: t %v, x %v, %v", c.name, ts, xs, err)
		}
		if tab.Has("") || tab.Has("nothing") || !tab.Has("t") || slices.Contains(tab.Names(), "") {
			t.Errorf("%s: the fields are %q", c.name, tab.Names())
		}
	}
}

func TestReadTableRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  []byte
		is   error
		want string
	}{
		{"object field", records("[('t', '|O'), ('x', '<f4')]", "(1,)", make([]byte, 12)...), ErrObjects, `"t"`},
		{"object array", records("'|O'", "(1,)", make([]byte, 8)...), ErrObjects, "pickled"},
		{"plain array", records("'<f4'", "(1, 5)", make([]byte, 20)...), ErrNotTable, "<f4"},
		{"raw records", records("'|V40'", "(1,)", make([]byte, 40)...), ErrNotTable, "|V40"},
		{"two axes", records("[('t', '|u1')]", "(2, 1)", 1, 2), ErrNotTable, "ravel"},
		{"sub-array", records("[('t', '|u1'), ('box', '<f4', (4,))]", "(1,)", make([]byte, 17)...), nil, `"box" is an array of shape`},
		{"nested", records("[('t', [('a', '|u1')])]", "(1,)", 1), nil, "fields of its own"},
		{"twice", records("[('t', '|u1'), ('t', '|u1')]", "(1,)", 1, 2), nil, "two fields"},
		{"no fields", records("[]", "(1000000000000,)"), ErrNotTable, "no bytes"},
		{"no bytes", records("[('t', '|V0')]", "(1000000000000,)"), ErrNotTable, "no bytes"},
		{"unknown type", records("[('t', '<q8')]", "(1,)", make([]byte, 8)...), nil, "<q8"},
		{"not a tuple", records("['t']", "(1,)", 1), nil, "not a name and a type"},
		{"number for a name", records("[(1, '|u1')]", "(1,)", 1), nil, "not a name"},
		{"large record", records("[('t', '|V999999999')]", "(1,)"), nil, "damaged"},
		{"huge shape", records("[('t', '<i8')]", "(9223372036854775807,)", 1), nil, "cut or damaged"},
		{"negative shape", records("[('t', '<i8')]", "(-1,)", 1), nil, "damaged"},
		{"number out of range", records("[('t', '<i8')]", "(99999999999999999999,)", 1), nil, "damaged"},
		{"cut", records("[('t', '<i8')]", "(2,)", make([]byte, 15)...), nil, "2 records of 8 bytes, and 15"},
		{"a call", records("__import__('os').system('true')", "(1,)"), nil, "damaged"},
		{"deep", records(strings.Repeat("[", 60000), "(1,)"), nil, "nesting"},
		{"open string", file("{'descr': '<i8"), nil, "without an end"},
		{"text", []byte("t,x,y,w,h\n1,2,3,4,5\n"), nil, "numpy.save"},
		{"nothing", nil, nil, "numpy.save"},
	} {
		if _, err := read(c.raw); err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.name, err, c.want)
		}
	}
	if _, err := ReadTable(filepath.Join(t.TempDir(), "none.npy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestFieldsRefuse(t *testing.T) {
	tab, err := read(records("[('u', '<u8'), ('f', '<f8'), ('s', '|S2'), ('h', '<f2'), ('whole', '<f4')]", "(1,)",
		255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 'a', 'b', 0, 0, 0, 0, 0, 0x40))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"u": "18446744073709551615", "f": "1.5, which is not a whole number", "s": "integers are needed", "h": "4 or 8 bytes", "z": "there are u, f, s, h, whole"} {
		if v, err := tab.Int64(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %s", name, v, err, want)
		}
	}
	if _, err := tab.Float32("z"); !errors.Is(err, ErrNoField) {
		t.Errorf("a field that is not there: %v", err)
	}
	if v, err := tab.Int64("whole"); err != nil || v[0] != 2 {
		t.Errorf("a whole number: %v, %v", v, err)
	}
}

// What is written is packed, and reads back the same.
func TestWriteArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "labels.npz")
	tab, err := NewTable(Column{"t", []int64{1, -2}}, Column{"x", []float32{0.5, -3}}, Column{"id", []uint32{7, 1 << 31}},
		Column{"c", []uint8{1, 2}}, Column{"i", []int32{-1, 1}}, Column{"u", []uint64{1, 2}}, Column{"d", []float64{0.1, 1e300}})
	if err != nil {
		t.Fatal(err)
	}
	if tab.size != 8+4+4+1+4+8+8 {
		t.Errorf("a record has %d bytes", tab.size)
	}
	members := []Member{{"labels", tab}, {"first", Ints{3, -4}}}
	if err := WriteArchive(path, members); err != nil {
		t.Fatal(err)
	}
	if err := WriteArchive(path, members); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("written twice: %v", err)
	}
	if err := WriteArchive(path, members, Force()); err != nil {
		t.Errorf("forced: %v", err)
	}
	back, err := ReadTableIn(path, "labels")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Names(), []string{"t", "x", "id", "c", "i", "u", "d"}) || !bytes.Equal(back.data, tab.data) {
		t.Errorf("read back: %q %v", back.Names(), back.data)
	}
	if v, err := ReadIntsIn(path, "first"); err != nil || !slices.Equal(v, []int64{3, -4}) {
		t.Errorf("integers: %v, %v", v, err)
	}
	if names, err := Members(path); err != nil || !slices.Equal(names, []string{"labels", "first"}) {
		t.Errorf("members %q, %v", names, err)
	}
	if _, err := ReadIntsIn(path, "second"); err == nil || !strings.Contains(err.Error(), "labels, first") {
		t.Errorf("a member that is not there: %v", err)
	}
	if _, err := ReadIntsIn(path, "labels"); !errors.Is(err, ErrNotIntegers) {
		t.Errorf("records as integers: %v", err)
	}
}

func TestNewTableRefuses(t *testing.T) {
	for name, columns := range map[string][]Column{
		"lengths": {{"a", []int64{1}}, {"b", []int64{1, 2}}},
		"type":    {{"a", []string{"x"}}},
		"quote":   {{"a'", []int64{1}}},
		"empty":   {{"", []int64{1}}},
		"twice":   {{"a", []int64{1}}, {"a", []int64{1}}},
		"many":    make([]Column, 300),
	} {
		if _, err := NewTable(columns...); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestWriteInts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ends.npy")
	if err := WriteInts(path, []int64{5, 6}); err != nil {
		t.Fatal(err)
	}
	if v, err := ReadInts(path); err != nil || !slices.Equal(v, []int64{5, 6}) {
		t.Errorf("%v, %v", v, err)
	}
	if err := WriteInts(path, nil); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("written twice: %v", err)
	}
}

// An archive may be deflated, cut, or say more than it holds.
func TestMembers(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("grid.npy")
	if err == nil {
		_, err = w.Write(ints([]int64{1, 2, 3}))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.npz")
	write := func(raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(b.Bytes())
	if v, err := ReadIntsIn(path, "grid"); err != nil || !slices.Equal(v, []int64{1, 2, 3}) {
		t.Errorf("deflated: %v, %v", v, err)
	}
	central := bytes.LastIndex(b.Bytes(), []byte("PK\x01\x02"))
	for name, change := range map[string]func([]byte) []byte{
		"cut":        func(raw []byte) []byte { return raw[:len(raw)/2] },
		"empty":      func([]byte) []byte { return nil },
		"large":      func(raw []byte) []byte { raw[central+27] = 0x7f; return raw },     // unpacked size
		"packed":     func(raw []byte) []byte { raw[central+23] = 0x7f; return raw },     // packed size
		"checksum":   func(raw []byte) []byte { raw[central+16] ^= 1; return raw },       // CRC
		"stored":     func(raw []byte) []byte { raw[central+10] = 0; return raw },        // method
		"other data": func(raw []byte) []byte { copy(raw[40:], "????????"); return raw }, // deflated stream
		"a .npy":     func([]byte) []byte { return ints([]int64{1}) },                    // no archive
	} {
		write(change(bytes.Clone(b.Bytes())))
		if v, err := ReadIntsIn(path, "grid"); err == nil || !strings.Contains(err.Error(), "npy: "+path) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}

func TestLiterals(t *testing.T) {
	for text, want := range map[string]any{
		`'a\'\\\x41\u00e9\n'`:        "a'\\Aé\n",
		`[1, -2, +3, (4), (5,), ()]`: list{int64(1), int64(-2), int64(3), int64(4), tuple{int64(5)}, tuple(nil)},
		`{'a': True, 'b' : None,}`:   dict{"a": true, "b": nil},
		` False `:                    false,
	} {
		if got, err := parseLiteral(text); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %#v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "[1 2]", "[1", "(,)", "{1: 2}", "{'a' 1}", "{'a': 1 'b': 2}", "--1", "-", "1 2", "u", "True1", "'\\q'", "'\\x4'", "'\\UFFFFFFFF'", "'\\", "x", "1.5", "'a' 'b'"} {
		if v, err := parseLiteral(text); err == nil {
			t.Errorf("%q was read as %#v", text, v)
		}
	}
}

func FuzzReadTable(f *testing.F) {
	tab, err := NewTable(Column{"t", []int64{1, 2}}, Column{"x", []float32{0.5, 2}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(tab.file())
	f.Add(records("[('t', '<i2'), ('', '|V3'), ('x', '>f4'), ('b', '<f4', (2, 2))]", "(2,)", make([]byte, 64)...))
	f.Add(records("[(('time', u't'), '|O')]", "(2L,)"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tab, err := read(raw)
		if err != nil {
			return
		}
		if tab.Len() > len(raw) {
			t.Errorf("%d records from %d bytes", tab.Len(), len(raw))
		}
		for _, name := range tab.Names() {
			_, _ = tab.Int64(name)
			_, _ = tab.Float32(name)
		}
	})
}

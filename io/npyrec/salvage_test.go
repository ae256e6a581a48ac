package npyrec

import (
	"archive/zip"
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
)

// arrayFile is a .npy of numbers of a type.
func arrayFile(descr string, n int, raw []byte) []byte {
	head := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + string(rune('0'+n)) + ",), }"
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	return append([]byte("\x93NUMPY\x01\x00\x76\x00"+head), raw...)
}

// TestSalvageOfArchives says that nothing can be: a checksum that is wrong does not say where.
func TestSalvageOfArchives(t *testing.T) {
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	for _, a := range []struct {
		name string
		data []byte
	}{
		{"t.npy", arrayFile("<u4", 3, []byte{1, 0, 0, 0, 2, 0, 0, 0, 0x77, 0, 0, 0})}, {"x.npy", arrayFile("|u1", 3, []byte{5, 6, 7})},
		{"y.npy", arrayFile("|u1", 3, []byte{8, 9, 10})}, {"p.npy", arrayFile("|u1", 3, []byte{0, 1, 1})},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: a.name, Method: zip.Store})
		if err == nil {
			_, err = w.Write(a.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	data := bytes.Replace(file.Bytes(), []byte{2, 0, 0, 0, 0x77}, []byte{3, 0, 0, 0, 0x77}, 1)
	src, err := NPZ.Open(t.Context(), formattest.File(data), format.Policy{Salvage: true})
	if err != nil {
		t.Fatal(err)
	}
	var syntax *format.SyntaxError
	if _, _, err := format.Drain(t.Context(), src); !errors.As(err, &syntax) || !errors.Is(err, zip.ErrChecksum) ||
		!strings.HasPrefix(string(data[syntax.Offset:]), "\x93NUMPY") || !strings.Contains(err.Error(), "the array t is damaged") || !strings.Contains(err.Error(), "nothing of it can be salvaged") {
		t.Errorf("error %v", err)
	}
}

// TestSalvageOfArrays says that there is nothing to salvage.
func TestSalvageOfArrays(t *testing.T) {
	raw := bytes.Repeat([]byte{1}, 3*8)
	p := format.Policy{Salvage: true, Columns: []string{"t", "x", "y", "p"}}
	head := "{'descr': '<u2', 'fortran_order': False, 'shape': (3, 4), }"
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	for i := 6; i < len(raw); i += 8 {
		raw[i], raw[i+1] = 1, 0
	}
	src, err := NPY.Open(t.Context(), formattest.File(append([]byte("\x93NUMPY\x01\x00\x76\x00"+head), raw...)), p)
	if err != nil {
		t.Fatal(err)
	}
	b, rep, err := format.Drain(t.Context(), src)
	if err != nil || b.Len() != 3 || !strings.Contains(strings.Join(rep.Notes, " "), "nothing to salvage") {
		t.Errorf("%d events, notes %q: %v", b.Len(), rep, err)
	}
}

// Packed bytes that do not unpack are damage of an array that is named, with the place in the file where it starts.
func TestDamagedStream(t *testing.T) {
	whole := archive(zip.Deflate, npzMembers...)
	from, named := bytes.Index(whole, []byte("t.npy"))+len("t.npy"), 0
	for at := range bytes.Index(whole[from:], []byte("PK\x07\x08")) {
		data := bytes.Clone(whole)
		data[from+at] ^= 0xFF
		src, err := NPZ.Open(t.Context(), formattest.File(data), format.Policy{})
		if err == nil {
			_, _, err = format.Drain(t.Context(), src)
		}
		var syntax *format.SyntaxError
		switch {
		case err == nil:
			t.Errorf("byte %d: no error", at)
		case !errors.As(err, &syntax): // its header is damaged
		case syntax.Offset != int64(from) || !strings.Contains(err.Error(), "the array t"):
			t.Errorf("byte %d: %v", at, err)
		default:
			named++
		}
	}
	if named == 0 {
		t.Error("no error says where")
	}
}

// A header that is no array's is an error that says so, though no name was given.
func TestWrongHeaders(t *testing.T) {
	for what, shape := range map[string]string{"negative": "(-5,)", "beyond 64 bits": "(9223372036854775808,)", "no tuple": "7"} {
		file := formattest.File(array(recordDescr, shape, false))
		if p := NPY.Sniff(file); p.Confidence == 0 || p.Why == "" {
			t.Errorf("%s: sniffed as %+v", what, p)
		}
		var syntax *format.SyntaxError
		if _, err := NPY.Open(t.Context(), file, format.Policy{}); !errors.As(err, &syntax) || strings.Contains(err.Error(), "000000") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

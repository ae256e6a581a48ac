package npyrec

import (
	"archive/zip"
	"bytes"
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
	if _, _, err := format.Drain(t.Context(), src); err == nil || !strings.Contains(err.Error(), "nothing of it can be salvaged") {
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

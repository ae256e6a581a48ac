//go:build hdf5 && cgo

package hdf5

import (
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/io/tensor"
	"gonum.org/v1/hdf5"
)

// However many windows there are, each one's limits and events stand in the file.
func TestWindowTable(t *testing.T) {
	l := tensor.Layout{Shape: tensor.Shape{2}, DType: tensor.Uint8}
	for _, n := range []int{0, 1, windowRows - 1, windowRows, windowRows + 1, 3*windowRows + 7} {
		path := filepath.Join(t.TempDir(), "w.h5")
		s, err := Create(path).Open(l)
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(n) {
			if err := s.Write(t.Context(), tensor.Block{Start: 3*i - 5, End: 3 * i, Events: i * i, DType: tensor.Uint8, Data: []byte{1, 2}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]func(i int64) int64{
			"window_start":  func(i int64) int64 { return 3*i - 5 },
			"window_end":    func(i int64) int64 { return 3 * i },
			"window_events": func(i int64) int64 { return i * i },
		} {
			got := readInt64s(t, path, name)
			if len(got) != n {
				t.Errorf("%d windows: %s has %d", n, name, len(got))
			}
			for i, v := range got {
				if v != want(int64(i)) {
					t.Fatalf("%d windows: %s[%d] = %d, want %d", n, name, i, v, want(int64(i)))
				}
			}
		}
	}
}

// readInt64s reads a dataset of one dimension.
func readInt64s(t *testing.T, path, name string) (out []int64) {
	t.Helper()
	err := locked(func() error {
		h, err := hdf5.OpenFile(path, hdf5.F_ACC_RDONLY)
		if err != nil {
			return err
		}
		defer h.Close()
		d, err := h.OpenDataset(name)
		if err != nil {
			return err
		}
		defer d.Close()
		sp := d.Space()
		defer sp.Close()
		dims, _, err := sp.SimpleExtentDims()
		if err != nil || dims[0] == 0 {
			return err
		}
		out = make([]int64, dims[0])
		return d.Read(&out)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

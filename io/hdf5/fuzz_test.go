//go:build hdf5 && cgo

package hdf5

import (
	"os"
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"github.com/evq-project/evq/io/hdf5/ecf"
)

// FuzzRead offers whole files: flat columns in blosc, and Prophesee's records in ECF.
func FuzzRead(f *testing.F) {
	b := eventtest.Recording(9, 40, vga)
	var seeds [][]byte
	for _, path := range []string{written(f, b, ""), written(f, b, "none"), propheseeFile(f, fromMinus5(40), someEdges, ecfFilter, func(r []byte) [][]byte { return blocks(f, r) })} {
		seeds = append(seeds, read(f, path))
	}
	formattest.Hostile{Format: Format, OnDisk: true, Known: []error{ErrLayout, chunk.ErrDamaged, ecf.ErrDamaged}}.Fuzz(f, seeds...)
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

//go:build hdf5 && cgo

package hdf5

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formattest"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"github.com/evq-project/evq/io/hdf5/ecf"
	"gonum.org/v1/hdf5"
)

// hostile is the format as it is offered any bytes.
func hostile(policies ...format.Policy) formattest.Hostile {
	return formattest.Hostile{Format: Format, OnDisk: true, Known: []error{ErrLayout, chunk.ErrDamaged, ecf.ErrDamaged}, Policies: policies}
}

// FuzzRead offers whole files: flat columns in blosc, in one piece and in gzip with checksums, rows of a matrix,
// Prophesee's records in ECF, and the files that h5py wrote.
func FuzzRead(f *testing.F) {
	b := eventtest.Recording(9, 40, vga)
	seeds := [][]byte{stripes(f, b, map[string]int{"t": 16, "x": 8, "y": 40, "p": 7})}
	for _, path := range []string{
		written(f, b, ""), written(f, b, "none"), testFile(f, plainColumns(), nil), testFile(f, with("t", u4(30, 10, 20)), offsetOf7),
		newFile(f, func(h *hdf5.File) error { return matrix(h, "events", hdf5.T_STD_U32LE, v2e) }),
		propheseeFile(f, fromMinus5(40), someEdges, ecfFilter, func(r []byte) [][]byte { return blocks(f, r) }),
		filepath.Join("testdata", "bool.h5"),
	} {
		seeds = append(seeds, read(f, path))
	}
	hostile().Fuzz(f, seeds...)
}

// FuzzSalvage offers files that were cut or damaged before, to what keeps the rest of them: in one piece, in chunks of
// other sizes in each column, and in ECF.
func FuzzSalvage(f *testing.F) {
	b := eventtest.Recording(9, 40, vga)
	chunks := stripes(f, b, map[string]int{"t": 16, "x": 8, "y": 40, "p": 7})
	whole := read(f, testFile(f, plainColumns(), nil))
	blocky := read(f, propheseeFile(f, fromMinus5(4*testChunk), someEdges, ecfFilter, func(r []byte) [][]byte { return blocks(f, r) }))
	seeds := [][]byte{chunks[:len(chunks)-1], chunks[:len(chunks)*3/4], whole[:len(whole)-1], whole[:len(whole)/2], blocky[:len(blocky)-1]}
	for _, col := range []int{colT, colP} {
		bad := append([]byte(nil), chunks...)
		at, size := storedAt(f, bad, col, 0)
		clear(bad[at+size/2 : at+size])
		seeds = append(seeds, bad)
	}
	at, size := storedAt(f, blocky, colT, testChunk)
	clear(blocky[at+size/2 : at+size])
	hostile(format.Policy{Salvage: true, OnUnsorted: format.Clamp, OnOffSensor: format.Keep}, format.Policy{Salvage: true, Zero: true}).Fuzz(f, append(seeds, blocky)...)
}

// offsetOf7 adds the offset of DSEC's times.
func offsetOf7(h *hdf5.File) { _ = writeInt64s(h.ID(), "t_offset", []int64{7}, true) }

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

//go:build hdf5 && cgo

package hdf5

import (
	"context"
	"hash/crc32"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/tensor"
)

// The sums are those of the elements that are read back, whatever compresses them and however zeros are told.
func TestSums(t *testing.T) {
	table := crc32.MakeTable(crc32.Castagnoli)
	for _, compression := range Compressions {
		for _, l := range []tensor.Layout{{Name: "data", Shape: []int{3, 300, 400}, DType: tensor.Uint8}, {Name: "data", Shape: []int{7, 11}, DType: tensor.Float32}} {
			var sums []uint32
			path := filepath.Join(t.TempDir(), "f.h5")
			sink, err := Create(path, Compression(compression), Threads(2), Sums(&sums)).Open(l)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 7 {
				data := make([]byte, l.Bytes())
				for range i % 3 * len(data) / 60 {
					data[r.IntN(len(data))]++
				}
				b := tensor.Block{Index: i, Shape: l.Shape, DType: l.DType, Data: data, Zero: i == 3}
				if err := sink.Write(context.Background(), b); err != nil {
					t.Fatal(err)
				}
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			blocks, err := OpenBlocks(path, "data")
			if err != nil {
				t.Fatal(err)
			}
			var want []uint32
			got := make([]byte, l.Bytes())
			for i := range blocks.Len() {
				if err := blocks.Read(i, got); err != nil {
					t.Fatal(err)
				}
				want = append(want, crc32.Checksum(got, table))
			}
			if err := blocks.Close(); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(sums, want) || len(want) != 7 || want[0] != want[3] || want[0] == want[1] {
				t.Errorf("%s, %v: sums %x, want %x", compression, l.Shape, sums, want)
			}
		}
	}
	if _, err := Create(filepath.Join(t.TempDir(), "f.h5"), Sums(new([]uint32))).Open(tensor.Layout{Name: "a", Shape: []int{1}}, tensor.Layout{Name: "b", Shape: []int{1}}); err == nil {
		t.Error("sums of two layouts are accepted")
	}
}

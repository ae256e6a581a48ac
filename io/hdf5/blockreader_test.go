//go:build hdf5 && cgo

package hdf5

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evq-project/evq/io/tensor"
)

// h5pyBlock is block i of testdata/blocks.h5, which h5py wrote: elements count up, modulo 251.
func h5pyBlock(i int, l tensor.Layout) []byte {
	var out []byte
	n := l.Shape.Len()
	for k := range n {
		v := (i*n + k) % 251
		switch {
		case l.DType == tensor.Float32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		case l.DType.Size() == 1:
			out = append(out, byte(v))
		case l.DType.Size() == 4:
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		default:
			out = binary.LittleEndian.AppendUint64(out, uint64(v))
		}
	}
	return out
}

// TestOpenBlocksOfOthers reads blocks that h5py wrote: as RVT stores its frames, with one never written; in
// chunks that are no divisors of the block; contiguous; with a fill value; and a list of numbers.
func TestOpenBlocksOfOthers(t *testing.T) {
	shape := tensor.Shape{4, 6, 7}
	for _, c := range []struct {
		name   string
		shape  tensor.Shape
		dtype  tensor.DType
		filled map[int]byte // blocks that were never written
	}{
		{"data", shape, tensor.Uint8, map[int]byte{2: 0}},
		{"odd", shape, tensor.Int32, nil},
		{"plain", shape, tensor.Float32, nil},
		{"filled", shape, tensor.Int8, map[int]byte{0: 0xfd, 2: 0xfd, 3: 0xfd, 4: 0xfd}},
		{"list", tensor.Shape{}, tensor.Int64, nil},
	} {
		b, err := OpenBlocks("testdata/blocks.h5", c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if l := b.Layout(); !l.Shape.Equal(c.shape) || l.DType != c.dtype || b.Len() != 5 {
			t.Errorf("%s: %d blocks of %v", c.name, b.Len(), l)
		}
		for i := range b.Len() {
			want := h5pyBlock(i, b.Layout())
			if fill, ok := c.filled[i]; ok {
				want = bytes.Repeat([]byte{fill}, len(want))
			}
			got := bytes.Repeat([]byte{0xaa}, b.Layout().Bytes())
			if err := b.Read(i, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: block %d: %v, differs %v", c.name, i, err, !bytes.Equal(got, want))
			}
		}
		if err := b.Read(5, make([]byte, b.Layout().Bytes())); err == nil {
			t.Errorf("%s: block 5 of 5 was read", c.name)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenBlocksRefuses(t *testing.T) {
	for _, c := range []struct{ path, name, want string }{
		{"testdata/blocks.h5", "big", "little-endian"},
		{"testdata/blocks.h5", "huge", "larger than 1024 MiB"},
		{"testdata/blocks.h5", "date", "it holds /big, /data"},
		{"blockreader.go", "data", "cut or not HDF5"},
		{"nowhere.h5", "data", "no such file"},
	} {
		b, err := OpenBlocks(c.path, c.name)
		if err == nil {
			_ = b.Close()
		}
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "the file holds", "it holds"), c.want) {
			t.Errorf("%s %s: %v; want %q", c.path, c.name, err, c.want)
		}
	}
}

// TestBlocksReadBack writes with every compression and reads with many goroutines at once.
func TestBlocksReadBack(t *testing.T) {
	l := tensor.Layout{Name: "data", Shape: tensor.Shape{3, 20, 30}, DType: tensor.Float32}
	for _, compression := range Compressions {
		path := filepath.Join(t.TempDir(), "out.h5")
		s, err := Create(path, Compression(compression)).Open(l)
		if err != nil {
			t.Fatal(err)
		}
		const n = 40
		for i := range n {
			data := noise(uint64(i), l)
			if i%5 == 0 {
				clear(data)
			}
			if err := s.Write(context.Background(), tensor.Block{Index: i, Shape: l.Shape, DType: l.DType, Data: data}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := OpenBlocks(path, "data")
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				got := make([]byte, l.Bytes())
				for i := g; i < n; i += 2 {
					want := noise(uint64(i), l)
					if i%5 == 0 {
						clear(want)
					}
					if err := b.Read(i, got); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%s: block %d: %v", compression, i, err)
					}
				}
			})
		}
		wg.Wait()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBlocksOfDamagedFiles flips and cuts every part of a file: an error or other elements, never a panic.
func TestBlocksOfDamagedFiles(t *testing.T) {
	whole, err := os.ReadFile("testdata/blocks.h5")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bad.h5")
	for at := 0; at < len(whole); at += 61 {
		bad := bytes.Clone(whole)
		bad[at] ^= 0xff
		if at%2 == 0 {
			bad = bad[:at]
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"data", "odd"} {
			b, err := OpenBlocks(path, name)
			if err != nil {
				continue
			}
			if b.Layout().Bytes() < 1<<20 {
				dst := make([]byte, b.Layout().Bytes())
				for i := range min(b.Len(), 8) {
					_ = b.Read(i, dst)
				}
			}
			_ = b.Close()
		}
	}
}

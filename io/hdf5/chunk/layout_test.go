package chunk

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// inOrder undoes what Inflate leaves shuffled.
func inOrder(b []byte, l Layout) []byte {
	if l.Size == 0 {
		return b
	}
	out := make([]byte, len(b))
	for lo := 0; lo < len(b); lo += l.Block {
		hi := min(lo+l.Block, len(b))
		n := (hi - lo) / l.Size
		for i := range n {
			for j := range l.Size {
				out[lo+i*l.Size+j] = b[lo+j*n+i]
			}
		}
	}
	return out
}

// checkInflate compares Inflate with Decode, which undoes everything.
func checkInflate(t *testing.T, filters []Filter, size, n int, stored []byte, mask uint32) Layout {
	t.Helper()
	var got, want *Decoder
	var err error
	if got, err = NewDecoder(filters, size, nil); err == nil {
		want, err = NewDecoder(filters, size, nil)
	}
	if err != nil {
		t.Skip(err)
	}
	a, b := make([]byte, n), make([]byte, n)
	werr := want.Decode(b, bytes.Clone(stored), mask)
	l, err := got.Inflate(a, stored, mask)
	if (err == nil) != (werr == nil) {
		t.Fatalf("%v, mask %b: %v, want %v", filters, mask, err, werr)
	}
	if err == nil && !bytes.Equal(inOrder(a, l), b) {
		t.Fatalf("%v, mask %b, %+v: the bytes differ", filters, mask, l)
	}
	return l
}

// What h5py and hdf5plugin stored is the same either way, whichever filters were left out.
func TestInflateVectors(t *testing.T) {
	shuffled := 0
	for _, v := range vectors(t) {
		raw, size := elements(t, v.Data)
		t.Run(v.Name, func(t *testing.T) {
			if l := checkInflate(t, v.Filters, size, len(raw), v.Stored, v.Mask); l.Size > 0 {
				shuffled++
			}
			for mask := range uint32(1) << len(v.Filters) {
				checkInflate(t, v.Filters, size, len(raw), v.Stored, mask)
			}
		})
	}
	if shuffled == 0 {
		t.Error("nothing was left shuffled")
	}
}

func TestInflateEncoded(t *testing.T) {
	for _, filters := range [][]Filter{nil, {{ID: Blosc}}, {{ID: Shuffle}, {ID: Zstd}}, {{ID: Shuffle}, {ID: Deflate}}, {{ID: Shuffle}}, {{ID: LZ4}}} {
		for _, size := range []int{1, 2, 4, 8} {
			for _, n := range []int{1, 7, 1000, blockSize / size, blockSize/size + 3, 3*blockSize/size + 1} {
				src := sparse(uint64(n), n*size)
				e := &Encoder{Filters: filters, TypeSize: size}
				out, err := e.Encode(nil, src)
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%v, %d of %d bytes", filters, n, size)
				l := checkInflate(t, filters, size, len(src), out, 0)
				if len(filters) > 0 && size > 1 && filters[0].ID == Shuffle && l != (Layout{size, len(src)}) {
					t.Errorf("%s: the layout is %+v", name, l)
				}
			}
		}
	}
}

func FuzzInflate(f *testing.F) {
	known := []int{Deflate, Shuffle, Fletcher32, LZF, Blosc, LZ4, Zstd}
	for _, v := range vectors(f) {
		raw, size := elements(f, v.Data)
		var ids []byte
		for _, filter := range v.Filters {
			ids = append(ids, byte(slices.Index(known, filter.ID)))
		}
		f.Add(v.Stored, ids, uint8(size-1), uint16(len(raw)/size-1), uint8(v.Mask))
	}
	f.Fuzz(func(t *testing.T, stored, ids []byte, size uint8, n uint16, mask uint8) {
		var filters []Filter
		for _, id := range ids[:min(len(ids), 4)] {
			filters = append(filters, Filter{ID: known[int(id)%len(known)]})
		}
		s := 1 + int(size)%9
		checkInflate(t, filters, s, s*(1+int(n)), stored, uint32(mask))
	})
}

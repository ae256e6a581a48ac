//go:build hdf5 && cgo

package hdf5

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"gonum.org/v1/hdf5"
)

// checkMerge compares the vectors with loops, byte by byte, on n elements from one on of a block.
func checkMerge(t *testing.T, block []byte, size, from, n int) {
	t.Helper()
	stride := len(block) / size
	s := span{bytes: block, stride: stride, from: from}
	at := func(i int) uint64 {
		var b [8]byte
		for j := range size {
			b[j] = block[j*stride+from+i]
		}
		return binary.LittleEndian.Uint64(b[:])
	}
	if size == 2 {
		got := make([]uint16, n+1)
		got[n] = 0xabcd
		s.merge16(got[:n])
		for i, v := range got[:n] {
			if uint64(v) != at(i) {
				t.Fatalf("%d of %d from %d of %d: %#x, want %#x", i, n, from, stride, v, at(i))
			}
		}
		if got[n] != 0xabcd {
			t.Fatal("written behind the end")
		}
		return
	}
	got := make([]int64, n+1)
	got[n] = -1
	s.merge64(got[:n], size)
	for i, v := range got[:n] {
		if uint64(v) != at(i) {
			t.Fatalf("%d of %d from %d of %d: %#x, want %#x", i, n, from, stride, v, at(i))
		}
	}
	if got[n] != -1 {
		t.Fatal("written behind the end")
	}
}

func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, size := range []int{2, 4, 8} {
		for _, stride := range []int{1, 15, 16, 17, 40, 257} {
			block := make([]byte, size*stride)
			for i := range block {
				block[i] = byte(r.Uint32())
			}
			for from := range min(stride, 20) {
				for n := 0; from+n <= stride; n += 1 + n/20 {
					checkMerge(t, block, size, from, n)
				}
				checkMerge(t, block, size, from, stride-from)
			}
		}
	}
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"), uint8(1), uint16(0), uint16(99))
	f.Fuzz(func(t *testing.T, data []byte, width uint8, from, n uint16) {
		size := 2 << (width % 3)
		stride := len(data) / size
		if stride == 0 {
			return
		}
		at := int(from) % stride
		checkMerge(t, data[:stride*size], size, at, min(int(n), stride-at))
	})
}

// Columns whose chunks and blocks end at other rows than buffers do are read as without a shortcut: shuffled, not
// shuffled, and shuffled as if elements were of another size.
func TestSpans(t *testing.T) {
	const rows = 300_000
	recording := eventtest.Recording(11, rows, vga)
	blosc := func(size int) []chunk.Filter {
		return []chunk.Filter{{ID: chunk.Blosc, Values: []uint32{2, 2, uint32(size), 0, 1, 1, 5}}}
	}
	gzip := func(size int) []chunk.Filter {
		return []chunk.Filter{{ID: chunk.Shuffle, Values: []uint32{uint32(size)}}, {ID: chunk.Deflate, Values: []uint32{1}}}
	}
	for name, c := range map[string]struct {
		chunk   [numColumns]int
		filters func(size int) []chunk.Filter
		size    int // that elements are shuffled by; 0: their own
	}{
		"blosc": {[numColumns]int{200_000, 70_001, 1000, 4096}, blosc, 0}, "gzip": {[numColumns]int{65_536, 150_000, 77, 300_000}, gzip, 0},
		"other size": {[numColumns]int{4096, 200_000, 8192, 100_000}, blosc, 16},
	} {
		for _, tKind := range []int{-8, 4} {
			events := recording
			if tKind == 4 {
				events = fromZero(events)
			}
			path := testFile(t, nil, func(h *hdf5.File) {
				for i, kind := range [numColumns]int{colT: tKind, colX: 2, colY: 2, colP: 1} {
					width := max(kind, -kind)
					size := width
					if c.size > 0 {
						size = c.size
					}
					writeColumn(t, h, i, kind, c.chunk[i], size, c.filters(size), stored(elem{size: width, signed: kind < 0}, valuesOf(events, i)))
				}
			})
			got, _, err := drain(t, path, format.Policy{Threads: 2})
			if err != nil || eventtest.Diff(got, events) != "" {
				t.Errorf("%s, t of %d bytes: %v %s", name, tKind, err, eventtest.Diff(got, events))
			}
		}
	}
}

// fromZero lets times start at 0, so that they fit in 32 bits.
func fromZero(b event.Batch) event.Batch {
	t := slices.Clone(b.T())
	for i := range t {
		t[i] -= b.T()[0]
	}
	return event.New(t, b.X(), b.Y(), b.P())
}

func valuesOf(b event.Batch, col int) (v []int64) {
	switch col {
	case colT:
		return slices.Clone(b.T())
	case colX:
		for _, x := range b.X() {
			v = append(v, int64(x))
		}
	case colY:
		for _, y := range b.Y() {
			v = append(v, int64(y))
		}
	default:
		for _, p := range b.P() {
			v = append(v, int64(p))
		}
	}
	return v
}

// writeColumn writes a column in chunks; the last one is filled up.
func writeColumn(t *testing.T, h *hdf5.File, col, kind, rows, size int, filters []chunk.Filter, raw []byte) {
	t.Helper()
	width := max(kind, -kind)
	d, err := createDataset(h.ID(), "events/"+columnNames[col], kind, []int{rows}, filters)
	if err == nil {
		err = extend(d, int64(len(raw)/width))
	}
	e := &chunk.Encoder{Filters: filters, TypeSize: size}
	for lo := 0; lo < len(raw) && err == nil; lo += rows * width {
		part := make([]byte, rows*width)
		copy(part, raw[lo:])
		var out []byte
		if out, err = e.Encode(nil, part); err == nil {
			err = writeChunk(d, int64(lo/width), out)
		}
	}
	if err == nil {
		err = closeDataset(d)
	}
	if err != nil {
		t.Error(err)
	}
}

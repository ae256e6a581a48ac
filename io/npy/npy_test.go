package npy

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/tensor"
)

var layout = tensor.Layout{Name: "stacked_histogram", Shape: tensor.Shape{2, 3, 5}, DType: tensor.Uint8}

// blocks makes n blocks of mostly zeros.
func blocks(l tensor.Layout, n int) []tensor.Block {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := make([]tensor.Block, n)
	for i := range out {
		data := make([]byte, l.Bytes())
		for range len(data) / 4 {
			data[r.IntN(len(data))] = byte(r.IntN(256))
		}
		out[i] = tensor.Block{Index: i, Start: int64(i)*50_000 - 10, End: int64(i+1) * 50_000, Events: int64(i * i), Shape: l.Shape, DType: l.DType, Data: data}
	}
	return out
}

func write(t *testing.T, o tensor.Output, l tensor.Layout, all []tensor.Block) {
	t.Helper()
	writeParts(t, o, []tensor.Layout{l}, all)
}

// writeParts writes blocks of several layouts.
func writeParts(t *testing.T, o tensor.Output, layouts []tensor.Layout, all []tensor.Block) {
	t.Helper()
	s, err := o.Open(layouts...)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if err := s.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Abort(); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Errorf("aborting a closed sink: %v", err)
	}
}

// checkArray compares a .npy with the blocks it must hold.
func checkArray(t *testing.T, raw []byte, l tensor.Layout, all []tensor.Block) {
	t.Helper()
	info, err := readHeader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	shape := []int64{int64(len(all))}
	for _, d := range l.Shape {
		shape = append(shape, int64(d))
	}
	if info.descr != l.DType.NPY() || !slices.Equal(info.shape, shape) || info.offset%align != 0 {
		t.Fatalf("header %+v, want %v of %s", info, shape, l.DType.NPY())
	}
	var want []byte
	for _, b := range all {
		want = append(want, b.Data...)
	}
	if !bytes.Equal(raw[info.offset:], want) {
		t.Errorf("%d blocks: the data differs", len(all))
	}
}

func TestArray(t *testing.T) {
	for _, l := range []tensor.Layout{layout, {Shape: tensor.Shape{4}, DType: tensor.Float32}, {DType: tensor.Int64}} {
		for _, n := range []int{0, 1, 12} {
			path := filepath.Join(t.TempDir(), "a.npy")
			write(t, Create(path), l, blocks(l, n))
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			checkArray(t, raw, l, blocks(l, n))
		}
	}
}

// The header is what NumPy writes, but for the room that is left in it.
func TestHeader(t *testing.T) {
	got := strings.TrimRight(string(blockHeader(layout, 26)), " \n")
	if want := "\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, 'shape': (26, 2, 3, 5), }"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestArchive(t *testing.T) {
	big := tensor.Layout{Shape: tensor.Shape{20, 90, 160}, DType: tensor.Uint8}
	for _, l := range []tensor.Layout{layout, big} {
		for _, level := range []int{0, 1, 6} {
			for _, n := range []int{0, 1, 7} {
				path := filepath.Join(t.TempDir(), "a.NPZ")
				all := blocks(l, n)
				write(t, Create(path, Level(level)), l, all)
				members := unzip(t, path)
				checkArray(t, members["data.npy"], l, all)
				for name, of := range map[string]func(tensor.Block) int64{
					"window_start.npy":  func(b tensor.Block) int64 { return b.Start },
					"window_end.npy":    func(b tensor.Block) int64 { return b.End },
					"window_events.npy": func(b tensor.Block) int64 { return b.Events },
				} {
					got, err := readInts(bytes.NewReader(members[name]), int64(len(members[name])))
					if err != nil || len(got) != n {
						t.Fatalf("%s: %v, %v", name, got, err)
					}
					for i, b := range all {
						if got[i] != of(b) {
							t.Errorf("%s[%d] = %d, want %d", name, i, got[i], of(b))
						}
					}
				}
				if len(members) != 4 {
					t.Errorf("%d members", len(members))
				}
			}
		}
	}
}

// parts are three representations, two of them of one name, and their blocks, window after window.
func parts(n int) (layouts []tensor.Layout, all []tensor.Block, each [][]tensor.Block) {
	layouts = []tensor.Layout{
		layout, {Name: "time_surface", Shape: tensor.Shape{2, 40, 60}, DType: tensor.Float32},
		{Name: "stacked_histogram", Shape: tensor.Shape{4, 3, 5}, DType: tensor.Uint8},
	}
	for part, l := range layouts {
		each = append(each, blocks(l, n))
		for i := range each[part] {
			each[part][i].Part = part
		}
	}
	for i := range n {
		for part := range layouts {
			all = append(all, each[part][i])
		}
	}
	return layouts, all, each
}

// An archive of several representations holds what an archive of each holds.
func TestArchiveOfParts(t *testing.T) {
	for _, level := range []int{0, 1} {
		for _, n := range []int{0, 1, 40} {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.npz")
			layouts, all, each := parts(n)
			writeParts(t, Create(path, Level(level)), layouts, all)
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("beside the archive: %v", left)
			}
			got := unzip(t, path)
			if len(got) != len(layouts)+3 {
				t.Errorf("%d members", len(got))
			}
			for part, name := range []string{"stacked_histogram", "time_surface", "stacked_histogram_2"} {
				alone := filepath.Join(t.TempDir(), "a.npz")
				for i := range each[part] {
					each[part][i].Part = 0
				}
				write(t, Create(alone, Level(level)), layouts[part], each[part])
				want := unzip(t, alone)
				if !bytes.Equal(got[name+".npy"], want["data.npy"]) {
					t.Errorf("%d windows: %s is not what is written alone", n, name)
				}
				for _, column := range []string{"window_start.npy", "window_end.npy", "window_events.npy"} {
					if !bytes.Equal(got[column], want[column]) {
						t.Errorf("%d windows: %s is not what is written alone", n, column)
					}
				}
			}
		}
	}
}

// Whatever ends an archive before its Close, nothing is left of it: neither while a window lacks a block, nor while
// other columns wait in files beside it.
func TestPartsLeaveNothing(t *testing.T) {
	layouts, all, _ := parts(5)
	for name, end := range map[string]func(tensor.Sink) error{
		"abort": tensor.Sink.Abort,
		"a window that is not whole": func(s tensor.Sink) error {
			if err := s.Close(); err == nil || !strings.Contains(err.Error(), "lacks its block of stacked_histogram") {
				t.Errorf("a window that is not whole: %v", err)
			}
			return nil
		},
	} {
		dir := t.TempDir()
		s, err := Create(filepath.Join(dir, "a.npz")).Open(layouts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range all[:8] {
			if err := s.Write(context.Background(), b); err != nil {
				t.Fatal(err)
			}
		}
		if runtime.GOOS != "windows" {
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("a crash would leave %v", left)
			}
		}
		if err := end(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
}

// The formats of one array say what holds several.
func TestArrayRefusesParts(t *testing.T) {
	dir := t.TempDir()
	layouts, _, _ := parts(0)
	_, err := Create(filepath.Join(dir, "a.npy")).Open(layouts...)
	if err == nil || !strings.Contains(err.Error(), "a.npy: 3 representations") || !strings.Contains(err.Error(), ".npz, .h5 and .arrow") {
		t.Errorf("three representations in a .npy: %v", err)
	}
	for _, name := range []string{"a.npy", "a.npz"} {
		if _, err := Create(filepath.Join(dir, name)).Open(); err == nil {
			t.Errorf("no representation in %s is accepted", name)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// unzip reads an archive with the standard library, which checks sizes and checksums.
func unzip(t *testing.T, path string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if out[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	return out
}

// sparse is a file with a hole of zeros between its first and its last bytes.
type sparse struct {
	head, tail []byte
	tailAt     int64
}

func (s sparse) ReadAt(b []byte, off int64) (int, error) {
	clear(b)
	if off < int64(len(s.head)) {
		copy(b, s.head[off:])
	}
	if end := off + int64(len(b)); end > s.tailAt {
		from := max(off, s.tailAt)
		copy(b[from-off:], s.tail[from-s.tailAt:])
	}
	return len(b), nil
}

// Beyond 4 GiB the directory takes its 64-bit form.
func TestDirectoryOfLargeArchive(t *testing.T) {
	const size = 5 << 30
	large := zipEntry{name: "data.npy", packed: size, actual: size}
	at := int64(len(large.local())) + size
	small := zipEntry{name: "window_start.npy", packed: 3, actual: 3, offset: at, crc: crc32.ChecksumIEEE([]byte("abc"))}
	tail := append(small.local(), "abc"...)
	tail = append(tail, directory([]zipEntry{large, small}, at+int64(len(tail)))...)
	z, err := zip.NewReader(sparse{large.local(), tail, at}, at+int64(len(tail)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 2 || z.File[0].UncompressedSize64 != size || z.File[0].CompressedSize64 != size {
		t.Fatalf("%+v", z.File[0].FileHeader)
	}
	r, err := z.File[1].Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != "abc" {
		t.Errorf("the entry after it is %q, %v", got, err)
	}
}

func TestJoinCRC(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{0, 1, 2, 3, 64, 100, 4097, 1 << 20} {
		a, b := make([]byte, r.IntN(200)), make([]byte, n)
		for i := range a {
			a[i] = byte(r.Uint32())
		}
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		got := joinCRC(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), int64(n))
		if want := crc32.ChecksumIEEE(append(a, b...)); got != want {
			t.Errorf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}

func TestSinkRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npy")
	for _, o := range []tensor.Output{Create(filepath.Join(dir, "a.txt")), Create(filepath.Join(dir, "a.npz"), Level(10))} {
		if _, err := o.Open(layout); err == nil {
			t.Errorf("%v was accepted", o)
		}
	}
	s, err := Create(path).Open(layout)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(context.Background(), tensor.Block{Data: make([]byte, 3)}); err == nil {
		t.Error("a short block was accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Write(ctx, blocks(layout, 1)[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled write: %v", err)
	}
	if err := s.Abort(); err != nil {
		t.Error(err)
	}
	if err := s.Write(context.Background(), blocks(layout, 1)[0]); err == nil {
		t.Error("a block after the end was accepted")
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("after Abort %v is left", left)
	}
	write(t, Create(path), layout, nil)
	if _, err := Create(path).Open(layout); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
	write(t, Create(path, Force()), layout, blocks(layout, 2))
}

// A block is handed back to its pool also where it is refused.
func TestBlocksAreReleased(t *testing.T) {
	s, err := Create(filepath.Join(t.TempDir(), "a.npz")).Open(layout)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Abort() }()
	pool := tensor.NewPool(layout)
	b := pool.Get()
	first := &b.Data[0]
	if err := s.Write(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	if next := pool.Get(); &next.Data[0] != first {
		t.Error("the block was not released")
	}
}

func BenchmarkArchive(b *testing.B) {
	l := tensor.Layout{Shape: tensor.Shape{20, 360, 640}, DType: tensor.Uint8}
	block := tensor.Block{Data: make([]byte, l.Bytes())}
	for range 40_000 {
		block.Data[rand.IntN(len(block.Data))]++
	}
	s, err := Create(filepath.Join(b.TempDir(), "a.npz")).Open(l)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(l.Bytes()))
	for b.Loop() {
		if err := s.Write(context.Background(), block); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "a.npy")
	s, err := Create(path).Open(tensor.Layout{Shape: tensor.Shape{2}, DType: tensor.Uint8})
	if err != nil {
		panic(err)
	}
	for i := range 3 {
		if err := s.Write(context.Background(), tensor.Block{Index: i, Data: []byte{1, 2}}); err != nil {
			panic(err)
		}
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
	raw, _ := os.ReadFile(path)
	fmt.Println(strings.TrimSpace(string(raw[10:128])), raw[128:])
	// Output: {'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), } [1 2 1 2 1 2]
}

// Blocks that say they are zero are holes that read as zeros, also at the end.
func TestZeroBlocks(t *testing.T) {
	l := tensor.Layout{Name: "x", Shape: tensor.Shape{2, 3}, DType: tensor.Uint8}
	for _, name := range []string{"a.npy", "a.npz"} {
		path, want := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), name)
		for _, file := range []string{path, want} {
			s, err := Create(file).Open(l)
			if err != nil {
				t.Fatal(err)
			}
			for i, full := range []bool{false, true, false, true, false, false} {
				b := tensor.Block{Index: i, Shape: l.Shape, DType: l.DType, Data: make([]byte, 6), Zero: !full && file == path}
				if full {
					b.Data[i] = 9
				}
				if err := s.Write(context.Background(), b); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := os.ReadFile(want); err != nil || !bytes.Equal(got, all) {
			t.Errorf("%s: holes read otherwise than zeros: %v", name, err)
		}
	}
}

//go:build hdf5 && cgo

package hdf5

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5/chunk"
	"github.com/evq-project/evq/io/tensor"
	"gonum.org/v1/hdf5"
)

var vga = event.Geometry{Width: 640, Height: 480}

// written writes events to a new file and returns its path.
func written(t testing.TB, b event.Batch, compression string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.h5")
	s, err := Format.Create(path, format.Header{Geometry: vga}, format.CreateOptions{Compression: compression, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < b.Len(); {
		k := min(b.Len()-n, 10_007)
		if err := s.Write(context.Background(), b.Slice(n, n+k)); err != nil {
			t.Fatal(err)
		}
		n += k
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEventsRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, chunkRows - 1, chunkRows, chunkRows + 1, 3*chunkRows + 17} {
		for _, compression := range Compressions {
			want := eventtest.Recording(uint64(n), n, vga)
			path := written(t, want, compression)
			s, err := openTest(t, path, format.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			if s.Geometry() != vga || s.Info().Events != int64(n) {
				t.Errorf("%d events, %s: info %+v", n, compression, s.Info())
			}
			if d := eventtest.Diff(eventtest.Drain(t, s, event.All), want); d != "" {
				t.Errorf("%d events, %s: %s", n, compression, d)
			}
		}
	}
}

// noise returns a block of counts, 1.3 % of them not zero.
func noise(seed uint64, l tensor.Layout) []byte {
	r := rand.New(rand.NewPCG(seed, 3))
	b := make([]byte, l.Bytes())
	for range len(b)*13/1000 + 1 {
		b[r.IntN(len(b))] += byte(1 + r.IntN(8)/6)
	}
	return b
}

// readBlocks reads a dataset of a file, and whether each chunk was written.
func readBlocks(t *testing.T, path, name string, size int) (blocks [][]byte, wrote []bool) {
	t.Helper()
	h, err := hdf5.OpenFile(path, hdf5.F_ACC_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, err := openDataset(h.ID(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer closeDataset(id)
	d, err := inspect(id)
	if err != nil {
		t.Fatal(err)
	}
	dec, err := chunk.NewDecoder(d.filters, d.elem.size, newCZstd())
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.rows {
		stored, mask, err := d.readChunk(i, nil, 2*size+1000)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, size)
		if len(stored) > 0 {
			if err := dec.Decode(b, stored, mask); err != nil {
				t.Fatal(err)
			}
		}
		blocks, wrote = append(blocks, b), append(wrote, len(stored) > 0)
	}
	return blocks, wrote
}

func TestBlocksRoundTrip(t *testing.T) {
	for _, l := range []tensor.Layout{
		{Name: "counts", Shape: tensor.Shape{4, 9, 11}, DType: tensor.Uint8},
		{Name: "stack", Shape: tensor.Shape{3, 5, 7}, DType: tensor.Int8},
		{Name: "grid", Shape: tensor.Shape{5, 120, 160}, DType: tensor.Float32},
		{Name: "last", Shape: tensor.Shape{2, 6, 5}, DType: tensor.Int64},
		{Name: "count", Shape: tensor.Shape{6, 5}, DType: tensor.Uint32},
		{Name: "signed", Shape: tensor.Shape{6}, DType: tensor.Int32},
	} {
		for _, compression := range Compressions {
			t.Run(fmt.Sprint(l.Name, " ", compression), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "out.h5")
				s, err := Create(path, Threads(3), Compression(compression)).Open(l)
				if err != nil {
					t.Fatal(err)
				}
				var want [][]byte
				for i := range 20 {
					b := noise(uint64(i), l)
					if i%7 == 3 {
						clear(b)
					}
					want = append(want, b)
					block := tensor.Block{Index: i, Start: int64(i) * 50, End: int64(i)*50 + 50, Events: 3, Shape: l.Shape, DType: l.DType, Data: b}
					if err := s.Write(context.Background(), block); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := os.Stat(path); err == nil {
					t.Error("the file has its name before Close")
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				got, wrote := readBlocks(t, path, "data", l.Bytes())
				if len(got) != len(want) {
					t.Fatalf("%d blocks, want %d", len(got), len(want))
				}
				for i := range got {
					if !bytes.Equal(got[i], want[i]) || wrote[i] != (i%7 != 3) {
						t.Errorf("block %d differs, or a block of zeros was written (%v)", i, wrote[i])
					}
				}
			})
		}
	}
}

func TestNoBlocks(t *testing.T) {
	l := tensor.Layout{Name: "counts", Shape: tensor.Shape{4, 9, 11}}
	path := filepath.Join(t.TempDir(), "out.h5")
	s, err := Create(path).Open(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := readBlocks(t, path, "data", l.Bytes()); len(got) != 0 {
		t.Errorf("%d blocks", len(got))
	}
}

// parts are three representations, two of them of one name.
var parts = []tensor.Layout{
	{Name: "counts", Shape: tensor.Shape{4, 9, 11}, DType: tensor.Uint8},
	{Name: "surface", Shape: tensor.Shape{2, 30, 40}, DType: tensor.Float32},
	{Name: "counts", Shape: tensor.Shape{6}, DType: tensor.Int32},
}

// writeParts writes n windows; every fifth block of a representation is empty, of another window in each.
func writeParts(t *testing.T, path, compression string, layouts []tensor.Layout, n int) (each [][][]byte) {
	t.Helper()
	s, err := Create(path, Threads(3), Compression(compression)).Open(layouts...)
	if err != nil {
		t.Fatal(err)
	}
	each = make([][][]byte, len(layouts))
	for i := range n {
		for part, l := range layouts {
			b := noise(uint64(10*i+part), l)
			if i%5 == part {
				clear(b)
			}
			each[part] = append(each[part], b)
			block := tensor.Block{Part: part, Index: i, Start: int64(i) * 50, End: int64(i)*50 + 50, Events: int64(i) % 7, Shape: l.Shape, DType: l.DType, Data: b}
			if err := s.Write(context.Background(), block); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return each
}

// Several representations lie side by side, each with its own sparse chunks, and the windows are there once.
func TestSeveralParts(t *testing.T) {
	for _, compression := range Compressions {
		for _, n := range []int{0, 1, 2*extendBy + 3} {
			path := filepath.Join(t.TempDir(), "out.h5")
			each := writeParts(t, path, compression, parts, n)
			for part, name := range []string{"counts", "surface", "counts_2"} {
				l := parts[part]
				got, wrote := readBlocks(t, path, name, l.Bytes())
				if len(got) != n {
					t.Fatalf("%s: %s has %d blocks, want %d", compression, name, len(got), n)
				}
				for i := range got {
					if !bytes.Equal(got[i], each[part][i]) || wrote[i] != (i%5 != part) {
						t.Fatalf("%s: block %d of %s differs, or a block of zeros was written (%v)", compression, i, name, wrote[i])
					}
				}
				b, err := OpenBlocks(path, name)
				if err != nil {
					t.Fatal(err)
				}
				if !b.Layout().Shape.Equal(l.Shape) || b.Layout().DType != l.DType {
					t.Errorf("%s: %v", name, b.Layout())
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
			}
			for name, of := range map[string]func(i int64) int64{
				tensor.WindowStart: func(i int64) int64 { return 50 * i }, tensor.WindowEnd: func(i int64) int64 { return 50*i + 50 },
				tensor.WindowEvents: func(i int64) int64 { return i % 7 },
			} {
				b, err := OpenBlocks(path, name)
				if err != nil || b.Len() != n {
					t.Fatalf("%s: %v, %v", name, b, err)
				}
				var got [8]byte
				for i := range n {
					if err := b.Read(i, got[:]); err != nil || int64(binary.LittleEndian.Uint64(got[:])) != of(int64(i)) {
						t.Fatalf("%s[%d] = %v, want %d (%v)", name, i, got, of(int64(i)), err)
					}
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A window that lacks a block is never completed, and neither is a file of none.
func TestPartsRefuse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.h5")
	for name, layouts := range map[string][]tensor.Layout{
		"none": nil, "an empty one": {parts[0], {Name: "no", Shape: tensor.Shape{0, 3}}}, "a huge one": {parts[0], {Name: "no", Shape: tensor.Shape{1 << 20, 1 << 12}}},
	} {
		if _, err := Create(path).Open(layouts...); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for name, end := range map[string]func(tensor.Sink) error{
		"abort": tensor.Sink.Abort,
		"a window that is not whole": func(s tensor.Sink) error {
			if err := s.Close(); err == nil || !strings.Contains(err.Error(), "window 0 lacks its block of surface") {
				t.Errorf("a window that is not whole: %v", err)
			}
			return nil
		},
	} {
		s, err := Create(path).Open(parts...)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(context.Background(), tensor.Block{Data: noise(1, parts[0])}); err != nil {
			t.Fatal(err)
		}
		if s.Write(context.Background(), tensor.Block{Data: noise(1, parts[0])}) == nil {
			t.Error("the first representation came twice")
		}
		if err := end(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
}

func TestWriteRefusals(t *testing.T) {
	l := tensor.Layout{Name: "counts", Shape: tensor.Shape{2, 3}}
	dir := t.TempDir()
	path := filepath.Join(dir, "out.h5")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path).Open(l); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("an existing file: %v", err)
	}
	if _, err := Create(filepath.Join(dir, "no", "out.h5")).Open(l); err == nil {
		t.Error("a folder that is not there is accepted")
	}
	if _, err := Create(path, Compression("zip"), Force()).Open(l); err == nil {
		t.Error("an unknown compression is accepted")
	}
	if _, err := Create(path, Force()).Open(tensor.Layout{Shape: tensor.Shape{0, 4}}); err == nil {
		t.Error("empty blocks are accepted")
	}
	s, err := Create(path, Force()).Open(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(context.Background(), tensor.Block{Data: make([]byte, 5)}); err == nil {
		t.Error("a block of another size is accepted")
	}
	if err := errors.Join(s.Abort(), s.Abort(), s.Close()); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Error("an aborted file replaced the old one")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := Create(path, Force()).Open(tensor.Layout{Shape: slices.Repeat(tensor.Shape{1}, 32)}); err == nil {
		t.Error("33 dimensions are accepted")
	}
	if s.Write(context.Background(), tensor.Block{Data: make([]byte, 6)}) == nil {
		t.Error("a closed file takes blocks")
	}
	e, err := Format.Create(path, format.Header{}, format.CreateOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if e.Write(context.Background(), event.New([]int64{1}, nil, nil, nil)) == nil {
		t.Error("events without pixels are accepted")
	}
	if err := e.Abort(); err != nil {
		t.Error(err)
	}
}

// A file that lacks a block is never completed.
func TestCancelledWrite(t *testing.T) {
	l := tensor.Layout{Name: "counts", Shape: tensor.Shape{2, 3}}
	path := filepath.Join(t.TempDir(), "out.h5")
	s, err := Create(path).Open(l)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Write(ctx, tensor.Block{Shape: l.Shape, Data: make([]byte, 6)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled write: %v", err)
	}
	if err := s.Close(); !errors.Is(err, context.Canceled) {
		t.Errorf("closing after it: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was completed")
	}
}

// A full disk is an error that names the file, and nothing is left behind.
func TestDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out.h5")
	l := tensor.Layout{Name: "counts", Shape: tensor.Shape{20, 90, 160}}
	for range 2 {
		if err := os.Symlink("/dev/full", atomicfile.TempName(path)); err != nil {
			t.Skip(err)
		}
		s, err := Create(path).Open(l)
		for i := uint64(0); err == nil && i < 50; i++ {
			err = s.Write(context.Background(), tensor.Block{Shape: l.Shape, Data: noise(i, l)})
		}
		if s != nil {
			err = errors.Join(err, s.Close())
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) {
			t.Errorf("a full disk: %v", err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func BenchmarkWriteFrames(b *testing.B) {
	l := tensor.Layout{Name: "stacked_histogram", Shape: tensor.Shape{20, 360, 640}}
	frames := [][]byte{noise(1, l), noise(2, l), noise(3, l), noise(4, l)}
	for _, compression := range []string{"blosc-zstd", "blosc-lz4", "none"} {
		b.Run(compression, func(b *testing.B) {
			s, err := Create(filepath.Join(b.TempDir(), "out.h5"), Compression(compression)).Open(l)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(l.Bytes()))
			i := 0
			for b.Loop() {
				i++
				if err := s.Write(context.Background(), tensor.Block{Shape: l.Shape, Data: frames[i%4]}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkReadEvents(b *testing.B) {
	events := eventtest.Scene(1, 2_000_000, event.Geometry{Width: 1280, Height: 720})
	for _, compression := range []string{"blosc-zstd", "blosc-lz4", "gzip", "none"} {
		b.Run(compression, func(b *testing.B) {
			s, err := openTest(b, written(b, events, compression), format.Policy{OnUnsorted: format.Clamp, OnOffSensor: format.Keep})
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			for b.Loop() {
				st, err := s.Scan(context.Background(), event.All)
				if err != nil {
					b.Fatal(err)
				}
				for {
					batch, err := st.Next(context.Background())
					if err != nil {
						break
					}
					n += batch.Len()
					batch.Release()
				}
				if err := st.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/1e6/b.Elapsed().Seconds(), "Mevents/s")
		})
	}
}

package docs_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/evt3"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/npy"
)

// The files of docs/testdata are what their generator makes.
func TestLab(t *testing.T) {
	dir := t.TempDir()
	writeLab(t, filepath.Join(dir, "lab.raw"))
	writeBoxes(t, filepath.Join(dir, "labels.npy"))
	writeMask(t, filepath.Join(dir, "mask.png"))
	for _, name := range copied {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its generator makes (%v); go test ./docs -run TestLab -update writes it", path, err)
		}
	}
}

// lights are squares of 8 x 8 pixels that go on and off.
var lights = []struct{ x, y, period int }{{16, 8, 20_000}, {40, 32, 8_000}}

// writeLab writes 300 ms of two blinking lights, noise elsewhere, and a trigger every 100 ms.
func writeLab(t *testing.T, path string) {
	t.Helper()
	type one struct {
		t    int64
		x, y uint16
		p    int8
	}
	r := rand.New(rand.NewPCG(1, 78))
	var all []one
	for _, l := range lights {
		for at := 0; at < 300_000; at += l.period / 2 {
			for i := range 64 {
				p := int8(1 - at/(l.period/2)%2)
				all = append(all, one{int64(at + r.IntN(200)), uint16(l.x + i%8), uint16(l.y + i/8), p})
			}
		}
	}
	for range 600 {
		x, y := r.IntN(64), r.IntN(48)
		if !lit(x, y) {
			all = append(all, one{r.Int64N(300_000), uint16(x), uint16(y), int8(r.IntN(2))})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].t < all[j].t })
	events := event.NewBuffer(len(all))
	for _, e := range all {
		events.Append(e.t, e.x, e.y, e.p)
	}
	var triggers []event.Trigger
	for at := int64(50_000); at < 300_000; at += 100_000 {
		triggers = append(triggers, event.Trigger{T: at, Rising: true}, event.Trigger{T: at + 1000})
	}
	sink, err := evt3.Format.Create(path, format.Header{Geometry: event.Geometry{Width: 64, Height: 48}}, format.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.WriteTriggers(triggers); err != nil {
		t.Fatal(err)
	}
	if err := sink.Write(context.Background(), events.Batch()); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// lit reports whether a pixel belongs to a light.
func lit(x, y int) bool {
	for _, l := range lights {
		if x >= l.x && x < l.x+8 && y >= l.y && y < l.y+8 {
			return true
		}
	}
	return false
}

// writeBoxes writes labels: the first light at 100 ms, both at 200 ms.
func writeBoxes(t *testing.T, path string) {
	t.Helper()
	var b bytes.Buffer
	w := func(v uint64, size int) {
		for range size {
			b.WriteByte(byte(v))
			v >>= 8
		}
	}
	const header = "{'descr': [('t', '<i8'), ('x', '<u2'), ('y', '<u2'), ('w', '<u2'), ('h', '<u2'), ('class_id', '|u1')], 'fortran_order': False, 'shape': (3,), }"
	b.WriteString("\x93NUMPY\x01\x00")
	length := (10+len(header)+64)/64*64 - 10
	w(uint64(length), 2)
	b.WriteString(header)
	for b.Len() < 10+length-1 {
		b.WriteByte(' ')
	}
	b.WriteByte('\n')
	for _, box := range [][2]int{{100_000, 0}, {200_000, 0}, {200_000, 1}} {
		w(uint64(box[0]), 8)
		l := lights[box[1]]
		for _, v := range []int{l.x, l.y, 8, 8} {
			w(uint64(v), 2)
		}
		w(uint64(box[1]), 1)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if table, err := npy.ReadTable(path); err != nil || table.Len() != 3 {
		t.Fatalf("labels: %v", err)
	}
}

// writeMask draws the pixels of the lights.
func writeMask(t *testing.T, path string) {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 64, 48))
	for y := range 48 {
		for x := range 64 {
			if lit(x, y) {
				m.SetGray(x, y, color.Gray{Y: 255})
			}
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

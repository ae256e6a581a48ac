package rvt

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/io/tensor"
)

// writeFrames writes frames of a layout whose elements count up, with one exception in a window.
func writeFrames(t *testing.T, path string, n int, l tensor.Layout, window, at int) {
	t.Helper()
	sink, err := hdf5.Create(path, hdf5.Force()).Open(l)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		data := make([]byte, l.Bytes())
		for k := range data {
			data[k] = byte(k % 200)
		}
		if i == window {
			data[at*l.DType.Size()] ^= 0x80
		}
		if err := sink.Write(context.Background(), tensor.Block{Index: i, Shape: l.Shape, DType: l.DType, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCheckNamesThePlace plants one difference at a time in a tree and wants it named.
func TestCheckNamesThePlace(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	base := must(t, rec, o)
	frames, _ := filepath.Rel(o.Out, base.Frames)
	l := tensor.Layout{Shape: tensor.Shape{20, 48, 64}, DType: tensor.Uint8}
	writeFrames(t, base.Frames, 17, l, -1, 0)

	in := func(t *testing.T, out string, f ...string) string {
		return filepath.Join(append([]string{out}, f...)...)
	}
	for name, c := range map[string]struct {
		plant func(out string) error
		want  string
	}{
		"nothing": {func(string) error { return nil }, "equal"},
		"an element": {func(out string) error {
			writeFrames(t, in(t, out, frames), 17, l, 3, (7*48+12)*64+33)
			return nil
		}, frames + ": window 3, channel 7, row 12, column 33: "},
		"a frame less": {func(out string) error { writeFrames(t, in(t, out, frames), 16, l, -1, 0); return nil },
			frames + ": shape: (17, 20, 48, 64) in a, (16, 20, 48, 64) in b"},
		"a type": {func(out string) error {
			l := l
			l.DType = tensor.Int8
			writeFrames(t, in(t, out, frames), 17, l, -1, 0)
			return nil
		}, frames + ": type: uint8 in a, int8 in b"},
		"a time": {func(out string) error {
			ends := must1(npy.ReadInts(in(t, out, filepath.Dir(frames), timesFile)))
			ends[4]++
			return npy.WriteInts(in(t, out, filepath.Dir(frames), timesFile), ends, npy.Force())
		}, timesFile + ": [4]: 300000 in a, 300001 in b"},
		"a time less": {func(out string) error {
			return npy.WriteInts(in(t, out, labelsFolder, timesFile), []int64{1}, npy.Force())
		}, filepath.Join(labelsFolder, timesFile) + ": shape: (5,) in a, (1,) in b"},
		"a label": {func(out string) error {
			labels := must1(ReadLabels(o.Labels))
			labels[2].X += 0.5
			kept, _, err := must1(o.complete(rec)).filter().Apply(labels)
			if err != nil {
				return err
			}
			return WriteLabels(in(t, out, labelsFolder), must1(NewGrid(kept, GridOptions{})).Frames, true)
		}, labelsFile + ": labels[2].x: 10 in a, 10.5 in b"},
		"another array": {func(out string) error {
			return npy.WriteArchive(in(t, out, labelsFolder, labelsFile), []npy.Member{{Name: "labels", Array: npy.Ints{1}}}, npy.Force())
		}, labelsFile + ": arrays: labels objframe_idx_2_label_idx in a, labels in b"},
		"a file less": {func(out string) error { return os.Remove(in(t, out, labelsFolder, timesFile)) },
			filepath.Join(labelsFolder, timesFile) + ": only in a"},
		"a file more": {func(out string) error { return os.WriteFile(in(t, out, "more.txt"), nil, 0o600) }, "more.txt: only in b"},
		"a manifest":  {func(out string) error { return os.WriteFile(in(t, out, manifestFile), nil, 0o600) }, "equal"},
	} {
		t.Run(name, func(t *testing.T) {
			other := t.TempDir()
			if err := os.CopyFS(filepath.Join(other, "out"), os.DirFS(o.Out)); err != nil {
				t.Fatal(err)
			}
			if err := c.plant(filepath.Join(other, "out")); err != nil {
				t.Fatal(err)
			}
			d, err := Check(context.Background(), o.Out, filepath.Join(other, "out"))
			if err != nil || !strings.Contains(d.String(), c.want) {
				t.Errorf("%v, %v; want %q", d, err, c.want)
			}
		})
	}
	if d, err := Check(context.Background(), base.Frames, base.Frames); err != nil || !d.Equal() || d.Compared != 17*20*48*64 {
		t.Errorf("one file: %v, %v", d, err)
	}
	if _, err := Check(context.Background(), base.Frames, o.Out); err == nil {
		t.Error("a file and a folder were compared")
	}
}

// TestCheckCounts: every element that differs is counted, and the first window is named whatever the order.
func TestCheckCounts(t *testing.T) {
	needHDF5(t)
	l := tensor.Layout{Shape: tensor.Shape{4, 5}, DType: tensor.Float32}
	a, b := filepath.Join(t.TempDir(), "a.h5"), filepath.Join(t.TempDir(), "b.h5")
	writeFrames(t, a, 100, l, 40, 7)
	writeFrames(t, b, 100, l, 60, 9)
	d, err := Check(context.Background(), a, b)
	if err != nil || d.Elements != 2 || !strings.HasPrefix(d.String(), "window 40, row 1, column 2: ") || d.Compared != 2000 {
		t.Errorf("%v, %v", d, err)
	}
}

// TestCheckIntegerTypes: integers of another width or sign are compared by value, fields by name; what has no
// values to compare is told by its type.
func TestCheckIntegerTypes(t *testing.T) {
	archive := func(columns ...npy.Column) string {
		path := filepath.Join(t.TempDir(), "labels.npz")
		if err := npy.WriteArchive(path, []npy.Member{{Name: "labels", Array: must1(npy.NewTable(columns...))}}); err != nil {
			t.Fatal(err)
		}
		return path
	}
	x := npy.Column{Name: "x", Values: []float32{0.5, 1.5}}
	a := archive(npy.Column{Name: "t", Values: []int64{5, 6}}, x)
	for name, c := range map[string]struct{ b, want string }{
		"unsigned":        {archive(npy.Column{Name: "t", Values: []uint64{5, 6}}, x), "equal"},
		"narrow":          {archive(npy.Column{Name: "t", Values: []uint8{5, 6}}, x), "equal"},
		"another value":   {archive(npy.Column{Name: "t", Values: []uint64{5, 7}}, x), "labels[1].t: 6 in a, 7 in b"},
		"beyond an int64": {archive(npy.Column{Name: "t", Values: []uint64{5, 1 << 63}}, x), "labels type: [('t','<i8'),('x','<f4')] in a, [('t','<u8'),('x','<f4')] in b"},
		"another name":    {archive(npy.Column{Name: "ts", Values: []int64{5, 6}}, x), "labels type: [('t','<i8'),('x','<f4')] in a, [('ts','<i8')"},
		"a field less":    {archive(npy.Column{Name: "t", Values: []uint64{5, 6}}), "labels type: "},
		"whole floats":    {archive(npy.Column{Name: "t", Values: []float64{5, 6}}, x), "labels type: "},
		"a record less":   {archive(npy.Column{Name: "t", Values: []uint64{5}}, npy.Column{Name: "x", Values: []float32{0.5}}), "labels shape: (2,) in a, (1,) in b"},
	} {
		if d, err := Check(context.Background(), a, c.b); err != nil || !strings.Contains(d.String(), c.want) {
			t.Errorf("%s: %v, %v; want %q", name, d, err, c.want)
		}
	}
	// Lists of integers likewise: the header says i4, and each value has half its bytes.
	wide, narrow := filepath.Join(t.TempDir(), "a.npy"), filepath.Join(t.TempDir(), "b.npy")
	if err := npy.WriteInts(wide, []int64{7, 9}); err != nil {
		t.Fatal(err)
	}
	b := must1(os.ReadFile(wide))
	head := strings.Replace(string(b[:len(b)-16]), "<i8", "<u4", 1)
	for last, want := range map[byte]string{9: "equal", 8: "[1]: 9 in a, 8 in b"} {
		if err := os.WriteFile(narrow, append([]byte(head), 7, 0, 0, 0, last, 0, 0, 0), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := Check(context.Background(), wide, narrow); err != nil || d.String() != want {
			t.Errorf("%v, %v; want %q", d, err, want)
		}
	}
}

package rvt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/synth"
)

// small is a sensor on which tests are quick.
var small = event.Geometry{Width: 64, Height: 48}

// needHDF5 skips where evq is built without it.
func needHDF5(t testing.TB) {
	t.Helper()
	if _, err := hdf5.OpenBlocks("nowhere", "data"); errors.Is(err, hdf5.ErrNotBuilt) {
		t.Skip(err)
	}
}

// record writes a recording.
func record(t testing.TB, path string, src event.Source) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Convert(context.Background(), src, path, engine.Force()); err != nil {
		t.Fatal(err)
	}
}

// scene is a recording of 2 s on the small sensor.
func scene(t testing.TB, seed uint64) event.Source {
	t.Helper()
	src, err := synth.New(synth.Options{Seed: seed, Events: 30_000, Duration: 2 * time.Second, Size: small})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// writeLabels writes a label file as the data sets have them: records of 40 bytes.
func writeLabels(t testing.TB, path string, labels Labels) {
	t.Helper()
	text := fmt.Sprintf("{'descr': [('t', '<i8'), ('x', '<f4'), ('y', '<f4'), ('w', '<f4'), ('h', '<f4'), ('class_id', '<u4'), "+
		"('track_id', '<u4'), ('class_confidence', '<f4'), ('', '|V4')], 'fortran_order': False, 'shape': (%d,), }", len(labels))
	for (len(text)+11)%64 != 0 {
		text += " "
	}
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(text)+1), byte((len(text)+1)>>8))
	b = append(append(b, text...), '\n')
	for _, l := range labels {
		b = binary.LittleEndian.AppendUint64(b, uint64(l.T))
		for _, v := range []float32{l.X, l.Y, l.W, l.H} {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		for _, v := range []uint32{l.ClassID, l.TrackID, math.Float32bits(l.Confidence), 0} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// boxes are labels for gen1, one every 250 ms from half a second to a second and a half, and a tiny one.
func boxes() Labels {
	var l Labels
	for i := range int64(5) {
		l = append(l, Label{T: 500_000 + i*250_000, X: 10, Y: 20, W: 40, H: 30 + float32(i), ClassID: uint32(i % 2), TrackID: 7, Confidence: 1})
	}
	return append(l, Label{T: 1_500_000, X: 1, Y: 1, W: 3, H: 3})
}

// sequenceOf2s writes a recording and its labels and returns the options that make its tree.
func sequenceOf2s(t testing.TB, dir, name string, seed uint64) (rec string, o Options) {
	t.Helper()
	rec = filepath.Join(dir, name+"_td.dat.h5")
	record(t, rec, scene(t, seed))
	o = Options{Labels: filepath.Join(dir, name+labelsSuffix), Size: small, Out: filepath.Join(t.TempDir(), "out", name)}
	writeLabels(t, o.Labels, boxes())
	return rec, o
}

func must(t testing.TB, rec string, o Options) Result {
	t.Helper()
	r, err := Sequence(context.Background(), rec, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// entries lists everything below a folder, files and folders, that has a name.
func entries(t testing.TB, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if path != root {
			out = append(out, filepath.ToSlash(path[len(root)+1:]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// equalTrees holds two trees to have the same elements.
func equalTrees(t testing.TB, a, b string) {
	t.Helper()
	d, err := Check(context.Background(), a, b)
	if err != nil || !d.Equal() {
		t.Errorf("%s and %s: %v, %v", a, b, d, err)
	}
}

// flip changes the byte of a file at a place.
func flip(t testing.TB, path string, at int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if at < 0 {
		at += int64(len(b))
	}
	b[at] ^= 0x40
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// ticks is an event every millisecond of four seconds, walking over the sensor.
func ticks(g event.Geometry) event.Source {
	b := event.NewBuffer(4000)
	for i := range 4000 {
		b.Append(int64(i)*1000, uint16(i%g.Width), uint16(i%g.Height), int8(i%2))
	}
	return eventtest.Source(b.Batch(), g, 1000)
}

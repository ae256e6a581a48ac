package rvt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/udf/mixeddensity"
	"github.com/evq-project/evq/udf/stackedhist"
)

// TestSequenceTree holds the tree to the names, shapes and contents that RVT's loader wants.
func TestSequenceTree(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	r := must(t, rec, o)
	want := []string{
		"event_representations_v2", "event_representations_v2/stacked_histogram_dt=50_nbins=10",
		"event_representations_v2/stacked_histogram_dt=50_nbins=10/event_representations.h5",
		"event_representations_v2/stacked_histogram_dt=50_nbins=10/objframe_idx_2_repr_idx.npy",
		"event_representations_v2/stacked_histogram_dt=50_nbins=10/timestamps_us.npy",
		"labels_v2", "labels_v2/labels.npz", "labels_v2/timestamps_us.npy", "manifest.json",
	}
	if got := entries(t, o.Out); !slices.Equal(got, want) {
		t.Errorf("the tree holds\n%s", strings.Join(got, "\n"))
	}
	if r.Windows != 17 || !slices.Equal(r.Shape, []int{17, 20, 48, 64}) || r.Moments != 5 || *r.Labels != (Tally{Read: 6, Size: 1, Kept: 5}) || r.Existing || r.Skipped != "" {
		t.Errorf("%+v, labels %v", r, r.Labels)
	}
	ends, err := npy.ReadInts(filepath.Join(filepath.Dir(r.Frames), timesFile))
	if err != nil || len(ends) != 17 || ends[16] != 1_500_000 {
		t.Errorf("%d, %v", ends, err)
	}
	m, err := ReadManifest(o.Out)
	if err != nil || len(m.Outputs) != 1 || m.Outputs[newTree(must1(o.complete(rec))).frames].Report.Events == 0 {
		t.Errorf("%+v, %v", m, err)
	}
	if err := Verify(context.Background(), o.Out, 2); err != nil {
		t.Error(err)
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestSequenceLabelGoldens makes the tree of each golden label file and compares labels, grid and map.
func TestSequenceLabelGoldens(t *testing.T) {
	needHDF5(t)
	dir, rows := goldenRows(t)
	recordings := map[Dataset]string{}
	for _, d := range []Dataset{Gen1, Gen4} {
		recordings[d] = filepath.Join(t.TempDir(), "ticks_td.h5")
		record(t, recordings[d], ticks(d.Geometry()))
	}
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			o := Options{Dataset: must1(ParseDataset(row.Dataset)), Labels: filepath.Join(dir, row.Name+labelsSuffix), Psee: &row.Psee, Faulty: &row.Faulty,
				Out: filepath.Join(t.TempDir(), row.Name)}
			split := must1(ParseSplit(row.Split))
			o.Split = &split
			r, err := Sequence(context.Background(), recordings[o.Dataset], o)
			if row.Outcome != "" {
				var refused *RefusalError
				if none := row.Outcome == "no labels left"; none && r.Skipped == "" || !none && !errors.As(err, &refused) {
					t.Errorf("%+v, %v; RVT: %s", r, err, row.Outcome)
				}
				if got := entries(t, o.Out); len(got) > 0 {
					t.Errorf("made %v", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := filepath.Join(dir, row.Name+"_expected.npz")
			frames, labels := filepath.Dir(r.Frames), filepath.Join(o.Out, labelsFolder)
			for name, file := range map[string]string{
				"grid": filepath.Join(frames, timesFile), "objframe_idx_2_repr_idx": filepath.Join(frames, indexFile),
				"frame_timestamps_us": filepath.Join(labels, timesFile),
			} {
				if got := must1(npy.ReadInts(file)); !slices.Equal(got, must1(npy.ReadIntsIn(want, name))) {
					t.Errorf("%s: %d", name, got)
				}
			}
			var d Difference
			if err := d.tables("", "labels", arrayIn(want, "labels"), arrayIn(filepath.Join(labels, labelsFile), "labels"), "", ""); err != nil || !d.Equal() {
				t.Errorf("labels: %v, %v", d, err)
			}
		})
	}
}

// A goldenFrames row is frames that RVT's own code made.
type goldenFrames struct {
	Name, Input, Dataset, Representation, Window, SHA256 string
	Height, Width, NBins, Downsample                     int
	Cutoff                                               *int
}

// TestSequenceFrameGoldens makes each golden's frames and compares their elements, read back from the file.
func TestSequenceFrameGoldens(t *testing.T) {
	needHDF5(t)
	data := eventtest.Data(t)
	var all struct{ Representations []goldenFrames }
	if err := json.Unmarshal(must1(os.ReadFile(filepath.Join(data, "rvt_golden", "GOLDEN.json"))), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Representations) < 12 {
		t.Fatalf("%d goldens", len(all.Representations))
	}
	for _, g := range all.Representations {
		t.Run(g.Name, func(t *testing.T) {
			input := filepath.Join(data, "rvt_golden", g.Input)
			if _, err := os.Stat(input); err != nil {
				input = filepath.Join(data, "h5_derived", g.Input)
			}
			o := Options{Dataset: must1(ParseDataset(g.Dataset)), Out: t.TempDir(), Downsample: g.Downsample,
				Size: event.Geometry{Width: g.Width, Height: g.Height},
				Span: must1(time.ParseDuration(strings.ReplaceAll(g.Window, " ", ""))),
				Ends: must1(npy.ReadIntsIn(filepath.Join(data, "rvt_golden", g.Name+".npz"), "grid"))}
			cutoff := 0
			if g.Cutoff != nil {
				cutoff = *g.Cutoff
			}
			if o.Representation = (stackedhist.Histogram{Bins: g.NBins, Cutoff: cutoff, Overflow: stackedhist.Wrapping}); g.Representation == "mixed_density" {
				o.Representation = mixeddensity.Stack{Bins: g.NBins, Cutoff: cutoff}
			}
			r := must(t, input, o)
			if got := frameSum(t, r.Frames); got != g.SHA256 {
				t.Errorf("sha256 %s, want %s", got, g.SHA256)
			}
		})
	}
}

// frameSum is the sha256 of all frames as one array.
func frameSum(t *testing.T, path string) string {
	t.Helper()
	b, err := hdf5.OpenBlocks(path, framesData)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	h := sha256.New()
	frame := make([]byte, b.Layout().Bytes())
	for i := range b.Len() {
		if err := b.Read(i, frame); err != nil {
			t.Fatal(err)
		}
		h.Write(frame)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestSequenceClampsTime: a step back in time is levelled, never sorted, as RVT's reader does.
func TestSequenceClampsTime(t *testing.T) {
	needHDF5(t)
	b := event.NewBuffer(4)
	for i, at := range []int64{1_000_000, 2_000_000, 1_000_001, 2_000_005} {
		b.Append(at, uint16(i), 0, 1)
	}
	rec := filepath.Join(t.TempDir(), "a_td.h5")
	record(t, rec, eventtest.Source(b.Batch(), small, 4))
	h5 := must(t, rec, Options{Ends: []int64{1_000_100, 2_000_000, 2_000_005}, Size: small, Out: t.TempDir()})
	blocks := must1(hdf5.OpenBlocks(h5.Frames, framesData))
	defer func() { _ = blocks.Close() }()
	for window, want := range []int{1, 2, 3} { // the clamped event is in the windows of 2 s
		frame := make([]byte, blocks.Layout().Bytes())
		if err := blocks.Read(window, frame); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, v := range frame {
			sum += int(v)
		}
		if sum != want {
			t.Errorf("window %d holds %d events, want %d", window, sum, want)
		}
	}
}

// TestSequenceWindows: by count, every so often, beyond the recording, of other files.
func TestSequenceWindows(t *testing.T) {
	needHDF5(t)
	rec, labels := sequenceOf2s(t, t.TempDir(), "a", 2)
	base := Options{Size: small}
	out := func(o Options) Options { o.Out = filepath.Join(t.TempDir(), "x"); return o }

	o := out(base)
	o.Every = 50 * time.Millisecond
	if r := must(t, rec, o); r.Windows != 40 || len(r.Warnings) > 0 {
		t.Errorf("every 50 ms: %+v", r)
	}
	store := filepath.Join(t.TempDir(), "a.parquet")
	record(t, store, scene(t, 2))
	p := out(o)
	must(t, store, p)
	equalTrees(t, o.Out, p.Out)

	o = out(base)
	o.Ends, o.Count = []int64{-5, 1_000_000, 9_000_000}, 500
	r := must(t, rec, o)
	if r.Empty != 1 || !strings.Contains(r.Frames, "stacked_histogram_ne=500_nbins=10") || len(r.Warnings) != 2 {
		t.Errorf("count: %+v", r)
	}
	o = out(base)
	o.EndsFile, o.Dataset = filepath.Join(t.TempDir(), "ends.npy"), Gen4
	if err := npy.WriteInts(o.EndsFile, []int64{100_000, 200_000}); err != nil {
		t.Fatal(err)
	}
	if r := must(t, rec, o); !slices.Equal(r.Shape, []int{2, 20, 24, 32}) || !strings.HasSuffix(r.Frames, "event_representations_ds2_nearest.h5") {
		t.Errorf("gen4: %+v", r)
	}

	labels.Size = event.Geometry{}
	if _, err := Sequence(context.Background(), rec, labels); !errors.Is(err, ErrSize) {
		t.Errorf("a recording of 64x48: %v", err)
	}
}

func TestSequenceOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "no output folder"},
		{Options{Out: "x"}, "0 of these are set"},
		{Options{Out: "x", Labels: "l", Every: 1}, "2 of these are set"},
		{Options{Out: "x", Labels: "l", Span: 1, Count: 1}, "whole microseconds"},
		{Options{Out: "x", Labels: "l", Span: time.Second, Count: 1}, "set one"},
		{Options{Out: "x", Labels: "l", Downsample: 3}, "1 and 2"},
		{Options{Out: "x", Labels: "l", Dataset: 9}, "no name"},
	} {
		_, err := Sequence(context.Background(), "nowhere", c.o)
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	if _, err := Sequence(context.Background(), "nowhere", Options{Out: t.TempDir(), Labels: "l"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no recording: %v", err)
	}
}

func TestName(t *testing.T) {
	h, s := stackedhist.Histogram{Bins: 5, Downsample: 2}, mixeddensity.Stack{Bins: 10, Cutoff: 32}
	for want, got := range map[string]string{
		"stacked_histogram_dt=50_nbins=5":             Name(h, 50*time.Millisecond, 0),
		"stacked_histogram_ne=50000_nbins=5":          Name(h, 0, 50000),
		"stacked_histogram_dt=2.5_nbins=5":            Name(h, 2500*time.Microsecond, 0),
		"mixeddensity_stack_dt=50_nbins=10_cutoff=32": Name(s, 50*time.Millisecond, 0),
		"mixeddensity_stack_dt=50_nbins=10":           Name(mixeddensity.Stack{Bins: 10}, 50*time.Millisecond, 0),
		"event_representations_ds2_nearest.h5":        framesName(h),
		"event_representations.h5":                    framesName(s),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

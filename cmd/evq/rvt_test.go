package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/npy"
)

// needHDF5 skips a test that makes frames where this build cannot.
func needHDF5(t *testing.T) {
	t.Helper()
	if !hdf5Built {
		t.Skip(hdf5.ErrNotBuilt)
	}
}

// gen1Labels are boxes four times a second from 0.5 s to 1 s.
func gen1Labels() rvt.Labels {
	var out rvt.Labels
	for t := int64(500_000); t <= 1_000_000; t += 250_000 {
		out = append(out, rvt.Label{T: t, X: 20, Y: 30, W: 60, H: 40, ClassID: 1, Confidence: 1})
	}
	return out
}

// sequence makes a second of a gen1 recording and its labels in a folder, and returns the recording.
func sequence(t *testing.T, dir, name string, labels rvt.Labels) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if labels != nil {
		if err := os.WriteFile(filepath.Join(dir, name+"_bbox.npy"), labelFile(labels), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rec := filepath.Join(dir, name+"_td.raw")
	must(t, 0, "bench", "generate", "-o", rec, "--events", "20k", "--seconds", "1", "--size", "304x240")
	return rec
}

// A tree is made once, left alone when it is whole, and made anew when that is asked for.
func TestRVTSequence(t *testing.T) {
	needHDF5(t)
	rec := sequence(t, filepath.Join(t.TempDir(), "val"), "a", gen1Labels())
	out := filepath.Join(t.TempDir(), "a")
	args := []string{"rvt", "sequence", rec, "--dataset", "gen1", "-o", out}
	// 0.1 to 0.45 s before the first frame, and from there every 125 ms.
	r := must(t, 0, append(args, "--verify")...)
	has(t, r.errOut, out+": 13 windows of 20x240x304, 0 empty, 20,000 events read, 3 frames (3 of 3 labels kept)")
	has(t, r.errOut, "1 of 13 windows end after the last event")
	if r.out != "" || strings.Count(r.errOut, "\n") != 2 {
		t.Errorf("%q, %q", r.out, r.errOut)
	}
	frames := filepath.Join(out, "event_representations_v2", "stacked_histogram_dt=50_nbins=10", "event_representations.h5")
	before, err := os.Stat(frames)
	if err != nil {
		t.Fatal(err)
	}
	has(t, must(t, 0, args...).errOut, "whole already")
	if now, err := os.Stat(frames); err != nil || now.ModTime() != before.ModTime() {
		t.Errorf("it was made anew: %v", err)
	}
	has(t, must(t, exitFailed, append(args, "--grid", "50ms")...).errOut, "evq: ", "--force")
	has(t, must(t, 0, append(args, "--grid", "50ms", "--force")...).errOut, "19 windows")
	if got := eventtest.Names(t, out); !slices.Equal(got, []string{"event_representations_v2", "labels_v2", "manifest.json"}) {
		t.Errorf("the folder holds %v", got)
	}
}

// The settings of RVT are flags: other representations, windows by counts, sizes, grids without labels.
func TestRVTSettings(t *testing.T) {
	needHDF5(t)
	rec := sequence(t, t.TempDir(), "a", gen1Labels())
	for _, c := range []struct {
		args  []string
		file  string
		shape []int
	}{
		{[]string{"--repr", "mixed_density"}, "mixeddensity_stack_dt=50_nbins=10_cutoff=32/event_representations.h5", []int{13, 10, 240, 304}},
		{[]string{"--repr", "mixed_density:cutoff=none", "--count", "5k"}, "mixeddensity_stack_ne=5000_nbins=10/event_representations.h5", []int{13, 10, 240, 304}},
		{[]string{"--downsample", "2"}, "stacked_histogram_dt=50_nbins=10/event_representations_ds2_nearest.h5", []int{13, 20, 120, 152}},
		{[]string{"--repr", "stacked_histogram:bins=3", "--span", "20ms"}, "stacked_histogram_dt=20_nbins=3/event_representations.h5", []int{13, 6, 240, 304}},
		{[]string{"--step", "100ms"}, "stacked_histogram_dt=50_nbins=10/event_representations.h5", []int{6, 20, 240, 304}},
		{[]string{"--align", "600ms"}, "stacked_histogram_dt=50_nbins=10/event_representations.h5", []int{16, 20, 240, 304}},
		{[]string{"--every", "250ms"}, "stacked_histogram_dt=50_nbins=10/event_representations.h5", []int{4, 20, 240, 304}},
		{[]string{"--compression", "none"}, "stacked_histogram_dt=50_nbins=10/event_representations.h5", []int{13, 20, 240, 304}},
	} {
		out := t.TempDir()
		r := must(t, 0, append([]string{"rvt", "sequence", rec, "--dataset", "gen1", "-o", out, "--json"}, c.args...)...)
		var got sequenceReport
		if err := json.Unmarshal([]byte(r.out), &got); err != nil {
			t.Fatal(err)
		}
		if got.Frames != filepath.Join(out, "event_representations_v2", filepath.FromSlash(c.file)) || !slices.Equal(got.Shape, c.shape) || got.Status != rvt.Made {
			t.Errorf("%v: %+v", c.args, got)
		}
		if _, err := os.Stat(got.Frames); err != nil {
			t.Error(err)
		}
	}
}

// What the dry run says is what is made, and it makes nothing.
func TestRVTDryRun(t *testing.T) {
	rec := sequence(t, t.TempDir(), "a", gen1Labels())
	out := filepath.Join(t.TempDir(), "a")
	r := must(t, 0, "rvt", "sequence", rec, "--dataset", "gen1", "-o", out, "--dry-run")
	has(t, r.out, "would make "+out, "13 windows, 3 frames (3 of 3 labels kept)")
	if _, err := os.Stat(out); err == nil {
		t.Error("there is a folder")
	}
}

// Labels that leave nothing to do, and those of rates that RVT refuses, are said in so many words.
func TestRVTLabelsRefused(t *testing.T) {
	small := gen1Labels()
	for i := range small {
		small[i].W = 3
	}
	out := filepath.Join(t.TempDir(), "out")
	run := func(code int, labels rvt.Labels, args ...string) result {
		rec := sequence(t, t.TempDir(), "a", labels)
		return must(t, code, append([]string{"rvt", "sequence", rec, "-o", out}, args...)...)
	}
	has(t, run(exitLosses, small, "--dataset", "gen1").errOut, "no label left", "3 too small")
	has(t, run(exitLosses, rvt.Labels{}, "--dataset", "gen1").errOut, "no label left of 0 labels")
	has(t, run(exitFailed, gen1Labels(), "--dataset", "gen4", "--size", "1280x720").errOut, "30 or 60 Hz", "--grid 50ms")
	has(t, run(exitFailed, gen1Labels(), "--dataset", "gen4", "--every", "50ms").errOut, "304x240", "--size")
	has(t, run(exitUsage, nil, "--dataset", "gen1").errOut, "expected", "a_bbox.npy", "--every 50ms")
	if _, err := os.Stat(out); err == nil {
		t.Error("there is a folder")
	}
}

// Events off the sensor mark a window's bins and are said; where they are dropped, they are lost.
func TestRVTOffSensor(t *testing.T) {
	needHDF5(t)
	rec := write(t, "a.parquet", event.Geometry{Width: 304, Height: 240}, nil, grid(1000, 0, 50, 304, 240), one(49_999, 400, 3, 1))
	must(t, exitUsage, "rvt", "sequence", rec, "--dataset", "gen1", "-o", t.TempDir())
	args := []string{"rvt", "sequence", rec, "--dataset", "gen1", "--every", "50ms", "--json", "-o"}
	r := must(t, 0, append(args, t.TempDir())...)
	has(t, r.out, `"events_off_sensor": 1`, "have no pixel")
	has(t, r.errOut, "1 event lay off the sensor")
	has(t, must(t, exitLosses, append(args, t.TempDir(), "--on-offsensor", "drop")...).errOut, "lost 1 off the sensor")
}

// Windows of the last n events are the same by either verb.
func TestEndsCount(t *testing.T) {
	needHDF5(t)
	rec := sequence(t, t.TempDir(), "a", gen1Labels())
	dir := t.TempDir()
	ends := filepath.Join(dir, "grid.npy")
	must(t, 0, "rvt", "grid", filepath.Join(filepath.Dir(rec), "a_bbox.npy"), "--dataset", "gen1", "-o", ends)
	var s sequenceReport
	r := must(t, 0, "rvt", "sequence", rec, "--dataset", "gen1", "--ends", ends, "--count", "5k", "-o", filepath.Join(dir, "tree"), "--json")
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		t.Fatal(err)
	}
	rep := "stacked_histogram:overflow=wrap"
	policies := []string{"--on-unsorted", "clamp", "--on-offsensor", "keep"}
	h5 := filepath.Join(dir, "rep.h5")
	must(t, 0, append([]string{"tensor", rec, "--ends", ends, "--count", "5k", "--repr", rep, "-o", h5}, policies...)...)
	has(t, must(t, 0, "rvt", "check", s.Frames, h5).out, "equal; 18,969,600 elements")
	must(t, 0, append([]string{"tensor", rec, "--ends", ends, "--count", "4k", "--repr", rep, "-o", h5, "--force"}, policies...)...)
	has(t, must(t, exitFailed, "rvt", "check", s.Frames, h5).out, "window ", "channel ", "row ", "column ", "in a", "in b")
}

// One bad sequence does not stop the rest, and is in the table; what was made is left alone.
func TestRVTDataset(t *testing.T) {
	needHDF5(t)
	in := t.TempDir()
	sequence(t, filepath.Join(in, "train"), "good", gen1Labels())
	sequence(t, filepath.Join(in, "val"), "good", gen1Labels())
	bad := sequence(t, filepath.Join(in, "val"), "bad", gen1Labels())
	if err := os.WriteFile(bad, []byte("no recording at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	sequence(t, filepath.Join(in, "val"), "empty", rvt.Labels{})
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"rvt", "dataset", in, "--dataset", "gen1", "-o", out, "--log-level", "error"}

	has(t, must(t, exitLosses, append(args, "--dry-run")...).out, "train/good: would make", "13 windows", "val/empty: skipped: no label left")
	if _, err := os.Stat(out); err == nil {
		t.Error("the dry run made a folder")
	}
	r := must(t, exitLosses, append(args, "--jobs", "2", "--progress", "on")...)
	has(t, r.errOut, "train/good: 13 windows of 20x240x304", "val/good: 13 windows", "val/empty: skipped: no label left",
		"evq: val/bad: failed: ", "failed: 1 sequence\n  val/bad  ", "4 sequences: 2 made, 1 skipped, 1 failed; 26 windows, 0 empty, 40,000 events; 9 labels: 9 kept", "of 4 sequences")
	must(t, 0, "rvt", "check", filepath.Join(out, "train", "good"), filepath.Join(out, "val", "good"))

	var d datasetReport
	r = must(t, exitLosses, append(args, "--json")...)
	if err := json.Unmarshal([]byte(r.out), &d); err != nil {
		t.Fatal(err)
	}
	if d.Count[rvt.Existing] != 2 || d.Count[rvt.Failed] != 1 || d.Windows != 26 || len(d.Sequences) != 4 || d.Sequences[1].Reason == "" {
		t.Errorf("%+v", d)
	}
	has(t, must(t, 0, append(args, "--split", "train")...).errOut, "1 sequence: 1 whole already")
}

// Where nothing can be made, the run has failed.
func TestRVTDatasetFails(t *testing.T) {
	in := t.TempDir()
	args := []string{"rvt", "dataset", in, "--dataset", "gen1", "-o", filepath.Join(in, "out")}
	has(t, must(t, exitFailed, args...).errOut, "no sequence", "_bbox.npy")
	sequence(t, filepath.Join(in, "val"), "a", nil)
	has(t, must(t, exitFailed, args...).errOut, "no label file: expected "+filepath.Join(in, "val", "a_bbox.npy"), "no sequence could be made")
	has(t, must(t, exitFailed, append([]string{"rvt", "dataset", filepath.Join(in, "none")}, args[3:]...)...).errOut, "none")
}

func TestRVTWrongUse(t *testing.T) {
	rec := sequence(t, t.TempDir(), "a", gen1Labels())
	labels := filepath.Join(filepath.Dir(rec), "a_bbox.npy")
	seq := func(args ...string) []string {
		return append([]string{"rvt", "sequence", rec, "--dataset", "gen1", "-o", filepath.Join(t.TempDir(), "o")}, args...)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rvt", "sequnce"}, "did you mean sequence?"},
		{[]string{"rvt", "sequence"}, "takes one recording"},
		{[]string{"rvt", "sequence", rec, "-o", "x"}, "--dataset gen1"},
		{[]string{"rvt", "sequence", rec, "--dataset", "gen1"}, "-o DIR"},
		{[]string{"rvt", "sequence", rec, "--dataset", "gen2", "-o", "x"}, "did you mean gen1?"},
		{seq("--split", "tran"), "did you mean train?"},
		{seq("--psee-filter", "yes"), "on, off"},
		{seq("--labels", labels, "--every", "50ms"), "give one"},
		{seq("--span", "50ms", "--count", "5k"), "give one"},
		{seq("--count", "0"), "--count is more than nothing"},
		{seq("--every", "0s"), "--every is more than nothing"},
		{seq("--step", "0s"), "--step is 1µs at least"},
		{seq("--repr", "stacked_histgram"), "did you mean stacked_histogram?"},
		{seq("--repr", "mixed_density:bin=3"), "did you mean bins?"},
		{seq("--repr", "rvt:downsample=1", "--downsample", "2"), "give one"},
		{seq("--downsample", "3"), "1, 2"},
		{seq("--compression", "zip"), "none"},
		{[]string{"rvt", "dataset", t.TempDir(), "--dataset", "gen1", "-o", "x", "--jobs", "-1"}, "--jobs"},
		{[]string{"rvt", "grid"}, "one file of labels"},
		{[]string{"rvt", "grid", labels, "--dataset", "gen1"}, "-o GRID.npy"},
		{[]string{"rvt", "check", rec}, "two trees"},
		{[]string{"tensor", rec, "--repr", "rvt", "-o", "x.npy", "--ends", "g.npy", "--count", "5", "--span", "1ms"}, "give one"},
		{[]string{"tensor", rec, "--repr", "rvt", "-o", "x.npy", "--ends", "g.npy", "--count", "5", "--step", "1"}, "--step goes with --count"},
	} {
		r := evq(t, c.args...)
		if r.code != exitUsage || r.out != "" || strings.Count(r.errOut, "\n") != 1 || !strings.Contains(r.errOut, c.want) {
			t.Errorf("evq %s: code %d, want 2 and %q\n%s%s", strings.Join(c.args, " "), r.code, c.want, r.out, r.errOut)
		}
	}
}

func TestRVTCheck(t *testing.T) {
	dir := t.TempDir()
	array := func(name string, v ...int64) string {
		path := filepath.Join(dir, name)
		if err := npy.WriteInts(path, v); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, c := array("a.npy", 1, 2, 3), array("b.npy", 1, 2, 3), array("c.npy", 1, 7, 3)
	has(t, must(t, 0, "rvt", "check", a, b).out, "equal")
	r := must(t, exitFailed, "rvt", "check", a, c)
	has(t, r.out, "[1]: 2 in a, 7 in b")
	has(t, r.errOut, "differ")
	var d checkReport
	if err := json.Unmarshal([]byte(must(t, exitFailed, "rvt", "check", a, c, "--json").out), &d); err != nil || d.Equal || d.Where != "[1]" || d.Files != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	has(t, must(t, exitFailed, "rvt", "check", a, filepath.Join(dir, "none.npy")).errOut, "none.npy")
	must(t, exitUsage, "rvt", "check", a, dir)
}

// The grids are those of RVT's script, for each of its label files that it accepts.
func TestRVTGridGoldens(t *testing.T) {
	dir := filepath.Join(eventtest.Data(t), "rvt_golden")
	var all struct {
		Labels []struct {
			Name, Dataset, Split string
			Grid                 int
			Psee                 bool `json:"apply_psee_bbox_filter"`
			Faulty               bool `json:"apply_faulty_bbox_filter"`
		}
	}
	readJSON(t, filepath.Join(dir, "GOLDEN.json"), &all)
	word := map[bool]string{true: "on", false: "off"}
	out := filepath.Join(t.TempDir(), "grid.npy")
	for _, g := range all.Labels {
		args := []string{"rvt", "grid", filepath.Join(dir, "labels", g.Name+"_bbox.npy"), "--dataset", g.Dataset, "--split", g.Split,
			"--psee-filter", word[g.Psee], "--faulty-filter", word[g.Faulty], "-o", out, "--force"}
		if g.Grid == 0 {
			has(t, must(t, exitFailed, args...).errOut, "label")
			continue
		}
		must(t, 0, args...)
		want, err := npy.ReadIntsIn(filepath.Join(dir, "labels", g.Name+"_expected.npz"), "grid")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := npy.ReadInts(out); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", g.Name, got, err, want)
		}
	}
	has(t, must(t, exitFailed, "rvt", "grid", filepath.Join(dir, "labels", "gen1_4hz_bbox.npy"), "--dataset", "gen1", "-o", out).errOut, "--force")
}

// Frames have the elements of RVT's own, through the verb that its users run.
func TestRVTSequenceGoldens(t *testing.T) {
	needHDF5(t)
	data := eventtest.Data(t)
	dir := filepath.Join(data, "rvt_golden")
	var all struct {
		Representations []struct {
			Name, Input, Dataset, Representation, Window, SHA256 string
			NBins, Downsample                                    int
			Cutoff                                               *int
		}
	}
	readJSON(t, filepath.Join(dir, "GOLDEN.json"), &all)
	for _, g := range all.Representations {
		in := filepath.Join(dir, g.Input)
		if _, err := os.Stat(in); err != nil {
			in = filepath.Join(data, "h5_derived", g.Input)
		}
		cutoff := "none"
		if g.Cutoff != nil {
			cutoff = strconv.Itoa(*g.Cutoff)
		}
		ends, err := npy.ReadIntsIn(filepath.Join(dir, g.Name+".npz"), "grid")
		grid := filepath.Join(t.TempDir(), "grid.npy")
		if err != nil || writeEnds(grid, ends) != nil {
			t.Fatal(err)
		}
		span, err := time.ParseDuration(strings.ReplaceAll(g.Window, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		var s sequenceReport
		r := evq(t, "rvt", "sequence", in, "--dataset", g.Dataset, "--ends", grid, "--span", strconv.FormatInt(span.Microseconds(), 10)+"us",
			"--repr", g.Representation+":bins="+strconv.Itoa(g.NBins)+",cutoff="+cutoff, "--downsample", strconv.Itoa(g.Downsample),
			"-o", filepath.Join(t.TempDir(), "out"), "--json")
		if err := json.Unmarshal([]byte(r.out), &s); err != nil {
			t.Fatalf("%s: code %d: %v\n%s", g.Name, r.code, err, r.errOut)
		}
		if got := framesSum(t, s.Frames); got != g.SHA256 {
			t.Errorf("%s: sha256 %s, want %s", g.Name, got, g.SHA256)
		}
	}
}

// framesSum sums all elements of a file of frames.
func framesSum(t *testing.T, path string) string {
	t.Helper()
	blocks, err := hdf5.OpenBlocks(path, "data")
	if err != nil {
		t.Fatal(err)
	}
	defer blocks.Close() //nolint:errcheck // only read
	h := sha256.New()
	b := make([]byte, blocks.Layout().Bytes())
	for i := range blocks.Len() {
		if err := blocks.Read(i, b); err != nil {
			t.Fatal(err)
		}
		_, _ = h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func readJSON(t *testing.T, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The labels of the generated data set come back as they were made.
func TestLabelFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a_bbox.npy")
	want := scenicLabels(time.Second)
	want[0].TrackID = math.MaxUint32
	if err := os.WriteFile(path, labelFile(want), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := rvt.ReadLabels(path); err != nil || !slices.Equal(got, want) || len(got) < 20 {
		t.Errorf("%v, %v", got, err)
	}
}

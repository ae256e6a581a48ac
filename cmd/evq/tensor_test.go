package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/npy"
)

// arraysOf reads the values of every array of a .npz.
func arraysOf(t *testing.T, path string) map[string][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := npy.OpenArchive(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, a := range arrays {
		r, err := a.Open()
		if err != nil {
			t.Fatal(err)
		}
		if out[a.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
	}
	return out
}

// Several representations of one pass are those of a pass for each, in every output that holds several.
func TestSeveralRepresentations(t *testing.T) {
	raw, dir := drive(t), t.TempDir()
	calls := []string{"stacked_histogram:bins=2", "voxel_grid:bins=3", "stacked_histogram:bins=1"}
	names := []string{"stacked_histogram", "voxel_grid", "stacked_histogram_2"}
	run := func(out string, more ...string) string {
		return must(t, 0, append([]string{"tensor", raw, "--window", "150ms", "-o", filepath.Join(dir, out)}, more...)...).errOut
	}
	all := []string{"--repr", calls[0], "--repr", calls[1], "--repr", calls[2]}
	has(t, run("all.npz", all...), "7 windows of (4, 96, 128) uint8 and (3, 96, 128) float32 and (2, 96, 128) uint8", "20,000 events")
	run("all.arrow", append(all, "--compression", "none")...)
	got := arraysOf(t, filepath.Join(dir, "all.npz"))
	if len(got) != 6 {
		t.Errorf("%d arrays", len(got))
	}
	arrow, err := os.ReadFile(filepath.Join(dir, "all.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	for i, call := range calls {
		run("one.npz", "--repr", call, "--force")
		want := arraysOf(t, filepath.Join(dir, "one.npz"))
		for name, in := range map[string]string{names[i]: "data", "window_start": "window_start", "window_end": "window_end", "window_events": "window_events"} {
			if !bytes.Equal(got[name], want[in]) || len(want[in]) == 0 {
				t.Errorf("%s: %s is not %s of a run of its own", call, name, in)
			}
		}
		size := len(want["data"]) / 7
		for w := range 7 {
			if !bytes.Contains(arrow, want["data"][w*size:(w+1)*size]) || !bytes.Contains(arrow, []byte(names[i])) {
				t.Errorf("%s: window %d does not stand in the .arrow", call, w)
			}
		}
	}
	if hdf5Built {
		run("all.h5", all...)
		for _, name := range names {
			if !bytes.Equal(datasetOf(t, filepath.Join(dir, "all.h5"), name), got[name]) {
				t.Errorf("%s in the .h5 is not that of the .npz", name)
			}
		}
	}
}

// datasetOf reads the blocks of a dataset.
func datasetOf(t *testing.T, path, name string) (all []byte) {
	t.Helper()
	b, err := hdf5.OpenBlocks(path, name)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	block := make([]byte, b.Layout().Bytes())
	for i := range b.Len() {
		if err := b.Read(i, block); err != nil {
			t.Fatal(err)
		}
		all = append(all, block...)
	}
	return all
}

// Outputs of one array refuse several and say what holds them; nothing is left, with --force neither.
func TestOneArrayOnly(t *testing.T) {
	raw, dir := drive(t), t.TempDir()
	for _, name := range []string{"o.npy", "o.png"} {
		r := must(t, 1, "tensor", raw, "--repr", "event_count", "--repr", "sae", "--force", "-o", filepath.Join(dir, name))
		has(t, r.errOut, name+": 2 representations", ".npz, .h5 and .arrow hold several")
	}
	if got := eventtest.Names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// A compression is the output's own, and a format that goes by the name's end says which ends it has.
func TestBlockFormats(t *testing.T) {
	raw, dir := drive(t), t.TempDir()
	for _, c := range []struct{ out, args, want string }{
		{"o.npz", "--compression gzip", "for HDF5 and Arrow"}, {"o.arrow", "--compression gzip", "lz4, zstd, none"},
		{"o.h5", "--compression brotli", "blosc-zstd"}, {"o.npy", "--to npz", "end in .npz, not .npy"}, {"o.xyz", "", ".h5, .npy, .npz, .arrow, .png"},
	} {
		args := append([]string{"tensor", raw, "--repr", "event_count", "-o", filepath.Join(dir, c.out)}, strings.Fields(c.args)...)
		has(t, must(t, exitUsage, args...).errOut, c.want)
	}
	for _, args := range []string{"-o o.bin --to arrow", "-o o.arrows --compression zstd", "-o o.feather"} {
		call := []string{"tensor", raw, "--repr", "event_count"}
		for _, a := range strings.Fields(args) {
			if strings.HasPrefix(a, "o.") {
				a = filepath.Join(dir, a)
			}
			call = append(call, a)
		}
		must(t, 0, call...)
	}
}

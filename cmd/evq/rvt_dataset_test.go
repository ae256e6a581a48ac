package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/engine/rvt"
)

// brokenDataset writes 40 sequences of a small sensor: the recording of train/s13 is cut, and of that of val/s26 a
// chunk is damaged.
func brokenDataset(t *testing.T) string {
	t.Helper()
	in := t.TempDir()
	for i := range 40 {
		base := filepath.Join(in, []string{"test", "train", "val"}[i%3], fmt.Sprintf("s%02d", i))
		rec := base + "_td.dat.h5"
		if err := os.MkdirAll(filepath.Dir(base), 0o777); err != nil {
			t.Fatal(err)
		}
		must(t, 0, "bench", "generate", "-o", rec, "--events", "30k", "--seconds", "1", "--size", "64x48", "--seed", fmt.Sprint(i))
		labels := gen1Labels()
		for k := range labels {
			labels[k].X, labels[k].Y, labels[k].W = 5, 4, 40
		}
		if err := os.WriteFile(base+"_bbox.npy", labelFile(labels), 0o666); err != nil {
			t.Fatal(err)
		}
		if i != 13 && i != 26 {
			continue
		}
		whole, err := os.ReadFile(rec)
		if err != nil {
			t.Fatal(err)
		}
		if i == 13 {
			whole = whole[:len(whole)/2]
		} else {
			at := bytes.Index(whole, []byte{2, 1, 0x91}) // how a chunk that Blosc compressed begins
			clear(whole[at : at+100])
		}
		if err := os.WriteFile(rec, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// A data set whose run is killed twice ends as one that was left alone, and names the two sequences that are broken.
func TestRVTDatasetKilled(t *testing.T) {
	needHDF5(t)
	if testing.Short() {
		t.Skip("40 sequences take seconds")
	}
	in, root := brokenDataset(t), t.TempDir()
	run := func(out string) []string {
		return []string{"rvt", "dataset", in, "--dataset", "gen1", "--size", "64x48", "--jobs", "1", "-o", filepath.Join(root, out)}
	}
	killed, whole := filepath.Join(root, "killed"), filepath.Join(root, "whole")
	for _, most := range []int{5, 12} { // of the 38
		cmd, errOut := start(t, run("killed")...)
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for len(manifests(t, killed)) < most {
			select { // the kill waits for files, never for a time
			case err := <-ended:
				t.Fatalf("it ended before it was killed: %v\n%s", err, errOut)
			case <-time.After(time.Millisecond):
			}
		}
		_ = cmd.Process.Kill()
		<-ended
		got := len(manifests(t, killed))
		if got == 38 {
			t.Skip("this test was held up until the run that it was to kill had ended")
		}
		t.Logf("killed with %d sequences made", got)
		// A line comes right after its sequence is whole, so that the last may be missing.
		if lines := strings.Count(errOut.String(), " windows of 20x48x64"); lines < got-1 {
			t.Errorf("%d sequences were made before the kill, and %d lines tell of them:\n%s", got, lines, errOut)
		}
	}
	for _, args := range [][]string{run("killed"), run("whole")} {
		r := must(t, exitLosses, args...)
		has(t, r.errOut, "evq: train/s13: failed: ", "failed: 2 sequences\n", "40 sequences: ", "2 failed")
		rows := regexp.MustCompile(`(?m)^  (train/s13  .*the file was cut: \d+ of|val/s26    .*dataset /events/t, rows 0-\d+: .*damaged)`)
		if found := rows.FindAllString(r.errOut, -1); len(found) != 2 {
			t.Errorf("the failures are\n%s\nin\n%s", strings.Join(found, "\n"), r.errOut)
		}
	}
	sameTrees(t, killed, whole)
}

// manifests are those of the sequences that are whole.
func manifests(t *testing.T, out string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(out, "*", "*", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sameTrees holds two trees to the same files, the elements of frames to be equal, and all else byte by byte, but
// for the times in manifests.
func sameTrees(t *testing.T, a, b string) {
	t.Helper()
	d, err := rvt.Check(context.Background(), a, b)
	if err != nil || !d.Equal() || d.Compared == 0 {
		t.Errorf("%v, %v", d, err)
	}
	x, y := filesIn(t, a), filesIn(t, b)
	if !slices.Equal(x, y) || len(x) != 38*6 {
		t.Fatalf("%d files and %d files:\n%s\n\n%s", len(x), len(y), strings.Join(x, "\n"), strings.Join(y, "\n"))
	}
	times := regexp.MustCompile(`"modified": "[^"]*"`)
	for _, f := range x {
		if filepath.Ext(f) == ".h5" {
			continue
		}
		inA, errA := os.ReadFile(filepath.Join(a, f))
		inB, errB := os.ReadFile(filepath.Join(b, f))
		if errA != nil || errB != nil || !bytes.Equal(times.ReplaceAll(inA, nil), times.ReplaceAll(inB, nil)) {
			t.Errorf("%s differs: %v, %v", f, errA, errB)
		}
	}
}

// filesIn lists all files below a folder, hidden ones too.
func filesIn(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, strings.TrimPrefix(path, root))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

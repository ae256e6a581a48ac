package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A generated data set is timed on each device, and a script of RVT's that fails is a row that says why.
func TestBenchDataset(t *testing.T) {
	contestants(t)
	dir := t.TempDir()
	args := []string{"bench", "dataset", "--sequences", "2", "--events", "5k", "--seconds", "0.3", "--repeats", "1", "-o", dir}
	r := must(t, 0, args...)
	has(t, r.out, "## evq bench dataset: 2 generated sequences of 5000 events in 300ms each", "10,000 events", "| cpu: evq rvt dataset on cpu |", "the reference |")
	has(t, r.errOut, "making ", "round 1 of 1: cpu")
	charts(t, dir, "dataset")
	if r := must(t, 0, append(args, "--rvt", filepath.Join(dir, "none"), "--python", filepath.Join(dir, "nopython"))...); strings.Contains(r.errOut, "making") {
		t.Error("the data set is made a second time")
	} else {
		has(t, r.out, "| rvt: RVT's script, -np 2 | - |", "FAILED: ", "nopython")
	}
	again := t.TempDir()
	has(t, must(t, 0, "bench", "dataset", "--replot", filepath.Join(dir, "dataset.json"), "-o", again).out, "FAILED: ")
	charts(t, again, "dataset")
}

// A script whose tree is another is counted, and timed with all that it starts.
func TestBenchDatasetScript(t *testing.T) {
	contestants(t)
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	dir := t.TempDir()
	python := filepath.Join(dir, "python")
	script := "#!/bin/sh\nmkdir -p $3/train && echo 1 > $3/train/x; sleep 0.5\n"
	if err := os.WriteFile(python, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	r := must(t, 0, "bench", "dataset", "--sequences", "1", "--events", "5k", "--seconds", "0.3", "--repeats", "1", "-o", dir, "--rvt", dir, "--python", python)
	has(t, r.out, "only in a", "* cpu is ", "than rvt")
}

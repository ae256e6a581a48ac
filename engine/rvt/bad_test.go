package rvt

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// refused runs a sequence that cannot be made, and holds its error to what it must say and its folder to be empty.
func refused(t *testing.T, rec string, o Options, parts ...string) error {
	t.Helper()
	r, err := Sequence(context.Background(), rec, o)
	if err == nil {
		t.Fatalf("made %+v", r)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%v; want %q", err, p)
		}
	}
	if got := entries(t, o.Out); len(got) > 0 {
		t.Errorf("left %v", got)
	}
	return err
}

// TestSequenceBadLabels: an error says what is wrong with the labels.
func TestSequenceBadLabels(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	missing := o
	missing.Labels += ".none"
	if err := refused(t, rec, missing, "no label file: expected "+missing.Labels); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	rate := o
	rate.Dataset = Gen4
	var refusal *RefusalError
	if err := refused(t, rec, rate, "30 or 60 Hz", "at 4 Hz", "--grid 50ms"); !errors.As(err, &refusal) || refusal.Rule != RateRule {
		t.Error(err)
	}
	if err := os.Truncate(o.Labels, 150); err != nil {
		t.Fatal(err)
	}
	if err := refused(t, rec, o, o.Labels); !errors.Is(err, ErrBadLabels) {
		t.Error(err)
	}
}

// TestSequenceBadRecording: a cut file and a damaged chunk are named with their place, and nothing is left.
func TestSequenceBadRecording(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	whole := must1(os.ReadFile(rec))
	bad := filepath.Join(filepath.Dir(rec), "bad_td.dat.h5")
	for name, c := range map[string]struct {
		bytes []byte
		parts []string
	}{
		"cut":     {whole[:len(whole)*2/3], []string{bad, "hdf5"}},
		"damaged": {cleared(whole, frameStart(t, whole), 300), []string{bad, "/events/", "chunk"}},
		"empty":   {nil, []string{bad}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(bad, c.bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Log(refused(t, bad, o, c.parts...))
		})
	}
}

// frameStart is where the first chunk that Blosc compressed begins in a file.
func frameStart(t *testing.T, file []byte) int {
	t.Helper()
	at := bytes.Index(file, []byte{2, 1, 0x91})
	if at < 0 {
		t.Fatal("no frame in the file")
	}
	return at
}

// cleared is a copy of b with n zeros from at on.
func cleared(b []byte, at, n int) []byte {
	b = append([]byte(nil), b...)
	clear(b[at : at+n])
	return b
}

// TestSequenceReadOnlyFolder: a folder that may not be written to is named.
func TestSequenceReadOnlyFolder(t *testing.T) {
	needHDF5(t)
	if os.Getuid() <= 0 {
		t.Skip("permissions do not bind this user")
	}
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	if err := os.MkdirAll(filepath.Dir(o.Out), 0o555); err != nil {
		t.Fatal(err)
	}
	if err := refused(t, rec, o, filepath.Dir(o.Out)); !errors.Is(err, os.ErrPermission) {
		t.Error(err)
	}
}

// TestSequenceDiskFull: a disk that is full is an error that says so, the space comes back, and where there is room
// again the sequence is made.
func TestSequenceDiskFull(t *testing.T) {
	needHDF5(t)
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("a small disk takes a tmpfs, and root to mount it")
	}
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16k", "none", disk).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", disk).Run() })
	o.Out = filepath.Join(disk, "out", "a")
	t.Log(refused(t, rec, o, "no space left on device"))
	if got := entries(t, disk); len(got) > 0 {
		t.Errorf("left %v", got)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=8m", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must(t, rec, o)
}

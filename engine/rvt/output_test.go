package rvt

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/udf/mixeddensity"
)

// TestSequenceIsFoundWhole: what is there and was made alike is left alone; anything else is named.
func TestSequenceIsFoundWhole(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	first := must(t, rec, o)
	before, err := os.Stat(first.Frames)
	if err != nil {
		t.Fatal(err)
	}
	again := must(t, rec, o)
	if after, err := os.Stat(first.Frames); err != nil || !again.Existing || !after.ModTime().Equal(before.ModTime()) || again.Windows != 17 || again.Events != first.Events {
		t.Errorf("made again: %+v, %v", again, err)
	}
	for what, change := range map[string]func(o *Options){
		"step": func(o *Options) { o.Step = 25 * time.Millisecond }, "grid": func(o *Options) { o.Grid = Even },
		"psee_filter": func(o *Options) { o.Psee = new(false) }, "size": func(o *Options) { o.Size.Width = 65 },
	} {
		p := o
		change(&p)
		if _, err := Sequence(context.Background(), rec, p); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), what+"=") || !strings.Contains(err.Error(), "--force") {
			t.Errorf("another %s: %v", what, err)
		}
	}
	// A switch has a value on both sides, whichever of them is off.
	off := o
	off.Psee, off.Out = new(false), filepath.Join(t.TempDir(), "off")
	must(t, rec, off)
	off.Psee = new(true)
	if _, err := Sequence(context.Background(), rec, off); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), "psee_filter=false, now true") {
		t.Errorf("the filter on: %v", err)
	}
	o.Psee = new(false)
	if _, err := Sequence(context.Background(), rec, o); err == nil || !strings.Contains(err.Error(), "psee_filter=true, now false") {
		t.Errorf("the filter off: %v", err)
	}
	o.Psee = nil
	p := o
	p.Grid, p.Force = Even, true
	if r := must(t, rec, p); r.Existing || r.Windows != 29 {
		t.Errorf("forced: %+v", r)
	}
	if r := must(t, rec, Options{Labels: o.Labels, Size: small, Out: o.Out, Grid: Even}); !r.Existing {
		t.Errorf("after force: %+v", r)
	}
	record(t, rec, scene(t, 9))
	p.Force = false
	if _, err := Sequence(context.Background(), rec, p); !errors.Is(err, ErrDiffers) || !strings.Contains(err.Error(), "recording") {
		t.Errorf("another recording: %v", err)
	}
}

// TestSequenceResumesWhatIsNotWhole: a file that was cut, changed or removed is made anew.
func TestSequenceResumesWhatIsNotWhole(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	r := must(t, rec, o)
	whole := o
	whole.Out = t.TempDir()
	must(t, rec, whole)
	for _, damage := range []func() error{
		func() error { return os.Remove(r.Frames) },
		func() error { return os.Truncate(r.Frames, 1000) },
		func() error { return os.Remove(filepath.Join(o.Out, labelsFolder, labelsFile)) },
		func() error { flip(t, filepath.Join(filepath.Dir(r.Frames), timesFile), -1); return nil },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if r := must(t, rec, o); r.Existing {
			t.Error("a damaged tree was taken for whole")
		}
		equalTrees(t, o.Out, whole.Out)
	}
}

// TestSequenceUnknownFiles: a tree that another program made is not overwritten unasked.
func TestSequenceUnknownFiles(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	must(t, rec, o)
	if err := os.Remove(filepath.Join(o.Out, manifestFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Sequence(context.Background(), rec, o); !errors.Is(err, ErrUnknownFiles) {
		t.Errorf("%v", err)
	}
	o.Force = true
	must(t, rec, o)
	o.Force = false
	if !must(t, rec, o).Existing {
		t.Error("not whole after force")
	}
}

// TestSequenceSharesLabels: two representations of one sequence share its labels, and its manifest has both.
func TestSequenceSharesLabels(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	must(t, rec, o)
	half, mixed := o, o
	half.Downsample = 2
	mixed.Representation = mixeddensity.Stack{Bins: 10, Cutoff: 32}
	must(t, rec, half)
	must(t, rec, mixed)
	for _, p := range []Options{o, half, mixed} {
		if !must(t, rec, p).Existing {
			t.Errorf("%+v is not whole", p)
		}
	}
	if err := Verify(context.Background(), o.Out, 1); err != nil {
		t.Error(err)
	}
	// A file that they share is made anew for all of them.
	if err := os.Remove(filepath.Join(o.Out, labelsFolder, labelsFile)); err != nil {
		t.Fatal(err)
	}
	if must(t, rec, half).Existing || !must(t, rec, mixed).Existing {
		t.Error("the labels did not come back")
	}
	// Other labels: the frames of the others would no longer fit them.
	writeLabels(t, o.Labels, boxes()[:4])
	mixed.Count = 700
	if _, err := Sequence(context.Background(), rec, mixed); !errors.Is(err, ErrDiffers) {
		t.Errorf("other labels beside the first: %v", err)
	}
	if got := entries(t, o.Out); slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, "ne=700") || strings.HasPrefix(f, ".") }) {
		t.Errorf("left %v", got)
	}
	mixed.Force = true
	if r := must(t, rec, mixed); len(r.Warnings) < 3 {
		t.Errorf("forced over three others: %v", r.Warnings)
	}
}

func TestVerify(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	o.Verify = true
	r := must(t, rec, o)
	b, err := os.ReadFile(r.Frames)
	if err != nil {
		t.Fatal(err)
	}
	frame := bytes.Index(b, []byte{2, 1, 0x91, 1}) // how a Blosc frame of bytes begins
	if frame < 0 {
		t.Fatal("no frame in the file")
	}
	damage := func() { flip(t, r.Frames, int64(frame)+60) }
	damage()
	if err := Verify(context.Background(), o.Out, 0); !errors.Is(err, ErrDamaged) {
		t.Errorf("a flipped byte: %v", err)
	}
	if _, err := Sequence(context.Background(), rec, o); !errors.Is(err, ErrDamaged) {
		t.Errorf("an existing tree with a flipped byte: %v", err)
	}
	damage()
	if err := Verify(context.Background(), o.Out, 0); err != nil {
		t.Error(err)
	}
	// Elements that the file holds faithfully but that are not those written.
	m := must1(ReadManifest(o.Out))
	m.Outputs[newTree(must1(o.complete(rec))).frames].CRC32C[3] ^= 1
	if err := m.write(o.Out); err != nil {
		t.Fatal(err)
	}
	if err := Verify(context.Background(), o.Out, 0); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "frame 3") {
		t.Errorf("another checksum: %v", err)
	}
	if err := Verify(context.Background(), t.TempDir(), 0); !errors.Is(err, ErrDamaged) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestSequenceBusy(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	if err := os.MkdirAll(o.Out, 0o777); err != nil {
		t.Fatal(err)
	}
	l, err := takeLock(o.Out)
	if err != nil || l.stale {
		t.Fatal(l, err)
	}
	if _, err := Sequence(context.Background(), rec, o); !errors.Is(err, ErrBusy) {
		t.Errorf("two runs: %v", err)
	}
	l.release()
	must(t, rec, o)
	if _, err := os.Stat(filepath.Join(o.Out, lockFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock is left: %v", err)
	}
}

func TestSequenceUnwritable(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	o.Out = filepath.Join(rec, "below", "a", "file")
	if _, err := Sequence(context.Background(), rec, o); err == nil {
		t.Error("wrote below a file")
	}
}

// TestSequenceCancelled leaves nothing, not even folders.
func TestSequenceCancelled(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	ctx, cancel := context.WithCancel(context.Background())
	o.Progress = func(int64, int64) { cancel() }
	if _, err := Sequence(ctx, rec, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := entries(t, filepath.Dir(o.Out)); len(got) > 0 {
		t.Errorf("left %v", got)
	}
}

// TestSequenceSkipped: nothing is made where no label is left.
func TestSequenceSkipped(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	for _, l := range []Labels{nil, boxes()[5:]} {
		writeLabels(t, o.Labels, l)
		r := must(t, rec, o)
		if !strings.Contains(r.Skipped, "no label left") || r.Labels.Read != len(l) || len(entries(t, o.Out)) > 0 {
			t.Errorf("%+v, made %v", r, entries(t, o.Out))
		}
	}
}

const killEnv = "EVQ_TEST_KILL_OUT"

// TestKilledChild is the child of TestSequenceAfterKill: it stops in the middle of the events.
func TestKilledChild(t *testing.T) {
	out := os.Getenv(killEnv)
	if out == "" {
		t.Skip("it is run by TestSequenceAfterKill")
	}
	args := strings.Split(out, "|")
	o := Options{Labels: args[1], Size: small, Out: args[2], Progress: func(int64, int64) {
		_ = os.WriteFile(args[3], nil, 0o600)
		select {} // until killed
	}}
	_, err := Sequence(context.Background(), args[0], o)
	t.Fatal("not killed:", err)
}

// TestSequenceAfterKill kills a run twice while it writes; a rerun ends as an undisturbed run does.
func TestSequenceAfterKill(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	for range 2 {
		ready := filepath.Join(t.TempDir(), "ready")
		child := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
		child.Env = append(os.Environ(), killEnv+"="+strings.Join([]string{rec, o.Labels, o.Out, ready}, "|"))
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(ready); err == nil {
				break
			}
			if time.Since(begun) > time.Minute {
				_ = child.Process.Kill()
				t.Fatal("the child never began to write")
			}
		}
		if _, err := Sequence(context.Background(), rec, o); !errors.Is(err, ErrBusy) {
			t.Errorf("beside a live run: %v", err)
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait()
		for _, f := range entries(t, o.Out) {
			if !strings.HasPrefix(f, ".evq-rvt") {
				t.Errorf("%s is there after a kill", f)
			}
		}
	}
	must(t, rec, o)
	whole := o
	whole.Out = filepath.Join(t.TempDir(), "whole")
	must(t, rec, whole)
	equalTrees(t, o.Out, whole.Out)
	if a, b := entries(t, o.Out), entries(t, whole.Out); !slices.Equal(a, b) {
		t.Errorf("%v, undisturbed %v", a, b)
	}
}

// TestSequenceAfterKillWhilePublishing: files that have their names but no manifest, beside the lock of a run that
// is no more, are what it left.
func TestSequenceAfterKillWhilePublishing(t *testing.T) {
	needHDF5(t)
	rec, o := sequenceOf2s(t, t.TempDir(), "a", 1)
	must(t, rec, o)
	if err := errors.Join(os.Remove(filepath.Join(o.Out, manifestFile)), os.WriteFile(filepath.Join(o.Out, lockFile), []byte("2147483646\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := must(t, rec, o); r.Existing {
		t.Errorf("%+v", r)
	}
	if err := Verify(context.Background(), o.Out, 0); err != nil {
		t.Error(err)
	}
}

package rvt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/evq-project/evq/io/atomicfile"
)

// stagingFolder holds the files of a sequence until all of them are whole.
const stagingFolder = ".evq-rvt.staging"

// An output is a sequence's folder while a run writes to it.
type output struct {
	tree
	lock    *lock
	made    []string // folders that this run made, the outermost first
	known   *Manifest
	staging tree
}

// openOutput makes the folder this run's alone and removes what a killed run left in its staging folder.
func openOutput(t tree, force bool) (*output, error) {
	o := &output{tree: t, staging: tree{out: filepath.Join(t.out, stagingFolder)}}
	if err := o.mkdir(t.out); err != nil {
		return nil, err
	}
	var err error
	if o.lock, err = takeLock(t.out); err != nil {
		o.unmake()
		return nil, err
	}
	o.known, err = ReadManifest(t.out)
	if err != nil && force {
		o.known, err = &Manifest{Format: manifestFormat, Outputs: map[string]*Output{}}, nil
	}
	if err == nil {
		_ = os.Remove(atomicfile.TempName(t.path(manifestFile))) // of a process that had our number
		err = os.RemoveAll(o.staging.out)
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// mkdir makes a folder and those above it, and remembers which it made.
func (o *output) mkdir(dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		missing = append(missing, d)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	slices.Reverse(missing)
	o.made = append(o.made, missing...)
	return nil
}

// unmake removes the folders that this run made and left empty.
func (o *output) unmake() {
	for _, d := range slices.Backward(o.made) {
		_ = os.Remove(d)
	}
}

// close drops what was not published and lets others write to the folder.
func (o *output) close() {
	_ = os.RemoveAll(o.staging.out)
	o.lock.release()
	o.unmake()
}

// find looks at what is there already of the output that is wanted. It returns it where it is whole and was made
// alike, and nil where it is to be made.
func (o *output) find(want *Output, force bool) (*Output, error) {
	e, ok := o.known.Outputs[o.frames]
	if !ok {
		return nil, o.clear(force)
	}
	if how := want.differs(e); how != "" && !force {
		return nil, fmt.Errorf("rvt: %s: %s: %w", o.path(o.frames), how, ErrDiffers)
	}
	if !force && e.whole(o.out) == nil {
		return e, nil
	}
	return nil, nil
}

// clear removes files under the names of the tree that no manifest knows where a killed run left them, and
// refuses them otherwise.
func (o *output) clear(force bool) error {
	for _, f := range []string{o.frames, o.times(), o.index(), o.labels(), o.labelTimes()} {
		_, err := os.Stat(o.path(f))
		if errors.Is(err, fs.ErrNotExist) || len(o.known.holders(f)) > 0 {
			continue
		}
		if err != nil {
			return fmt.Errorf("rvt: %w", err)
		}
		if !o.lock.stale && !force {
			return fmt.Errorf("rvt: %s: %w", o.path(f), ErrUnknownFiles)
		}
		if err := os.Remove(o.path(f)); err != nil {
			return fmt.Errorf("rvt: %w", err)
		}
	}
	return nil
}

// stage returns where a file is written until it is published.
func (o *output) stage(relative string) (string, error) {
	path := o.staging.path(relative)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", fmt.Errorf("rvt: %w", err)
	}
	return path, nil
}

// publish gives the staged files of e their names, the manifest last. Files that other outputs of the sequence
// share must be equal, or force drops those outputs.
func (o *output) publish(e *Output, force bool) error {
	delete(o.known.Outputs, o.frames)
	for _, f := range e.Files {
		for _, other := range o.known.holders(f.Path) {
			if slices.Contains(o.known.Outputs[other].Files, f) {
				continue
			}
			if !force {
				return fmt.Errorf("rvt: %s: it belongs to %s as well and would change: %w", o.path(f.Path), other, ErrDiffers)
			}
			delete(o.known.Outputs, other)
			e.Warnings = append(e.Warnings, fmt.Sprintf("%s was made with another %s and counts as incomplete now", other, f.Path))
		}
	}
	if err := o.known.write(o.out); err != nil {
		return err
	}
	for _, f := range append([]File{e.Frames}, e.Files...) {
		if err := o.mkdir(filepath.Dir(o.path(f.Path))); err != nil {
			return err
		}
		if err := atomicfile.Rename(o.staging.path(f.Path), o.path(f.Path)); err != nil {
			return fmt.Errorf("rvt: %w", err)
		}
	}
	o.known.Outputs[o.frames] = e
	return o.known.write(o.out)
}

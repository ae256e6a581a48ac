// Package rvt prepares data sets as RVT does (Gehrig and Scaramuzza 2023, uzh-rpg/RVT): it reads and filters box
// labels, derives from them the times at which windows end, and writes the tree that RVT trains on.
//
// It knows files, grids and the frame; it refuses to know flags, and how windows become counts.
package rvt

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"github.com/evq-project/evq/io/npy"
)

// A Label is one box. Its inside is [X, X+W) x [Y, Y+H), in pixels; it may hang over the sensor's border.
type Label struct {
	T          int64 // microseconds
	X, Y, W, H float32
	ClassID    uint32
	TrackID    uint32
	Confidence float32
}

// Labels are the boxes of a recording.
type Labels []Label

// ErrBadLabels reports a file of labels that cannot be used.
var ErrBadLabels = errors.New("bad labels")

// ReadLabels reads the boxes of a Prophesee label file (NAME_bbox.npy), in the order of the file. It finds fields
// by name, of any width and order: t or ts, x, y, w, h and class_id, which must be there, and track_id and
// class_confidence or confidence, which are 0 where they are not. A file without records gives no labels and no
// error.
//
// Source: prophesee-automotive-dataset-toolbox, src/io/box_loading.py.
func ReadLabels(path string) (Labels, error) {
	table, err := npy.ReadTable(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("rvt: no label file: expected %s: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("rvt: %w: %w", ErrBadLabels, err)
	}
	labels, err := fromTable(table)
	if err != nil {
		return nil, fmt.Errorf("rvt: %s: %w: %w", path, ErrBadLabels, err)
	}
	return labels, nil
}

// fromTable takes the labels out of a structured array.
func fromTable(table *npy.Table) (Labels, error) {
	labels := make(Labels, table.Len())
	for _, f := range []struct {
		names    []string
		optional bool
		set      func(l *Label, v int64) bool
	}{
		{[]string{"t", "ts"}, false, func(l *Label, v int64) bool { l.T = v; return true }},
		{[]string{"class_id"}, false, func(l *Label, v int64) bool { l.ClassID = uint32(v); return v >= 0 && v <= math.MaxUint32 }},
		// A signed -1, for a box that is in no track, becomes the largest number, as NumPy casts it.
		{[]string{"track_id"}, true, func(l *Label, v int64) bool { l.TrackID = uint32(v); return v >= math.MinInt32 && v <= math.MaxUint32 }},
	} {
		name, err := fieldOf(table, f.names, f.optional)
		if err != nil || name == "" {
			if err != nil {
				return nil, err
			}
			continue
		}
		values, err := table.Int64(name)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			if !f.set(&labels[i], v) {
				return nil, fmt.Errorf("%s of label %d is %d; 0 to %d are possible", name, i, v, uint32(math.MaxUint32))
			}
		}
	}
	return labels, setFloats(labels, table)
}

// setFloats sets what is measured in single precision.
func setFloats(labels Labels, table *npy.Table) error {
	for _, f := range []struct {
		names    []string
		optional bool
		of       func(l *Label) *float32
	}{
		{[]string{"x"}, false, func(l *Label) *float32 { return &l.X }},
		{[]string{"y"}, false, func(l *Label) *float32 { return &l.Y }},
		{[]string{"w"}, false, func(l *Label) *float32 { return &l.W }},
		{[]string{"h"}, false, func(l *Label) *float32 { return &l.H }},
		{[]string{"class_confidence", "confidence"}, true, func(l *Label) *float32 { return &l.Confidence }},
	} {
		name, err := fieldOf(table, f.names, f.optional)
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		values, err := table.Float32(name)
		if err != nil {
			return err
		}
		for i, v := range values {
			*f.of(&labels[i]) = v
		}
	}
	return nil
}

// fieldOf returns the first of the names that the table has, and "" where an optional field is missing.
func fieldOf(table *npy.Table, names []string, optional bool) (string, error) {
	for _, name := range names {
		if table.Has(name) {
			return name, nil
		}
	}
	if optional {
		return "", nil
	}
	return "", fmt.Errorf("the field %s is missing; there are %q", names[0], table.Names())
}

// inOrder returns the labels in order of time, those of one time in the order they had.
func (l Labels) inOrder() Labels {
	byTime := func(a, b Label) int {
		switch {
		case a.T < b.T:
			return -1
		case a.T > b.T:
			return 1
		}
		return 0
	}
	if slices.IsSortedFunc(l, byTime) {
		return l
	}
	l = slices.Clone(l)
	slices.SortStableFunc(l, byTime)
	return l
}

// table is the labels as RVT keeps them: packed records of 36 bytes.
func (l Labels) table() (*npy.Table, error) {
	t, class, track := make([]int64, len(l)), make([]uint32, len(l)), make([]uint32, len(l))
	var floats [5][]float32
	for i := range floats {
		floats[i] = make([]float32, len(l))
	}
	for i, b := range l {
		t[i], class[i], track[i] = b.T, b.ClassID, b.TrackID
		for k, v := range [5]float32{b.X, b.Y, b.W, b.H, b.Confidence} {
			floats[k][i] = v
		}
	}
	return npy.NewTable(npy.Column{Name: "t", Values: t},
		npy.Column{Name: "x", Values: floats[0]}, npy.Column{Name: "y", Values: floats[1]},
		npy.Column{Name: "w", Values: floats[2]}, npy.Column{Name: "h", Values: floats[3]},
		npy.Column{Name: "class_id", Values: class}, npy.Column{Name: "track_id", Values: track},
		npy.Column{Name: "class_confidence", Values: floats[4]})
}

// WriteLabels writes the labels of frames into a folder that exists, RVT's labels_v2: labels.npz with labels and
// objframe_idx_2_label_idx, and timestamps_us.npy. Each file appears when it is complete; one that exists is
// refused without force.
func WriteLabels(dir string, f Frames, force bool) error {
	table, err := f.Labels.table()
	if err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	options := overwrite(force)
	return errors.Join(
		npy.WriteArchive(filepath.Join(dir, "labels.npz"), []npy.Member{
			{Name: "labels", Array: table}, {Name: "objframe_idx_2_label_idx", Array: npy.Ints(f.FirstLabel)}}, options...),
		npy.WriteInts(filepath.Join(dir, "timestamps_us.npy"), f.Times, options...))
}

// overwrite returns the option to replace files.
func overwrite(force bool) []npy.Option {
	if force {
		return []npy.Option{npy.Force()}
	}
	return nil
}

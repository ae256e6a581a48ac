package rvt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// miniDataset writes ten sequences: six whole ones, one of whose labels none is left, one without labels, one
// without a recording, and one whose recording is cut.
func miniDataset(t *testing.T) string {
	t.Helper()
	in := t.TempDir()
	for i := range 10 {
		split := []string{"train", "val", "test"}[i%3]
		base := filepath.Join(in, split, fmt.Sprintf("seq%d", i))
		rec := base + "_td.dat.h5"
		if i == 4 {
			rec = base + "_td.parquet"
		}
		if i != 8 {
			record(t, rec, scene(t, uint64(i)))
		}
		labels := boxes()
		if i == 2 {
			labels = labels[5:]
		}
		if i != 7 {
			writeLabels(t, base+labelsSuffix, labels)
		}
		if i == 5 {
			if err := os.Truncate(rec, 5000); err != nil {
				t.Fatal(err)
			}
		}
	}
	return in
}

func TestSequences(t *testing.T) {
	needHDF5(t)
	in, out := miniDataset(t), filepath.Join(t.TempDir(), "out")
	o := Options{Size: small, Memory: 256 << 20, Threads: 2}

	dry, err := Sequences(context.Background(), in, out, o, DatasetOptions{DryRun: true})
	if err != nil || dry.Count[Made] != 6 || dry.Count[Skipped] != 1 || dry.Count[Failed] != 3 || dry.Windows != 6*17 {
		t.Errorf("dry run: %v, %+v", dry.Count, err)
	}
	if got := entries(t, out); len(got) > 0 {
		t.Errorf("a dry run made %v", got)
	}

	var last Progress
	var ended []Outcome
	s, err := Sequences(context.Background(), in, out, o, DatasetOptions{Jobs: 2, Progress: func(p Progress) { last = p },
		Done: func(o Outcome) {
			if ended = append(ended, o); last.Sequences != len(ended)-1 {
				t.Errorf("%s ended as number %d with a progress of %d", o.Name, len(ended), last.Sequences)
			}
		}})
	if err != nil || s.Count[Made] != 6 || s.Count[Skipped] != 1 || s.Count[Failed] != 3 {
		t.Fatalf("%v, %v", s.Count, err)
	}
	if s.Labels != (Tally{Read: 7*6 + 1, Size: 8, Kept: 7 * 5}) || s.Windows != 6*17 {
		t.Errorf("sums: %+v", s)
	}
	if last.Sequences != 10 || last.Total != 10 || last.Events < s.Events || last.Bytes != last.TotalBytes {
		t.Errorf("progress %+v", last)
	}
	slices.SortFunc(ended, func(a, b Outcome) int { return strings.Compare(a.Out, b.Out) })
	all := slices.SortedFunc(slices.Values(s.Sequences), func(a, b Outcome) int { return strings.Compare(a.Out, b.Out) })
	if !reflect.DeepEqual(ended, all) {
		t.Errorf("told of %v\n at the end %v", ended, all)
	}
	why := map[string]string{"seq7": "no label file: expected ", "seq8": "no recording: expected ", "seq5": "hdf5"}
	for _, q := range s.Sequences {
		if q.Status == Failed && !strings.Contains(q.Err.Error(), why[q.Name]) || (q.Status == Failed) != (why[q.Name] != "") {
			t.Errorf("%s: %s, %v", q.Name, q.Status, q.Err)
		}
		if q.Status == Made && q.Out != filepath.Join(out, q.Split.String(), q.Name) {
			t.Errorf("%s went to %s", q.Name, q.Out)
		}
		if q.Status != Made && len(entries(t, q.Out)) > 0 {
			t.Errorf("%s: %v", q.Name, entries(t, q.Out))
		}
	}

	again, err := Sequences(context.Background(), in, out, o, DatasetOptions{Splits: []Split{Val, Test}})
	if err != nil || again.Count[Existing] != 2 || again.Count[Failed] != 3 || len(again.Sequences) != 6 {
		t.Errorf("again: %v, %v", again.Count, err)
	}
}

// TestSequencesGoOn: a run that is cancelled is completed by the next.
func TestSequencesGoOn(t *testing.T) {
	needHDF5(t)
	in, cut, whole := miniDataset(t), t.TempDir(), t.TempDir()
	o := Options{Size: small}
	ctx, cancel := context.WithCancel(context.Background())
	s, err := Sequences(ctx, in, cut, o, DatasetOptions{Jobs: 1, Progress: func(p Progress) {
		if p.Sequences == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || s.Count[NotRun] == 0 || s.Count[Made] == 0 {
		t.Errorf("cancelled: %v, %v", s.Count, err)
	}
	for _, to := range []string{cut, whole} {
		if _, err := Sequences(context.Background(), in, to, o, DatasetOptions{Jobs: 2}); err != nil {
			t.Fatal(err)
		}
	}
	equalTrees(t, cut, whole)
}

// TestFindFlat: a folder of sequences without splits, recordings of other names, and no labels.
func TestFindFlat(t *testing.T) {
	in := filepath.Join(t.TempDir(), "val")
	for _, f := range []string{"a_bbox.npy", "a_td.h5", "a_td.dat.h5", "b_td.raw", "b_bbox.npy", "c.parquet", "notes.txt", ".d_bbox.npy"} {
		if err := errors.Join(os.MkdirAll(in, 0o777), os.WriteFile(filepath.Join(in, f), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		d      Dataset
		labels bool
		want   string
	}{
		{Gen4, true, "a a_td.h5, b b_td.raw, c c.parquet rvt: no label file: expected c_bbox.npy"},
		{Gen1, true, "a a_td.dat.h5, b b_td.raw, c c.parquet rvt: no label file: expected c_bbox.npy"},
		{Gen4, false, "a a_td.h5, b b_td.raw, c c.parquet"},
	} {
		found, err := Find(in, "out", c.d, c.labels)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			line := f.Name + " " + filepath.Base(f.Recording)
			if f.Err != nil {
				line += " " + strings.ReplaceAll(f.Err.Error(), in+string(filepath.Separator), "")
			}
			if got = append(got, line); *f.Split != Val || f.Out != filepath.Join("out", f.Name) {
				t.Errorf("%+v", f)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v: %s", c.d, strings.Join(got, ", "))
		}
	}
	if _, err := Find(t.TempDir(), "out", Gen1, true); err == nil {
		t.Error("an empty folder holds sequences")
	}
	if _, err := Sequences(context.Background(), in, "out", Options{Span: time.Second, Count: 1}, DatasetOptions{}); !errors.Is(err, ErrOptions) {
		t.Errorf("wrong options: %v", err)
	}
}

package rvt

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/npy"
)

// A goldenRow is what RVT's own code made of a label file, or why it made nothing.
type goldenRow struct {
	Name, Dataset, Split, Outcome string
	Psee                          bool `json:"apply_psee_bbox_filter"`
	Faulty                        bool `json:"apply_faulty_bbox_filter"`
	NLabels                       int  `json:"n_labels"`
	Frames, Grid, Kept            int
}

func goldenRows(t *testing.T) (dir string, rows []goldenRow) {
	t.Helper()
	data := filepath.Join(eventtest.Data(t), "rvt_golden")
	b, err := os.ReadFile(filepath.Join(data, "GOLDEN.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Labels []goldenRow }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Labels) < 9 {
		t.Fatalf("%d label files among the goldens", len(all.Labels))
	}
	return filepath.Join(data, "labels"), all.Labels
}

// goldenGrid goes the whole way of a golden row.
func goldenGrid(t *testing.T, dir string, row goldenRow, mode GridMode) (Grid, error) {
	t.Helper()
	labels, err := ReadLabels(filepath.Join(dir, row.Name+"_bbox.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if len(labels) != row.NLabels {
		t.Errorf("%d labels, want %d", len(labels), row.NLabels)
	}
	dataset, err1 := ParseDataset(row.Dataset)
	split, err2 := ParseSplit(row.Split)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	kept, n, err := Filter{Dataset: dataset, Split: split, Psee: row.Psee, Faulty: row.Faulty}.Apply(labels)
	if n.Read != n.Class+n.Empty+n.Size+n.Wide+n.Kept || n.Kept != len(kept) {
		t.Errorf("the counts do not add up: %+v", n)
	}
	if err != nil {
		return Grid{}, err
	}
	return NewGrid(kept, GridOptions{Dataset: dataset, Mode: mode})
}

// TestGoldens holds labels, frames, grids and outcomes to RVT's.
func TestGoldens(t *testing.T) {
	dir, rows := goldenRows(t)
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			g, err := goldenGrid(t, dir, row, LikeRVT)
			var refused *RefusalError
			switch {
			case row.Outcome == "no labels left":
				if !errors.Is(err, ErrNoLabels) {
					t.Errorf("%v, want none left", err)
				}
				return
			case row.Outcome != "":
				_, hz, _ := strings.Cut(row.Outcome, "hz=")
				hz, _, _ = strings.Cut(hz, " ")
				if !errors.As(err, &refused) || refused.Rule != RateRule || !strings.Contains(err.Error(), hz+" Hz") || !strings.Contains(err.Error(), "--grid 50ms") {
					t.Errorf("%v, want %s", err, row.Outcome)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if len(g.Times) != row.Frames || len(g.Ends) != row.Grid || len(g.Labels) != row.Kept {
				t.Errorf("%d frames, %d ends, %d labels; want %+v", len(g.Times), len(g.Ends), len(g.Labels), row)
			}
			compareGolden(t, g, filepath.Join(dir, row.Name+"_expected.npz"))
			checkGrid(t, g)
		})
	}
}

// compareGolden compares what is written with what RVT's code made, field by field.
func compareGolden(t *testing.T, g Grid, golden string) {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(WriteLabels(dir, g.Frames, false), os.Mkdir(filepath.Join(dir, "repr"), 0o700), WriteGrid(filepath.Join(dir, "repr"), g, false)); err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(dir, "labels.npz")
	want, got := memberFile(t, golden, "labels"), memberFile(t, ours, "labels")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	ints := func(v []int64, err error) []int64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, got := range map[string][]int64{
		"objframe_idx_2_label_idx": ints(npy.ReadIntsIn(ours, "objframe_idx_2_label_idx")),
		"frame_timestamps_us":      ints(npy.ReadInts(filepath.Join(dir, "timestamps_us.npy"))),
		"grid":                     ints(npy.ReadInts(filepath.Join(dir, "repr", "timestamps_us.npy"))),
		"objframe_idx_2_repr_idx":  ints(npy.ReadInts(filepath.Join(dir, "repr", "objframe_idx_2_repr_idx.npy"))),
	} {
		if diff := cmp.Diff(ints(npy.ReadIntsIn(golden, name)), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if err := WriteLabels(dir, g.Frames, false); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("written twice: %v", err)
	}
	if err := WriteLabels(dir, g.Frames, true); err != nil {
		t.Errorf("forced: %v", err)
	}
}

// A columns is a table of labels as it lies in a file.
type columns struct {
	Names  []string
	Ints   map[string][]int64
	Floats map[string][]uint32 // their bits
}

func memberFile(t *testing.T, archive, name string) columns {
	t.Helper()
	table, err := npy.ReadTableIn(archive, name)
	if err != nil {
		t.Fatal(err)
	}
	c := columns{Names: table.Names(), Ints: map[string][]int64{}, Floats: map[string][]uint32{}}
	for _, f := range []string{"t", "class_id", "track_id"} {
		if c.Ints[f], err = table.Int64(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"x", "y", "w", "h", "class_confidence"} {
		values, err := table.Float32(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			c.Floats[f] = append(c.Floats[f], math.Float32bits(v))
		}
	}
	return c
}

// The two layouts of Prophesee's files say the same.
func TestReadLabelsLayouts(t *testing.T) {
	dir := filepath.Join(eventtest.Data(t), "labels_derived")
	var read []Labels
	for _, name := range []string{"new_t_itemsize40_bbox.npy", "old_ts_confidence_bbox.npy"} {
		l, err := ReadLabels(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(l) != 5 || l[0].W <= 0 || l[0].Confidence <= 0 || l[4].T <= l[0].T {
			t.Errorf("%s: %+v", name, l)
		}
		read = append(read, l)
	}
	if diff := cmp.Diff(read[0], read[1]); diff != "" {
		t.Errorf("the layouts differ (-new +old):\n%s", diff)
	}
}

// labelFile writes a file of one label with the given columns.
func labelFile(t *testing.T, columns ...npy.Column) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a_bbox.npy")
	table, err := npy.NewTable(columns...)
	if err == nil {
		err = npy.WriteArchive(path, []npy.Member{{Name: "a", Array: table}})
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	start := strings.Index(string(b), "\x93NUMPY") // the archive keeps it as it is
	n := 10 + int(binary.LittleEndian.Uint16(b[start+8:]))
	if err := os.WriteFile(path, b[start:start+n+36], 0o600); err != nil { // long enough for any of the tests
		t.Fatal(err)
	}
	return path
}

func box() []npy.Column {
	one := []float32{1}
	return []npy.Column{{Name: "t", Values: []int64{5}}, {Name: "x", Values: one}, {Name: "y", Values: one}, {Name: "w", Values: one},
		{Name: "h", Values: one}, {Name: "class_id", Values: []int32{2}}, {Name: "track_id", Values: []int32{-1}}, {Name: "class_confidence", Values: one}}
}

func TestReadLabelsOptionalFields(t *testing.T) {
	all, err := ReadLabels(labelFile(t, box()...))
	if want := (Labels{{5, 1, 1, 1, 1, 2, math.MaxUint32, 1}}); err != nil || !slices.Equal(all, want) {
		t.Errorf("%+v, %v", all, err)
	}
	few, err := ReadLabels(labelFile(t, box()[:6]...))
	if want := (Labels{{5, 1, 1, 1, 1, 2, 0, 0}}); err != nil || !slices.Equal(few, want) {
		t.Errorf("%+v, %v", few, err)
	}
}

func TestReadLabelsRefuses(t *testing.T) {
	for i, name := range []string{"t", "x", "y", "w", "h", "class_id"} {
		columns := slices.Delete(box(), i, i+1)
		if _, err := ReadLabels(labelFile(t, columns...)); !errors.Is(err, ErrBadLabels) || !strings.Contains(err.Error(), "the field "+name+" is missing") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	negative := box()
	negative[5].Values = []int32{-1}
	if _, err := ReadLabels(labelFile(t, negative...)); !errors.Is(err, ErrBadLabels) || !strings.Contains(err.Error(), "class_id of label 0 is -1") {
		t.Errorf("a negative class: %v", err)
	}
	if _, err := ReadLabels(filepath.Join(t.TempDir(), "a_bbox.npy")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no label file: expected ") {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(t.TempDir(), "a_bbox.npy")
	whole, err := os.ReadFile(labelFile(t, box()...))
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{
		"empty":      nil,
		"cut header": whole[:60],
		"cut data":   whole[:len(whole)-1],
		"objects":    []byte(strings.Replace(string(whole), "'<f4'", "'|O' ", 1)),
		"huge shape": []byte(strings.Replace(string(whole), "(1,), }      ", "(9999999,), }", 1)),
	} {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := ReadLabels(path); !errors.Is(err, ErrBadLabels) || name == "objects" && !errors.Is(err, npy.ErrObjects) {
			t.Errorf("%s: %v, %v", name, l, err)
		}
	}
}

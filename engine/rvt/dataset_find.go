package rvt

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evq-project/evq/io/formats"
)

// A Found is a sequence of a data set: its recording and labels, and where its tree goes.
type Found struct {
	Name      string
	Split     *Split // nil where the folder is called otherwise
	Recording string
	Labels    string // "" where the windows end by other rules
	Out       string
	Err       error // what is missing
}

// labelsSuffix ends the name of a file of labels.
const labelsSuffix = "_bbox.npy"

// Find lists the sequences of a data set, in the order of their splits and names. in holds the folders train, val
// and test, or some of them, or the sequences themselves. A sequence is NAME_bbox.npy beside its recording: for
// gen4 NAME_td.h5, for gen1 NAME_td.dat.h5, or else NAME_td or NAME with the extension of any format that evq
// reads. Trees go to out/SPLIT/NAME, those of a flat folder to out/NAME. With no splits given, all are listed.
// Without labels, for windows that end by other rules, every recording is a sequence.
func Find(in, out string, d Dataset, labels bool, splits ...Split) ([]Found, error) {
	var found []Found
	split := false
	for _, s := range []Split{Train, Val, Test} {
		dir := filepath.Join(in, s.String())
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			continue
		}
		split = true
		if len(splits) > 0 && !slices.Contains(splits, s) {
			continue
		}
		here, err := findIn(dir, filepath.Join(out, s.String()), d, labels)
		if err != nil {
			return nil, err
		}
		for i := range here {
			here[i].Split = &s
		}
		found = append(found, here...)
	}
	if split {
		return nonEmpty(found, in)
	}
	found, err := findIn(in, out, d, labels)
	if err != nil {
		return nil, err
	}
	if own, err := ParseSplit(filepath.Base(filepath.Clean(in))); err == nil {
		for i := range found {
			found[i].Split = &own
		}
	}
	return nonEmpty(found, in)
}

func nonEmpty(found []Found, in string) ([]Found, error) {
	if len(found) == 0 {
		return nil, fmt.Errorf("rvt: %s: no sequence; expected NAME%s beside NAME_td.h5, here or in train, val and test", in, labelsSuffix)
	}
	return found, nil
}

// findIn lists the sequences that lie in one folder.
func findIn(dir, out string, d Dataset, labels bool) ([]Found, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("rvt: %w", err)
	}
	files := map[string]bool{}
	names := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		files[e.Name()] = true
		name, isLabels := strings.CutSuffix(e.Name(), labelsSuffix)
		if !isLabels {
			name = sequenceOf(e.Name())
		}
		if name != "" && (labels || !isLabels) {
			names[name] = true
		}
	}
	var found []Found
	for name := range names {
		f := Found{Name: name, Out: filepath.Join(out, name)}
		recording := recordingOf(name, d, files)
		if f.Recording = filepath.Join(dir, recording); recording == "" {
			f.Recording = ""
			f.Err = fmt.Errorf("rvt: no recording: expected %s", filepath.Join(dir, recordingNames(name, d)[0]))
		}
		if labels {
			f.Labels = filepath.Join(dir, name+labelsSuffix)
			if !files[name+labelsSuffix] {
				f.Err = fmt.Errorf("rvt: no label file: expected %s", f.Labels)
			}
		}
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// stems are what a recording of NAME is called before its extension, in the order in which they are preferred.
func stems(name string, d Dataset) []string {
	if d == Gen1 {
		return []string{name + "_td.dat", name + "_td", name}
	}
	return []string{name + "_td", name + "_td.dat", name}
}

// extensions are those of recordings, HDF5's first, as RVT has it, and the store's before those that are slower
// to read.
func extensions() []string {
	all := []string{".h5", ".hdf5", ".parquet"}
	for _, f := range formats.All {
		for _, e := range f.Extensions {
			if !slices.Contains(all, e) && e != ".npy" {
				all = append(all, e)
			}
		}
	}
	return all
}

// recordingNames are the names that a sequence's recording can have.
func recordingNames(name string, d Dataset) []string {
	var out []string
	for _, stem := range stems(name, d) {
		for _, e := range extensions() {
			out = append(out, stem+e)
		}
	}
	return out
}

func recordingOf(name string, d Dataset, files map[string]bool) string {
	for _, n := range recordingNames(name, d) {
		if files[n] {
			return n
		}
	}
	return ""
}

// common are extensions that many other files have: with these only NAME_td is a recording.
var common = []string{".txt", ".csv", ".npz", ".bin"}

// sequenceOf returns the name of the sequence that a file is the recording of, "" where it is none.
func sequenceOf(file string) string {
	for _, e := range extensions() {
		name, ok := strings.CutSuffix(file, e)
		if !ok {
			continue
		}
		stem, marked := strings.CutSuffix(strings.TrimSuffix(name, ".dat"), "_td")
		if !marked && slices.Contains(common, e) {
			return ""
		}
		return stem
	}
	return ""
}

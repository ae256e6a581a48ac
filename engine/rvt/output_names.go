package rvt

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/evq-project/evq/udf"
)

// The folders of a sequence, as RVT's loader knows them.
const (
	framesFolder = "event_representations_v2"
	labelsFolder = "labels_v2"
)

// The files of a sequence, and the dataset of its frames.
const (
	timesFile    = "timestamps_us.npy"
	indexFile    = "objframe_idx_2_repr_idx.npy"
	labelsFile   = "labels.npz"
	manifestFile = "manifest.json"
	framesData   = "data"
)

// rvtNames are representations that RVT calls otherwise.
var rvtNames = map[string]string{"mixed_density": "mixeddensity_stack"}

// Name is the folder in which RVT looks for frames of a representation: its name, the window, dt in milliseconds
// or ne in events, the number of bins, and for the mixed density stack its cutoff.
func Name(r udf.Representation, span time.Duration, count int64) string {
	name, args := callOf(r)
	if rvt, ok := rvtNames[name]; ok {
		name = rvt
	}
	window := "dt=" + strconv.FormatFloat(float64(span.Microseconds())/1e3, 'f', -1, 64)
	if count > 0 {
		window = fmt.Sprintf("ne=%d", count)
	}
	out := name + "_" + window
	if bins := args["bins"]; bins != "" {
		out += "_nbins=" + bins
	}
	if cutoff := args["cutoff"]; name == "mixeddensity_stack" && cutoff != "" && cutoff != "none" {
		out += "_cutoff=" + cutoff
	}
	return out
}

// framesName is the file of the frames; RVT's loader finds those of half size by their name.
func framesName(r udf.Representation) string {
	if downsampleOf(r) == 2 {
		return "event_representations_ds2_nearest.h5"
	}
	return "event_representations.h5"
}

// callOf takes a representation's name and arguments out of the way it prints: name(k=v, k=v).
func callOf(r udf.Representation) (name string, args udf.Args) {
	name, rest, _ := strings.Cut(r.String(), "(")
	args = udf.Args{}
	for part := range strings.SplitSeq(strings.TrimSuffix(rest, ")"), ",") {
		if k, v, ok := strings.Cut(strings.TrimSpace(part), "="); ok {
			args[k] = v
		}
	}
	return name, args
}

// downsampleOf returns by how much a representation shortens each side.
func downsampleOf(r udf.Representation) int {
	_, args := callOf(r)
	if n, err := strconv.Atoi(args["downsample"]); err == nil {
		return n
	}
	return 1
}

// A tree names the files of one sequence and representation. Paths in it are relative to its folder, with slashes.
type tree struct {
	out    string // the sequence's folder
	name   string // of the representation
	frames string // the .h5, relative
}

func newTree(o Options) tree {
	name := Name(o.Representation, o.Span, o.Count)
	return tree{o.Out, name, framesFolder + "/" + name + "/" + framesName(o.Representation)}
}

func (t tree) times() string      { return framesFolder + "/" + t.name + "/" + timesFile }
func (t tree) index() string      { return framesFolder + "/" + t.name + "/" + indexFile }
func (t tree) labels() string     { return labelsFolder + "/" + labelsFile }
func (t tree) labelTimes() string { return labelsFolder + "/" + timesFile }

// path is where a file of the tree lies.
func (t tree) path(relative string) string { return filepath.Join(t.out, filepath.FromSlash(relative)) }

package rvt

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/mixeddensity"
	"github.com/evq-project/evq/udf/stackedhist"
)

// Options say how a sequence becomes RVT's tree. Their zero value, with Out and one of Labels, Ends, EndsFile and
// Every set, is RVT's own configuration for gen1, and with Dataset set to Gen4 that for gen4.
type Options struct {
	Dataset Dataset
	Split   *Split // nil = what the recording's folder is called, and Val where that is no split

	// What the windows end at; one of the four.
	Labels   string        // a .npy of boxes: frames and grid follow from them
	Ends     []int64       // times in microseconds, not decreasing
	EndsFile string        // a .npy of such times
	Every    time.Duration // D, 2D, ... up to the first at or after the last event

	Grid   GridMode
	Step   time.Duration // from one window's end to the next; 0 = 50 ms
	Align  time.Duration // the first frame is the first label at or after it; 0 = 100 ms
	Psee   *bool         // Filter.Psee; nil = DefaultFilter's
	Faulty *bool         // Filter.Faulty; nil = DefaultFilter's

	Span           time.Duration      // of a window; 0 = 50 ms, unless Count is set
	Count          int64              // windows of the last so many events instead
	Representation udf.Representation // nil = the stacked histogram with 10 bins, cutoff 10, overflow wrap
	Downsample     int                // of the stacked histogram, 1 or 2; 0 = the representation's, of the default one 2 for gen4 and 1 for gen1
	Size           event.Geometry     // of the sensor, where it isn't the dataset's

	// Reading. Decode's order policy is clamp and its off-sensor policy keep unless set, as RVT reads.
	Format string
	Decode format.Policy

	Out         string // the sequence's folder: it will hold labels_v2 and event_representations_v2
	Force       bool   // overwrite what was made with other options
	Verify      bool   // read the frames back and compare them with what was written
	Compression string // of the frames, one of hdf5.Compressions

	Device   string // cpu, cuda, ...; "" = the fastest there is
	Threads  int    // 0 = one per CPU
	Memory   int64  // bytes for events and blocks; 0 = engine.DefaultMemory
	Logger   *slog.Logger
	Progress func(done, total int64) // events; total is -1 where it is not known
	Version  string                  // of the program, for the manifest
}

// ErrOptions reports options that are missing, unknown or contradict each other.
var ErrOptions = errors.New("rvt: wrong options")

func wrong(text string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(text, args...))
}

// Defaults are the arguments that RVT's configuration gives a representation of that name on a dataset; what a
// user says goes before them. Names that RVT doesn't have get none.
func Defaults(d Dataset, name string) udf.Args {
	half := strconv.Itoa(d.downsample())
	switch name {
	case "stacked_histogram":
		return udf.Args{"bins": "10", "cutoff": "10", "overflow": "wrap", "rounding": "torch32", "downsample": half}
	case "mixed_density":
		return udf.Args{"bins": "10", "cutoff": "32", "downsample": half}
	}
	return nil
}

// complete checks the options and fills in the defaults. rec is the recording's path.
func (o Options) complete(rec string) (Options, error) {
	switch {
	case o.Dataset > Gen4 || o.Grid > Even || o.Split != nil && *o.Split > Test:
		return o, wrong("a data set, split or grid that has no name; use the constants")
	case o.Out == "":
		return o, wrong("no output folder is named")
	case o.Span < 0 || o.Span%time.Microsecond != 0:
		return o, wrong("a span of %v; whole microseconds are possible", o.Span)
	case o.Count < 0:
		return o, wrong("windows of %d events", o.Count)
	case o.Span > 0 && o.Count > 0:
		return o, wrong("windows have a span or a count of events; set one")
	case o.Every < 0:
		return o, wrong("windows every %v", o.Every)
	case o.Downsample < 0 || o.Downsample > 2:
		return o, wrong("downsample %d; 1 and 2 are possible", o.Downsample)
	}
	if n := o.sources(); n != 1 {
		return o, wrong("windows end by labels, by a list of ends or every so often; %d of these are set, and one is needed", n)
	}
	o.filters(rec)
	o.reading()
	if err := o.represent(); err != nil {
		return o, err
	}
	return o, nil
}

// sources counts what the windows could end at.
func (o *Options) sources() int {
	n := 0
	for _, set := range []bool{o.Labels != "", o.Ends != nil, o.EndsFile != "", o.Every != 0} {
		if set {
			n++
		}
	}
	return n
}

// filters fills in what depends on the data set and the recording's folder.
func (o *Options) filters(rec string) {
	if o.Split == nil {
		split := Val
		if abs, err := filepath.Abs(rec); err == nil {
			if named, err := ParseSplit(filepath.Base(filepath.Dir(abs))); err == nil {
				split = named
			}
		}
		o.Split = &split
	}
	usual := DefaultFilter(o.Dataset, *o.Split)
	if o.Psee == nil {
		o.Psee = &usual.Psee
	}
	if o.Faulty == nil {
		o.Faulty = &usual.Faulty
	}
	if o.Count == 0 && o.Span == 0 {
		o.Span = 50 * time.Millisecond
	}
	if o.Step == 0 {
		o.Step = defaultStep
	}
	if o.Align == 0 {
		o.Align = defaultAlign
	}
}

func (o Options) filter() Filter {
	return Filter{Dataset: o.Dataset, Split: *o.Split, Psee: *o.Psee, Faulty: *o.Faulty}
}

func (o Options) gridOptions() GridOptions {
	return GridOptions{Dataset: o.Dataset, Mode: o.Grid, Step: o.Step, Align: o.Align}
}

// reading fills in how recordings are read.
func (o *Options) reading() {
	if o.Decode.OnUnsorted == "" {
		o.Decode.OnUnsorted = format.Clamp
	}
	if o.Decode.OnOffSensor == "" {
		o.Decode.OnOffSensor = format.Keep
	}
	if o.Memory <= 0 {
		o.Memory = engine.DefaultMemory
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// represent settles the representation and its downsampling.
func (o *Options) represent() error {
	if o.Representation == nil {
		half := o.Downsample
		if half == 0 {
			half = o.Dataset.downsample()
		}
		h, err := stackedhist.New(stackedhist.LikeRVT(), stackedhist.Downsample(half))
		o.Representation = h
		return err
	}
	if o.Downsample > 0 {
		switch r := o.Representation.(type) {
		case stackedhist.Histogram:
			r.Downsample = o.Downsample
			o.Representation = r
		case mixeddensity.Stack:
			r.Downsample = o.Downsample
			o.Representation = r
		}
	}
	if has := downsampleOf(o.Representation); o.Downsample > 0 && o.Downsample != has {
		return wrong("%v has downsample %d, not %d; make it with the one that is wanted", o.Representation, has, o.Downsample)
	}
	return nil
}

// downsample is by how much RVT shortens each side of a data set's frames.
func (d Dataset) downsample() int {
	if d == Gen4 {
		return 2
	}
	return 1
}

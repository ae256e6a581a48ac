// Package check holds a device to the processor, on data like that of real recordings: are the bytes the same, how long
// does each stage take, and how near is that to what the memory allows.
//
// It knows devices and slices; it refuses to know how results are printed.
package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evq-project/evq/accel"
)

// Options say what is counted. The zero value of a field is what the comment says.
type Options struct {
	Events        int               // of each data set; 5,100,000
	Width, Height int               // of the sensor; 1280x720
	Sparse, Dense int               // windows; 128 and 12
	Rounds        int               // the best of so many is taken; 3
	Progress      func(what string) // is told what comes next; nil: nobody is
	Reference     func(Data) []Peer // measures others on the same data; nil: nobody is
}

// A checker is a check on its way.
type checker struct {
	Options
	device, reference accel.Device // under test, and the processor
	hardware          accel.Hardware
}

// A Report is what was found.
type Report struct {
	Device   string
	Hardware accel.Hardware
	Cases    []Case
	Peers    []Peer
}

// A Case is one way of counting one set of data. Times of stages are of batches one after another, and leave out what lies
// between; EndToEnd is the work as it is done, with both copies.
type Case struct {
	Data       string
	Kind       string // wrap or saturate: bytes; words: an event frame
	Downsample int
	Events     int
	Windows    int
	SHA256     string // of all counts of the processor
	Equal      bool   // the device made the same, by every way
	Stages     []accel.Stage
	Kernel     time.Duration // clear, count and clip
	Bytes      int64         // that the device's memory must move at least
	Floor      time.Duration // for that at the memory's best, or 0 where that is not known
	EndToEnd   time.Duration
	Resident   time.Duration // with the counts left on the device, or 0 where they cannot be
	CPU        time.Duration // on one thread of the processor
}

// A Peer is another program's time for the case of wrapping counts at half resolution.
type Peer struct {
	Name, Data string
	Millis     float64
	SHA256     string
	Equal      bool // to the processor's
	Failure    string
}

// Equal reports whether all counts were the same.
func (r Report) Equal() bool {
	for _, c := range r.Cases {
		if !c.Equal {
			return false
		}
	}
	return len(r.Cases) > 0
}

const (
	bins   = 10
	cutoff = 10
)

// Run checks a device against the reference, which is the processor. Counts that differ are no error: the report says so.
func Run(ctx context.Context, d, reference accel.Device, options Options) (Report, error) {
	o := checker{Options: options, device: d, reference: reference}
	if err := o.complete(); err != nil {
		return Report{}, err
	}
	rep := Report{Device: d.Name()}
	if h, ok := d.(accel.Described); ok {
		var err error
		if rep.Hardware, err = h.Describe(); err != nil {
			return rep, err
		}
		o.hardware = rep.Hardware
	}
	for _, set := range []struct {
		name         string
		windows, hot int
	}{{"sparse", o.Sparse, 0}, {"dense", o.Dense, 0}, {"1 % hot", o.Dense, 1}} {
		data := makeData(set.name, o.Options, set.windows, set.hot)
		cases, err := o.data(ctx, data)
		rep.Cases = append(rep.Cases, cases...)
		if err != nil {
			return rep, err
		}
		if o.Reference != nil {
			o.tell("%s, by others", set.name)
			for _, p := range o.Reference(data) {
				p.Data, p.Equal = set.name, p.Failure == "" && p.SHA256 == cases[0].SHA256
				rep.Peers = append(rep.Peers, p)
			}
		}
	}
	return rep, nil
}

// complete puts the defaults in.
func (o *Options) complete() error {
	for _, f := range []struct {
		field    *int
		standard int
	}{{&o.Events, 5_100_000}, {&o.Width, 1280}, {&o.Height, 720}, {&o.Sparse, 128}, {&o.Dense, 12}, {&o.Rounds, 3}} {
		if *f.field == 0 {
			*f.field = f.standard
		}
		if *f.field < 0 {
			return errors.New("accel: a check of fewer than no events, pixels, windows or rounds; give numbers from 1 on")
		}
	}
	if o.Events > 1<<28 {
		return fmt.Errorf("accel: a check of %d events; up to 2^28 are possible", o.Events)
	}
	return o.grid("saturate", 2).Validate()
}

func (o *checker) tell(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

func (o *Options) grid(kind string, downsample int) accel.Grid {
	return accel.Grid{Bins: bins, Width: o.Width, Height: o.Height, Downsample: downsample, Cutoff: cutoff, Wrap: kind == "wrap"}
}

// data runs all cases of one set of data; the first is the one that others measure as well.
func (o *checker) data(ctx context.Context, d Data) (cases []Case, err error) {
	for _, downsample := range []int{2, 1} {
		for _, kind := range []string{"wrap", "saturate"} {
			o.tell("%s, %s, 1/%d resolution", d.Name, kind, downsample)
			g := o.grid(kind, downsample)
			c := Case{Data: d.Name, Kind: kind, Downsample: downsample}
			c.Bytes = leastBytes(d, g)
			err := o.measure(ctx, d, &c, opener{1, g.Len(), g.Bins,
				func() (accel.Kernel, error) { return o.device.Open(g) },
				func() (accel.Kernel, error) { return o.reference.Open(g) }})
			if err != nil {
				return cases, fmt.Errorf("%s, %s, 1/%d resolution: %w", d.Name, kind, downsample, err)
			}
			cases = append(cases, c)
		}
	}
	many, ok := o.device.(accel.Tabler)
	if !ok {
		return cases, nil
	}
	o.tell("%s, words", d.Name)
	t := accel.Table{Bins: bins, Width: o.Width, Height: o.Height, TileX: 1, TileY: 1, Polarity: accel.Apart}
	c := Case{Data: d.Name, Kind: "words", Downsample: 1}
	c.Bytes = 4*int64(t.Len())*int64(len(d.Windows)) + int64(len(d.X))*(4+2*sector)
	err = o.measure(ctx, d, &c, opener{4, t.Len(), t.Bins,
		func() (accel.Kernel, error) { return many.OpenTable(t) },
		func() (accel.Kernel, error) { return plainTable{t}, nil }})
	if err != nil {
		return cases, fmt.Errorf("%s, words: %w", d.Name, err)
	}
	return append(cases, c), nil
}

// sector is what memory moves at least, in bytes.
const sector = 32

// leastBytes returns what the device's memory must move where no two counts are neighbours: the counts are cleared, each
// event is read once or, to clip, twice, and each that counts has its sector read and written, and to clip read.
func leastBytes(d Data, g accel.Grid) int64 {
	events, counted := int64(len(d.X)), d.counted(g.Downsample)
	n := int64(g.Len())*int64(len(d.Windows)) + 4*events + 2*sector*counted
	if g.Wrap && g.Cutoff < 255 {
		n += 4*events + sector*counted
	}
	return n
}

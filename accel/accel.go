// Package accel defines the hot loop that hardware may run: scattering events into counts.
//
// It knows slices and numbers only: no Arrow, no files, no plans. What crosses this border can be handed to
// C as pointers and lengths. Kernels see no times and do no division: the host turns each (window, bin) into
// a range of events first, by the one rule in binning.go, so that every device agrees bit for bit.
package accel

import (
	"context"
	"errors"
	"fmt"
)

// A Grid describes the counts of one window: 2*Bins channels (OFF first) of rows and columns of bytes.
type Grid struct {
	Bins          int
	Width, Height int  // of the sensor, before downsampling
	Downsample    int  // 1, or 2: only events with odd x and odd y count, at (x/2, y/2)
	Cutoff        int  // the largest count that is kept, 1..255
	Wrap          bool // counts wrap at 256 before Cutoff (RVT's fast mode); otherwise they saturate
	// Flat places an event by the unchecked flat index that RVT computes, so that one at x = Width lands in
	// the next row. Otherwise events off the sensor are dropped.
	Flat bool
}

// Validate reports a grid that no device can count.
func (g Grid) Validate() error {
	if err := validateSensor(g.Bins, g.Width, g.Height); err != nil {
		return err
	}
	switch {
	case g.Downsample != 1 && g.Downsample != 2:
		return fmt.Errorf("accel: downsample %d; 1 and 2 are possible", g.Downsample)
	case g.Cutoff < 1 || g.Cutoff > 255:
		return fmt.Errorf("accel: cutoff %d; 1 to 255 is possible", g.Cutoff)
	}
	if n := int64(g.Channels()) * int64(g.Rows()) * int64(g.Columns()); n > 1<<31-1 || n == 0 {
		return fmt.Errorf("accel: a window of %d counts; 1 to 2^31-1 are possible", n)
	}
	return nil
}

func validateSensor(bins, width, height int) error {
	switch {
	case bins < 1 || bins > 1<<12:
		return fmt.Errorf("accel: %d bins; 1 to 4096 are possible", bins)
	case width < 1 || height < 1 || width > 1<<15 || height > 1<<15:
		return fmt.Errorf("accel: a sensor of %dx%d; 1x1 to 32768x32768 is possible", width, height)
	}
	return nil
}

// Channels returns the number of planes, 2*Bins.
func (g Grid) Channels() int { return 2 * g.Bins }

// Rows returns the height of a plane.
func (g Grid) Rows() int { return g.Height / g.Downsample }

// Columns returns the width of a plane.
func (g Grid) Columns() int { return g.Width / g.Downsample }

// Len returns the number of counts of one window.
func (g Grid) Len() int { return g.Channels() * g.Rows() * g.Columns() }

// A Segment is the run of events [Start, Start+Len) that falls in one bin of one window.
type Segment struct{ Window, Bin, Start, Len uint32 }

// A Job is a number of windows over one set of event columns of equal length. Windows may overlap.
type Job struct {
	X, Y     []uint16
	P        []int8 // 0 or 1; anything else in a segment is an error
	Segments []Segment
	Windows  int
}

// Validate reports a job whose columns or segments do not fit together.
func (j Job) Validate(g Grid) error {
	if len(j.Y) != len(j.X) || len(j.P) != len(j.X) {
		return fmt.Errorf("accel: columns of unequal length: x %d, y %d, p %d", len(j.X), len(j.Y), len(j.P))
	}
	for _, s := range j.Segments {
		if int(s.Window) >= j.Windows || int(s.Bin) >= g.Bins || uint64(s.Start)+uint64(s.Len) > uint64(len(j.X)) {
			return fmt.Errorf("accel: segment %+v lies outside %d windows of %d bins over %d events", s, j.Windows, g.Bins, len(j.X))
		}
	}
	return nil
}

// A Device runs scatter kernels on one kind of hardware.
type Device interface {
	// Name is the word users type: cpu, cuda, metal.
	Name() string
	// Probe returns nil where the device can run, and otherwise why it cannot.
	Probe() error
	// Open readies a kernel for one grid; the caller closes it.
	Open(g Grid) (Kernel, error)
}

// A Kernel counts events. It serves one goroutine at a time; open one for each.
type Kernel interface {
	// Scatter overwrites dst, which holds Grid.Len counts for each window, window after window, and returns
	// how many events it left out because they lay off the sensor (each counted once per segment it is in).
	Scatter(ctx context.Context, job Job, dst []uint8) (offSensor int64, err error)
	Close() error
}

var (
	// ErrUnavailable reports a device that this build or this machine does not have.
	ErrUnavailable = errors.New("device unavailable")
	// ErrFailed reports a device that failed while it counted, as one does that is lost or out of memory. What was asked
	// of it is as right as before, and another device can do it.
	ErrFailed = errors.New("the device failed")
)

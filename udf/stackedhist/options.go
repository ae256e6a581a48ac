package stackedhist

import (
	"errors"
	"fmt"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/cpu"
)

// defaults is the histogram of the parameter table: 10 bins, cutoff 10, full resolution, saturating.
var defaults = Histogram{Bins: 10, Cutoff: 10, Downsample: 1}

// preset is the histogram of RVT's preprocessing for large sensors: half the resolution, and counts that wrap.
var preset = Histogram{Bins: 10, Cutoff: 10, Downsample: 2, Overflow: Wrapping}

// An Option sets one parameter. The last one wins.
type Option func(*settings)

type settings struct {
	Histogram
	device  accel.Device
	threads int
	err     error
}

// Bins sets the number of time bins, 10 by default.
func Bins(n int) Option { return func(s *settings) { s.Bins = n } }

// Cutoff sets the largest count that is kept, 10 by default.
func Cutoff(n int) Option {
	return func(s *settings) {
		if s.Cutoff = n; n < 1 {
			s.err = fmt.Errorf("stackedhist: cutoff %d; 1 to 255 is possible, and NoCutoff", n)
		}
	}
}

// NoCutoff keeps counts up to 255.
func NoCutoff() Option { return func(s *settings) { s.Cutoff = 0 } }

// Downsample sets by how much each side of the block is shorter than the sensor's: 1 or 2.
func Downsample(n int) Option {
	return func(s *settings) {
		if s.Downsample = n; n < 1 {
			s.err = fmt.Errorf("stackedhist: downsample %d; 1 and 2 are possible", n)
		}
	}
}

// Wrap lets counts start over at 256, as RVT's fast mode does.
func Wrap() Option { return func(s *settings) { s.Overflow = Wrapping } }

// Saturate keeps counts at the cutoff. It is the default.
func Saturate() Option { return func(s *settings) { s.Overflow = Saturating } }

// Exact finds bins in integers.
func Exact() Option { return func(s *settings) { s.Rounding = accel.Exact } }

// Torch32 finds bins in single precision, as RVT does. It is the default.
func Torch32() Option { return func(s *settings) { s.Rounding = accel.Torch32 } }

// WindowTime lets the bins divide the time of the window.
func WindowTime() Option { return func(s *settings) { s.Timebase = OfWindow } }

// EventTime lets the bins divide the time from the window's first event to its last. It is the default.
func EventTime() Option { return func(s *settings) { s.Timebase = OfEvents } }

// RVTFlat places events off the sensor where RVT's flat index puts them.
func RVTFlat() Option { return func(s *settings) { s.OffSensor = FlatIndex } }

// DropOffSensor leaves out events off the sensor. It is the default.
func DropOffSensor() Option { return func(s *settings) { s.OffSensor = Drop } }

// LikeRVT sets every parameter as RVT's preprocessing does, with downsample 2; options after it change it.
func LikeRVT() Option { return func(s *settings) { s.Histogram = preset } }

// Device lets Dense count on d; the processor is the default. For New it is an error: frames choose the
// device where they run.
func Device(d accel.Device) Option { return func(s *settings) { s.device = d } }

// Threads bounds how many windows Dense counts at a time; 0, the default, is one per CPU. For New it is an
// error, as Device is.
func Threads(n int) Option { return func(s *settings) { s.threads = n } }

// New returns a histogram with the default parameters and what the options change.
func New(options ...Option) (Histogram, error) {
	s, err := apply(options)
	switch {
	case err != nil:
		return Histogram{}, err
	case s.device != nil || s.threads != 0:
		return Histogram{}, errors.New("stackedhist: a histogram has no device and no threads; set them where it runs")
	}
	return s.Histogram, nil
}

func apply(options []Option) (settings, error) {
	s := settings{Histogram: defaults}
	for _, o := range options {
		o(&s)
	}
	if s.err == nil {
		s.err = s.Validate()
	}
	return s, s.err
}

// deviceOrCPU returns the device to count on.
func (s settings) deviceOrCPU() accel.Device {
	if s.device == nil {
		return cpu.Device
	}
	return s.device
}

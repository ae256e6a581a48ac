// Package hotpixel is the filter that leaves out pixels which fire far more often than the others.
//
// It learns which pixels are hot from the recording, or is told; it refuses to know why they are.
package hotpixel

import (
	"errors"
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "hot_pixel"

// A Filter drops all events of hot pixels. Make one with New.
type Filter struct {
	rule     rule
	level    float64 // of the rule
	from, to int64   // what is learned from: from <= t < to
	mask     []Pixel
}

var _ udf.Filter = Filter{}

// A rule says which pixels are hot.
type rule int

const (
	percentile rule = iota
	sigma
	rate
	mask
)

func (r rule) String() string { return [...]string{"percentile", "sigma", "rate", "mask"}[r] }

// A Pixel is a place on the sensor.
type Pixel struct{ X, Y uint16 }

// An Option chooses what is hot, or what is learned from. Of two rules the later holds.
type Option func(*Filter)

// New makes a filter by percentile 99.9 of the whole recording, if no option says otherwise.
func New(options ...Option) Filter {
	f := Filter{level: usual, from: math.MinInt64, to: math.MaxInt64}
	for _, o := range options {
		o(&f)
	}
	return f
}

// Percentile takes the numbers of events of all n pixels that fired at all, in ascending order: pixels with more
// events than the one at floor((n-1)*q/100 + 1/2) are hot. q is 0 to 100.
//
// Source: evlib 0.13, filtering.filter_hot_pixels (the nearest rank, half up).
func Percentile(q float64) Option {
	return func(f *Filter) { f.rule, f.level = percentile, q }
}

// Sigma calls pixels hot that have more events than the mean and k standard deviations, over the pixels that fired
// at all; the deviation is that of a population.
func Sigma(k float64) Option {
	return func(f *Filter) { f.rule, f.level = sigma, k }
}

// Rate calls pixels hot that have more events than hz for each second from the first to the last event.
//
// Source: tonic 1.7, functional.identify_hot_pixel with drop_pixel_numpy.
func Rate(hz float64) Option {
	return func(f *Filter) { f.rule, f.level = rate, hz }
}

// Mask names the hot pixels; nothing is learned, and a recording is read once. The slice is not copied.
func Mask(pixels []Pixel) Option {
	return func(f *Filter) { f.rule, f.mask = mask, pixels }
}

// During learns from the events at from <= t < to, in microseconds, instead of all. All events are filtered.
func During(from, to int64) Option {
	return func(f *Filter) { f.from, f.to = from, to }
}

// ErrLevel reports a rule that cannot be.
var ErrLevel = errors.New("percentile is 0 to 100, sigma and rate are 0 or more; give another")

// String prints the filter as users write it.
func (f Filter) String() string {
	if f.rule == mask {
		return fmt.Sprintf("%s(mask=%d pixels)", name, len(f.mask))
	}
	s := fmt.Sprintf("%s(%v=%g", name, f.rule, f.level)
	if f.from != math.MinInt64 {
		s += fmt.Sprintf(", from=%dus", f.from)
	}
	if f.to != math.MaxInt64 {
		s += fmt.Sprintf(", to=%dus", f.to)
	}
	return s + ")"
}

// Columns are the pixel's.
func (f Filter) Columns() event.Columns { return event.ColX | event.ColY }

// Open readies the filter for one stream. It makes a udf.Learner, but for a mask.
func (f Filter) Open(g event.Geometry) (udf.Sieve, error) {
	s := &sieve{hot: udf.NewPixels[bool](g)}
	if f.rule == mask {
		return s, s.mark(f.mask, g.Known())
	}
	if !(f.level >= 0 && f.level <= math.MaxFloat64) || f.rule == percentile && f.level > 100 {
		return nil, fmt.Errorf("%s: %v=%g: %w", name, f.rule, f.level, ErrLevel)
	}
	if f.from >= f.to {
		return nil, fmt.Errorf("%s: nothing lies from %d us to before %d us; give another range", name, f.from, f.to)
	}
	return &learner{sieve: s, Filter: f, count: udf.NewPixels[uint64](g)}, nil
}

// A sieve drops the events of hot pixels.
type sieve struct {
	hot *udf.Pixels[bool]
}

// mark calls pixels hot. Those off a known sensor are left out, as no event of theirs is looked at.
func (s *sieve) mark(pixels []Pixel, fixed bool) error {
	for _, p := range pixels {
		if !fixed {
			if err := s.hot.Cover(event.New([]int64{0}, []uint16{p.X}, []uint16{p.Y}, nil)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if at, ok := s.hot.At(p.X, p.Y); ok {
			s.hot.Values[at] = true
		}
	}
	return nil
}

// Sift implements udf.Sieve.
func (s *sieve) Sift(b event.Batch, keep []bool) error {
	xs, ys, hot := b.X()[:len(keep)], b.Y()[:len(keep)], s.hot.Values
	for i := range keep {
		if at, ok := s.hot.At(xs[i], ys[i]); ok && at < len(hot) {
			keep[i] = !hot[at]
		}
	}
	return nil
}

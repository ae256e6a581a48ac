// Package refractory is the filter that silences a pixel for a while after it has fired.
//
// It judges events by the times of their pixel alone; it refuses to know where the events come from.
package refractory

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "refractory"

// A Filter keeps an event if more than Period has passed since the last event of its pixel, of either polarity. The
// first event of a pixel is kept.
//
// Source: tonic 1.7, functional.refractory_period_numpy, and evlib 0.13, filtering.filter_noise, for Seen; they differ
// from it at a pixel's first event, which tonic drops at t <= 0. Without Seen the rule is that of jAER's
// RefractoryFilter: a pixel that fires all the time still gets through once in each period.
type Filter struct {
	Period int64 // microseconds, 0 to udf.MaxHorizon
	// Seen compares with the last event of the pixel, kept or not; else only with the last that was kept.
	Seen bool
}

var _ udf.Filter = Filter{}

// Entry makes the filter available by name.
var Entry = udf.FilterEntry{
	Name:   name,
	Doc:    "keeps an event if more than a period has passed since the last one of its pixel",
	Source: "jAER, RefractoryFilter; against=seen: tonic, refractory_period_numpy, and evlib, filter_noise",
	Params: []udf.Param{
		{Name: "period", Default: "1ms", Doc: "how long a pixel is silenced; an event exactly so much later is still dropped"},
		{Name: "against", Default: "kept", Choices: []string{"kept", "seen"}, Doc: "the last event that was kept, or the last at all"},
	},
	New: func(a udf.Args) (udf.Filter, error) {
		period, err := a.Micros("period", 0, udf.MaxHorizon)
		return Filter{Period: period, Seen: a["against"] == "seen"}, err
	},
}

// String prints the filter as users write it.
func (f Filter) String() string {
	against := "kept"
	if f.Seen {
		against = "seen"
	}
	return fmt.Sprintf("%s(period=%dus, against=%s)", name, f.Period, against)
}

// Columns are the pixel's.
func (f Filter) Columns() event.Columns { return event.ColX | event.ColY }

// Open readies the filter for one stream.
func (f Filter) Open(g event.Geometry) (udf.Sieve, error) {
	if f.Period < 0 || f.Period > udf.MaxHorizon {
		return nil, fmt.Errorf("%s: a period of %d us; 0 to %d are possible", name, f.Period, int64(udf.MaxHorizon))
	}
	return &sieve{Filter: f, last: udf.NewPixels[uint32](g), clock: udf.NewClock(f.Period)}, nil
}

type sieve struct {
	Filter
	last  *udf.Pixels[uint32] // the stamp of each pixel's last event, 0 = none within the period
	clock udf.Clock
}

// Sift implements udf.Sieve.
func (s *sieve) Sift(b event.Batch, keep []bool) error {
	if err := s.last.Cover(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for b.Len() > 0 {
		n, back := s.clock.Next(b.T())
		udf.MoveBack(s.last.Values, back)
		if s.Seen {
			s.seen(b.Slice(0, n), keep[:n])
		} else {
			s.kept(b.Slice(0, n), keep[:n])
		}
		b, keep = b.Slice(n, b.Len()), keep[n:]
	}
	return nil
}

func (s *sieve) seen(b event.Batch, keep []bool) {
	ts, xs, ys := b.T(), b.X()[:len(keep)], b.Y()[:len(keep)]
	base, period, values := s.clock.Base(), uint32(s.Period), s.last.Values
	for i, t := range ts[:len(keep)] {
		at, ok := s.last.At(xs[i], ys[i])
		if !ok || at >= len(values) {
			continue
		}
		now := uint32(t - base)
		keep[i] = now-values[at] > period
		values[at] = now
	}
}

func (s *sieve) kept(b event.Batch, keep []bool) {
	ts, xs, ys := b.T(), b.X()[:len(keep)], b.Y()[:len(keep)]
	base, period, values := s.clock.Base(), uint32(s.Period), s.last.Values
	for i, t := range ts[:len(keep)] {
		at, ok := s.last.At(xs[i], ys[i])
		if !ok || at >= len(values) {
			continue
		}
		now, last := uint32(t-base), values[at]
		pass := now-last > period
		keep[i] = pass
		if pass { // a conditional move, not a branch
			last = now
		}
		values[at] = last
	}
}

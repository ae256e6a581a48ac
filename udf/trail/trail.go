// Package trail is the filter that keeps the first event of each burst of a pixel.
//
// It judges events by the last event of their pixel; it refuses to know the pixels around.
package trail

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "trail"

// A Filter keeps an event if the last event of its pixel had the other polarity or lies more than Threshold before
// it, whether that was kept or not; and the first event of a pixel. A burst of one polarity leaves its first event.
//
// Source: Prophesee, Event Signal Processing (docs.prophesee.ai, the Trail filter), which leaves open what an event
// exactly Threshold later is; here it still belongs to the burst.
type Filter struct {
	Threshold int64 // microseconds, 0 to udf.MaxHorizon
}

var _ udf.Filter = Filter{}

// Entry makes the filter available by name.
var Entry = udf.FilterEntry{
	Name:   name,
	Doc:    "keeps the first event of each burst of one polarity at a pixel",
	Source: "Prophesee, Event Signal Processing: Trail",
	Params: []udf.Param{
		{Name: "threshold", Default: "10ms", Doc: "events of one polarity that follow each other within this time are a burst"},
	},
	New: func(a udf.Args) (udf.Filter, error) {
		threshold, err := a.Micros("threshold", 0, udf.MaxHorizon)
		return Filter{Threshold: threshold}, err
	},
}

// String prints the filter as users write it.
func (f Filter) String() string { return fmt.Sprintf("%s(threshold=%dus)", name, f.Threshold) }

// Columns are all of them.
func (Filter) Columns() event.Columns { return event.AllColumns }

// Open readies the filter for one stream.
func (f Filter) Open(g event.Geometry) (udf.Sieve, error) {
	if f.Threshold < 0 || f.Threshold > udf.MaxHorizon {
		return nil, fmt.Errorf("%s: a threshold of %d us; 0 to %d are possible", name, f.Threshold, int64(udf.MaxHorizon))
	}
	return &sieve{Filter: f, last: udf.NewPixels[uint32](g), sign: udf.NewPixels[int8](g), clock: udf.NewClock(f.Threshold)}, nil
}

type sieve struct {
	Filter
	last  *udf.Pixels[uint32] // the stamp of each pixel's last event, 0 = none within the threshold
	sign  *udf.Pixels[int8]   // its polarity
	clock udf.Clock
}

// Sift implements udf.Sieve.
func (s *sieve) Sift(b event.Batch, keep []bool) error {
	if err := s.last.Cover(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := s.sign.Cover(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for b.Len() > 0 {
		n, back := s.clock.Next(b.T())
		udf.MoveBack(s.last.Values, back)
		s.run(b.Slice(0, n), keep[:n])
		b, keep = b.Slice(n, b.Len()), keep[n:]
	}
	return nil
}

func (s *sieve) run(b event.Batch, keep []bool) {
	ts, xs, ys, ps := b.T(), b.X()[:len(keep)], b.Y()[:len(keep)], b.P()[:len(keep)]
	base, threshold := s.clock.Base(), uint32(s.Threshold)
	last, sign := s.last.Values, s.sign.Values[:len(s.last.Values)]
	for i, t := range ts[:len(keep)] {
		if at, ok := s.last.At(xs[i], ys[i]); ok && at < len(last) {
			now := uint32(t - base)
			keep[i] = now-last[at] > threshold || sign[at] != ps[i]
			last[at], sign[at] = now, ps[i]
		}
	}
}

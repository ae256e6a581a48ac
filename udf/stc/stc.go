// Package stc is the spatio-temporal contrast filter: it keeps the second event of each burst of a pixel, so that
// lone events are left out.
//
// It judges events by the last events of their pixel; it refuses to know the pixels around.
package stc

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "stc"

// A Filter keeps the second event of each burst. A burst are events of one polarity at one pixel, each at most
// Threshold after the one before, kept or not.
//
// Source: Prophesee, Event Signal Processing (docs.prophesee.ai, STC), whose versions are STC_CUT_TRAIL and, with
// Trail, STC_KEEP_TRAIL. It leaves open what an event exactly Threshold later is; here it still belongs to the burst.
type Filter struct {
	Threshold int64 // microseconds, 0 to udf.MaxHorizon
	Trail     bool  // keep what follows the second event, too
}

var _ udf.Filter = Filter{}

// Entry makes the filter available by name.
var Entry = udf.FilterEntry{
	Name:   name,
	Doc:    "keeps the second event of each burst of one polarity at a pixel, and drops lone events",
	Source: "Prophesee, Event Signal Processing: STC",
	Params: []udf.Param{
		{Name: "threshold", Default: "10ms", Doc: "events of one polarity that follow each other within this time are a burst"},
		{Name: "cut_trail", Default: "true", Choices: []string{"true", "false"}, Doc: "drop what follows the second event of a burst"},
	},
	New: func(a udf.Args) (udf.Filter, error) {
		threshold, err := a.Micros("threshold", 0, udf.MaxHorizon)
		return Filter{Threshold: threshold, Trail: a["cut_trail"] == "false"}, err
	},
}

// String prints the filter as users write it.
func (f Filter) String() string {
	return fmt.Sprintf("%s(threshold=%dus, cut_trail=%v)", name, f.Threshold, !f.Trail)
}

// Columns are all of them.
func (Filter) Columns() event.Columns { return event.AllColumns }

// Open readies the filter for one stream.
func (f Filter) Open(g event.Geometry) (udf.Sieve, error) {
	if f.Threshold < 0 || f.Threshold > udf.MaxHorizon {
		return nil, fmt.Errorf("%s: a threshold of %d us; 0 to %d are possible", name, f.Threshold, int64(udf.MaxHorizon))
	}
	return &sieve{Filter: f, last: udf.NewPixels[uint32](g), burst: udf.NewPixels[uint8](g), clock: udf.NewClock(f.Threshold)}, nil
}

type sieve struct {
	Filter
	last  *udf.Pixels[uint32] // the stamp of each pixel's last event, 0 = none within the threshold
	burst *udf.Pixels[uint8]  // its polarity in bit 0, and above it how many events its burst has had, up to two
	clock udf.Clock
}

// Sift implements udf.Sieve.
func (s *sieve) Sift(b event.Batch, keep []bool) error {
	if err := s.last.Cover(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := s.burst.Cover(b); err != nil {
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
	last, burst := s.last.Values, s.burst.Values[:len(s.last.Values)]
	for i, t := range ts[:len(keep)] {
		at, ok := s.last.At(xs[i], ys[i])
		if !ok || at >= len(last) {
			continue
		}
		now, sign := uint32(t-base), uint8(ps[i])&1
		had := uint8(0)
		if now-last[at] <= threshold && burst[at]&1 == sign {
			had = burst[at] >> 1
		}
		keep[i] = had == 1 || had == 2 && s.Trail
		last[at], burst[at] = now, min(had+1, 2)<<1|sign
	}
}

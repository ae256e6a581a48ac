// Package dedup is the filter that leaves out events which are there twice.
//
// It compares whole events; it refuses to say how a recording came by them.
package dedup

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "dedup"

// A Filter drops an event that is equal in t, x, y and p to one before it. Others may stand between the two.
//
// Source: the definition; a sensor gives no event twice, but joined or wrongly decoded recordings do.
type Filter struct{}

var _ udf.Filter = Filter{}

// Entry makes the filter available by name.
var Entry = udf.FilterEntry{
	Name:   name,
	Doc:    "drops events that are equal in t, x, y and p to one before",
	Source: "the definition",
	New:    func(udf.Args) (udf.Filter, error) { return Filter{}, nil },
}

// String prints the filter as users write it.
func (Filter) String() string { return name }

// Columns are all of them.
func (Filter) Columns() event.Columns { return event.AllColumns }

// Open readies the filter for one stream.
func (Filter) Open(g event.Geometry) (udf.Sieve, error) {
	s := &sieve{}
	for p := range s.last {
		s.last[p] = udf.NewPixels[uint32](g)
	}
	return s, nil
}

type sieve struct {
	last  [2]*udf.Pixels[uint32] // for each polarity, the stamp of a pixel's last event
	clock udf.Clock              // its horizon is 0: only equal times are told from others
}

// Sift implements udf.Sieve.
func (s *sieve) Sift(b event.Batch, keep []bool) error {
	for _, last := range s.last {
		if err := last.Cover(b); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for b.Len() > 0 {
		n, back := s.clock.Next(b.T())
		for _, last := range s.last {
			udf.MoveBack(last.Values, back)
		}
		s.run(b.Slice(0, n), keep[:n])
		b, keep = b.Slice(n, b.Len()), keep[n:]
	}
	return nil
}

func (s *sieve) run(b event.Batch, keep []bool) {
	ts, xs, ys, ps := b.T(), b.X()[:len(keep)], b.Y()[:len(keep)], b.P()[:len(keep)]
	base := s.clock.Base()
	for i, t := range ts[:len(keep)] {
		last := s.last[ps[i]&1]
		if at, ok := last.At(xs[i], ys[i]); ok {
			now := uint32(t - base)
			keep[i] = last.Values[at] != now
			last.Values[at] = now
		}
	}
}

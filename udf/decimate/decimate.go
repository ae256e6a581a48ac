// Package decimate is the filter that keeps every n-th event, of a pixel or of the stream.
//
// It counts events; it refuses to know when they happened.
package decimate

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// name is what users type.
const name = "decimate"

// A Filter keeps the N-th, 2N-th, ... event of each pixel, both polarities together, or of the whole stream.
//
// Source: tonic 1.7, functional.decimate_numpy, for pixels.
type Filter struct {
	N      int  // 1 to 2^31-1
	Stream bool // count all events together, also those off the sensor
}

var _ udf.Filter = Filter{}

// Entry makes the filter available by name.
var Entry = udf.FilterEntry{
	Name:   name,
	Doc:    "keeps every n-th event of each pixel, or of the stream",
	Source: "tonic, decimate_numpy",
	Params: []udf.Param{
		{Name: "n", Default: "2", Doc: "one event in how many is kept: the n-th, the 2n-th and so on"},
		{Name: "by", Default: "pixel", Choices: []string{"pixel", "stream"}, Doc: "what is counted"},
	},
	New: func(a udf.Args) (udf.Filter, error) {
		n, err := a.Int("n", 1, math.MaxInt32)
		return Filter{N: n, Stream: a["by"] == "stream"}, err
	},
}

// String prints the filter as users write it.
func (f Filter) String() string {
	by := "pixel"
	if f.Stream {
		by = "stream"
	}
	return fmt.Sprintf("%s(n=%d, by=%s)", name, f.N, by)
}

// Columns are the pixel's, or none.
func (f Filter) Columns() event.Columns {
	if f.Stream {
		return 0
	}
	return event.ColX | event.ColY
}

// Open readies the filter for one stream.
func (f Filter) Open(g event.Geometry) (udf.Sieve, error) {
	switch {
	case f.N < 1 || f.N > math.MaxInt32:
		return nil, fmt.Errorf("%s: one event in %d; 1 to %d are possible", name, f.N, math.MaxInt32)
	case f.Stream:
		return &stream{n: f.N}, nil
	}
	return &pixels{n: uint32(f.N), count: udf.NewPixels[uint32](g)}, nil
}

// A stream counts all events.
type stream struct{ n, count int }

// Sift implements udf.Sieve.
func (s *stream) Sift(b event.Batch, keep []bool) error {
	clear(keep)
	for i := s.n - 1 - s.count; i < len(keep); i += s.n {
		keep[i] = true
	}
	s.count = (s.count + b.Len()%s.n) % s.n
	return nil
}

// Pixels count the events of each since the last that was kept.
type pixels struct {
	n     uint32
	count *udf.Pixels[uint32]
}

// Sift implements udf.Sieve.
func (s *pixels) Sift(b event.Batch, keep []bool) error {
	if err := s.count.Cover(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	xs, ys, values, n := b.X()[:len(keep)], b.Y()[:len(keep)], s.count.Values, s.n
	for i := range keep {
		at, ok := s.count.At(xs[i], ys[i])
		if !ok || at >= len(values) {
			continue
		}
		c := values[at] + 1
		full := c == n
		keep[i] = full
		if full { // a conditional move, not a branch
			c = 0
		}
		values[at] = c
	}
	return nil
}

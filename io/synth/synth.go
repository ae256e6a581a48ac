// Package synth is a seeded synthetic driving scene as an event source, of any length in flat memory.
//
// Line segments (poles, kerbs, cars) drift away from a vanishing point and fire in runs along a row, as a
// sensor read by rows does, over 12 % background noise and some hot pixels, at a rate that wanders and bursts.
// The arithmetic is in integers, so that a seed gives the same events on every machine. The package knows
// events alone: no file, no format.
package synth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/evq-project/evq/io/event"
)

// Options describe a scene. Every combination that New accepts always gives the same events.
type Options struct {
	Seed     uint64
	Events   int64          // how many, exactly
	Duration time.Duration  // from the first possible event to the end
	Size     event.Geometry // of the sensor, in pixels
	Start    int64          // microseconds at which the scene starts
	Batch    int            // events a batch holds; 0 = a good size. It changes no event.
}

// The limits of a scene: what the times and coordinates of events hold.
const (
	maxSide     = 1 << 15
	maxEvents   = 1 << 40
	maxDuration = 1000 * time.Hour
	batchLen    = 64 << 10
)

// New makes a scene, or says which option is out of its range.
func New(o Options) (event.Source, error) {
	switch {
	case o.Size.Width < 1 || o.Size.Height < 1 || o.Size.Width > maxSide || o.Size.Height > maxSide:
		return nil, fmt.Errorf("synth: a sensor of %dx%d; 1x1 to %dx%d is possible", o.Size.Width, o.Size.Height, maxSide, maxSide)
	case o.Events < 0 || o.Events > maxEvents:
		return nil, fmt.Errorf("synth: %d events; 0 to %d are possible", o.Events, int64(maxEvents))
	case o.Duration < time.Microsecond || o.Duration > maxDuration:
		return nil, fmt.Errorf("synth: a duration of %v; 1µs to %v is possible", o.Duration, maxDuration)
	case o.Start < 0 || o.Start > 1<<60:
		return nil, fmt.Errorf("synth: a start at %d µs; 0 to 2^60 is possible", o.Start)
	case o.Batch < 0:
		return nil, fmt.Errorf("synth: batches of %d events", o.Batch)
	}
	if o.Batch == 0 {
		o.Batch = batchLen
	}
	return &scene{Options: o, rate: newRate(o), pool: event.NewPool(o.Batch)}, nil
}

// A scene is the source: what its scans have in common.
type scene struct {
	Options
	rate rate
	pool *event.Pool
}

// String names the scene by its seed.
func (s *scene) String() string { return fmt.Sprintf("synthetic scene %d", s.Seed) }

// Geometry is the size that was asked for.
func (s *scene) Geometry() event.Geometry { return s.Size }

// Info says everything but the extremes.
func (s *scene) Info() event.Info {
	return event.Info{
		Name: s.String(), Format: "synthetic", Geometry: s.Size, Unit: "us", Polarity: "0/1", Sorted: true, Events: s.Events,
	}
}

// Scan starts the scene over. It yields every event with all columns, whatever is asked for.
func (s *scene) Scan(ctx context.Context, _ event.Request) (event.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &stream{pool: s.pool, gen: newGenerator(s)}, nil
}

// A stream draws one batch after another.
type stream struct {
	pool   *event.Pool
	gen    *generator
	report event.Report
	closed bool
}

// Next returns the next events; the batch may be released.
func (s *stream) Next(ctx context.Context) (event.Batch, error) {
	if err := ctx.Err(); err != nil {
		return event.Batch{}, err
	}
	if s.closed {
		return event.Batch{}, errors.New("synth: the stream is closed")
	}
	b := s.pool.Get()
	b.Resize(b.Cap())
	n, largestX, largestY := s.gen.fill(b.T, b.X, b.Y, b.P)
	b.Resize(n)
	if n == 0 {
		b.Release()
		return event.Batch{}, io.EOF
	}
	s.report.Events += int64(n)
	s.report.MaxX, s.report.MaxY = max(s.report.MaxX, largestX), max(s.report.MaxY, largestY)
	return b.Batch(), nil
}

// Report counts the events drawn so far.
func (s *stream) Report() *event.Report { return &s.report }

// Close ends the stream.
func (s *stream) Close() error { s.closed = true; return nil }

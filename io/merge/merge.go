// Package merge makes one recording of several: their events in order of time.
//
// It knows sources and nothing of formats.
package merge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"
	"sync"

	"github.com/evq-project/evq/io/event"
)

// Source yields the events of several recordings by time; of events at one time, those of an earlier recording come
// first. Its sensor is the smallest that holds all of theirs, and not known where one is not.
type Source struct{ of []event.Source }

// New merges sources.
func New(of ...event.Source) *Source { return &Source{of} }

// String names the sources.
func (s *Source) String() string {
	names := make([]string, len(s.of))
	for i, o := range s.of {
		names[i] = o.String()
	}
	return "merged " + strings.Join(names, " + ")
}

// Geometry implements event.Source.
func (s *Source) Geometry() (g event.Geometry) {
	for _, o := range s.of {
		one := o.Geometry()
		if !one.Known() {
			return event.Geometry{}
		}
		g.Width, g.Height = max(g.Width, one.Width), max(g.Height, one.Height)
	}
	return g
}

// Info says what is known of all of them together.
func (s *Source) Info() event.Info {
	out := event.Info{Name: s.String(), Format: "merged", Geometry: s.Geometry(), Unit: "us", Sorted: true, Stats: true, Extent: event.Nothing}
	for _, o := range s.of {
		i := o.Info()
		out.Stats = out.Stats && i.Stats
		if i.Events < 0 || out.Events < 0 {
			out.Events = -1
			continue
		}
		out.Events += i.Events
		if i.Stats && i.Events > 0 {
			out.Extent = out.Extent.Hull(i.Extent)
		}
	}
	return out
}

// Close closes those of the sources that can be closed.
func (s *Source) Close() error {
	var err error
	for _, o := range s.of {
		if c, ok := o.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

// Scan implements event.Source. Triggers come as each recording is read, those of one recording in its order.
func (s *Source) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	want.Restartable = false
	if to := want.Triggers; to != nil {
		var mu sync.Mutex
		want.Triggers = func(tr []event.Trigger) error {
			mu.Lock()
			defer mu.Unlock()
			return to(tr)
		}
	}
	m := &stream{pool: event.NewPool(batchLen)}
	for _, o := range s.of {
		st, err := o.Scan(ctx, want)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%v: %w", o, err), m.Close())
		}
		m.inputs = append(m.inputs, &input{name: o.String(), stream: st})
	}
	return m, nil
}

// batchLen is how many events a merged batch holds at most.
const batchLen = 1 << 16

// An input is one recording on its way.
type input struct {
	name   string
	stream event.Stream
	whole  event.Batch // owns the memory of b
	b      event.Batch // what is left of the batch at hand
	done   bool
}

// fill reads on where nothing is left at hand.
func (in *input) fill(ctx context.Context) error {
	for !in.done && in.b.Len() == 0 {
		in.whole.Release()
		in.whole, in.b = event.Batch{}, event.Batch{}
		b, err := in.stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			in.done = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		in.whole, in.b = b, b
	}
	return nil
}

type stream struct {
	inputs []*input
	pool   *event.Pool
	report event.Report
	ended  bool
}

// Next merges runs: of the input with the earliest event, all events up to the next of another.
func (s *stream) Next(ctx context.Context) (event.Batch, error) {
	out := s.pool.Get()
	for out.Len() < batchLen {
		first, until, inclusive, err := s.earliest(ctx)
		if err != nil {
			out.Release()
			return event.Batch{}, err
		}
		if first == nil {
			break
		}
		t := first.b.T()
		n := sort.Search(len(t), func(i int) bool { return t[i] > until || t[i] == until && !inclusive })
		n = min(n, batchLen-out.Len())
		out.AppendBatch(first.b.Slice(0, n))
		first.b = first.b.Slice(n, len(t))
	}
	if out.Len() == 0 {
		s.ended = true
		out.Release()
		return event.Batch{}, io.EOF
	}
	s.report.Events += int64(out.Len())
	return out.Batch(), nil
}

// earliest returns the input whose next event comes first, and up to which time it may go on: until the next event of
// another, that time included where the other stands behind it. It is nil after the last event.
func (s *stream) earliest(ctx context.Context) (first *input, until int64, inclusive bool, err error) {
	at := -1
	for i, in := range s.inputs {
		if err := in.fill(ctx); err != nil {
			return nil, 0, false, err
		}
		if in.b.Len() > 0 && (first == nil || in.b.T()[0] < first.b.T()[0]) {
			first, at = in, i
		}
	}
	until, inclusive = math.MaxInt64, true
	for i, in := range s.inputs {
		if in == first || in.b.Len() == 0 {
			continue
		}
		if t := in.b.T()[0]; t < until {
			until, inclusive = t, at < i
		} else if t == until {
			inclusive = inclusive && at < i
		}
	}
	return first, until, inclusive, nil
}

// Report adds up what the scans met.
func (s *stream) Report() *event.Report {
	r := s.report
	for _, in := range s.inputs {
		r.Add(in.stream.Report())
	}
	return &r
}

// Close implements event.Stream.
func (s *stream) Close() error {
	var err error
	for _, in := range s.inputs {
		err = errors.Join(err, in.stream.Close())
	}
	return err
}

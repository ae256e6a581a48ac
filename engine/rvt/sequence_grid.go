package rvt

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/npy"
)

// schedule finds when the windows end.
// With Every that is left to everySo.
func (s *sequence) schedule() (err error) {
	switch {
	case s.Every > 0:
		return nil
	case s.Labels != "":
		err = s.fromLabels()
	case s.EndsFile != "":
		if s.grid.Ends, err = npy.Grid(s.EndsFile); err == nil {
			err = s.readGridOf(s.EndsFile)
		}
	default:
		s.grid.Ends = s.Ends
		for i := 1; i < len(s.Ends); i++ {
			if s.Ends[i] < s.Ends[i-1] {
				return wrong("end %d of the windows is %d, after %d; sort them", i, s.Ends[i], s.Ends[i-1])
			}
		}
	}
	if err == nil && len(s.grid.Ends) == 0 {
		err = wrong("there is no time at which a window ends")
	}
	return err
}

func (s *sequence) fromLabels() error {
	all, err := ReadLabels(s.Labels)
	if err != nil {
		return err
	}
	kept, tally, err := s.filter().Apply(all)
	s.tally = &tally
	if err == nil {
		s.grid, err = NewGrid(kept, s.gridOptions())
	}
	if err != nil {
		return err
	}
	return s.readGridOf(s.Labels)
}

func (s *sequence) readGridOf(path string) error {
	in, err := readInput(path, gridSample)
	if err != nil {
		return fmt.Errorf("rvt: %w", err)
	}
	s.gridOf = &in
	return nil
}

// everySo reads the recording for its last event where its header doesn't tell.
func (s *sequence) everySo(ctx context.Context) error {
	rec, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = rec.Close() }()
	info := rec.Info()
	last, events := info.Extent.T1, info.Events
	if !info.Stats {
		last, events = 0, 0
		want := event.All
		want.Threads = s.Threads
		_, err := event.Each(ctx, rec, want, func(b event.Batch) error {
			last, events = b.T()[b.Len()-1], events+int64(b.Len())
			return nil
		})
		if err != nil {
			return fmt.Errorf("rvt: %s: %w", s.rec, err)
		}
	}
	if events == 0 {
		return wrong("%s holds no event that tells when its last window ends; give the ends", s.rec)
	}
	s.grid.Ends, err = Every(s.Every, last)
	return err
}

// digest sums times, so that two grids can be told apart.
func digest(times []int64) string {
	h := sha256.New()
	_ = binary.Write(h, binary.LittleEndian, times) // a hash takes everything
	return fmt.Sprintf("%d of sha256 %s", len(times), hex.EncodeToString(h.Sum(nil)))
}

// A watched source remembers the first and last event that it yielded.
type watched struct {
	event.Source
	any, whole  bool // an event was seen; all of them were
	first, last int64
}

// Scan starts the scan that is watched.
func (w *watched) Scan(ctx context.Context, want event.Request) (event.Stream, error) {
	st, err := w.Source.Scan(ctx, want)
	if err != nil {
		return nil, err
	}
	w.any, w.whole = false, false
	return &watchedStream{Stream: st, to: w}, nil
}

type watchedStream struct {
	event.Stream
	to *watched
}

// Next passes on the next events.
func (s *watchedStream) Next(ctx context.Context) (event.Batch, error) {
	b, err := s.Stream.Next(ctx)
	switch {
	case err != nil:
		s.to.whole = errors.Is(err, io.EOF)
	case b.Len() > 0:
		if t := b.T(); !s.to.any {
			s.to.any, s.to.first, s.to.last = true, t[0], t[len(t)-1]
		} else {
			s.to.last = t[len(t)-1]
		}
	}
	return b, err
}

// beyond says which windows lie beyond the recording; where every is set, the last of them is meant to end after the
// last event. A source that knows its extremes may have left out events that no window wants.
func (w *watched) beyond(ends []int64, every bool) []string {
	first, last := w.first, w.last
	any, whole := w.any, w.whole
	if info := w.Info(); info.Stats {
		first, last, any, whole = info.Extent.T0, info.Extent.T1, info.Events > 0, true
	}
	if !any {
		return []string{"the recording holds no event: every frame is empty."}
	}
	var early, late int
	for _, t := range ends {
		if t < first {
			early++
		}
		if whole && t > last {
			late++
		}
	}
	var out []string
	if early > 0 {
		out = append(out, fmt.Sprintf("%d of %d windows end before the first event, at %d us: their frames are empty.", early, len(ends), first))
	}
	if late > 0 && !every {
		out = append(out, fmt.Sprintf("%d of %d windows end after the last event, at %d us: their frames are partly or wholly empty.", late, len(ends), last))
	}
	return out
}

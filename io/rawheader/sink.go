package rawheader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/evq-project/evq/io/event"
)

// An Encoder turns events and triggers into words. Both come in time order, within the range that Sink checks.
type Encoder interface {
	// Events appends the words of a run of events.
	Events(dst []byte, t []int64, x, y []uint16, p []int8) []byte
	// Trigger appends the words of one trigger.
	Trigger(dst []byte, tr event.Trigger) []byte
}

// An Output is where a recording goes: it gets its name at Commit, and is dropped at Abort.
type Output interface {
	io.Writer
	Commit() error
	Abort() error
}

// The range of what EVT2 and EVT3 words hold.
const (
	MaxCoordinate = 2047
	MaxChannel2   = 31 // EVT2
	MaxChannel3   = 15 // EVT3
	MaxTime       = 1 << 41
)

// ErrTooLate reports a trigger that was handed over after events that follow it.
var ErrTooLate = errors.New("triggers must be written before the events that follow them")

// A Sink checks what is written, merges events and triggers by time, and puts the words of an encoder behind a header.
// A trigger comes before the events of its time.
type Sink struct {
	format     string
	out        Output
	enc        Encoder
	maxChannel int16

	words    []byte
	triggers []event.Trigger // not yet written, by time
	last     int64           // the time of what was written last
	n        int64           // events taken
	err      error           // why nothing more is taken
}

// flushSize is how many bytes of words are collected before they are written.
const flushSize = 1 << 20

// NewSink starts a recording by its header. format prefixes messages; channels above maxChannel are refused.
func NewSink(format string, out Output, header []byte, enc Encoder, maxChannel int16) *Sink {
	return &Sink{format: format, out: out, enc: enc, maxChannel: maxChannel, words: slices.Clone(header)}
}

// Write implements event.Sink. After an error the recording is dropped.
func (s *Sink) Write(ctx context.Context, b event.Batch) error {
	if err := ctx.Err(); err != nil {
		return s.fail(err)
	}
	if s.err != nil {
		return s.err
	}
	t, x, y, p := b.T(), b.X(), b.Y(), b.P()
	if len(x) != len(t) || len(y) != len(t) || len(p) != len(t) {
		return s.fail(fmt.Errorf("%s: a recording needs the columns t, x, y and p", s.format))
	}
	if err := s.check(t, x, y, p); err != nil {
		return s.fail(err)
	}
	for i := 0; i < len(t); {
		end := i + min(len(t)-i, 1<<16)
		if len(s.triggers) > 0 {
			end = i + sort.Search(end-i, func(k int) bool { return t[i+k] >= s.triggers[0].T })
			if end == i {
				s.emitTrigger()
				continue
			}
		}
		s.words = s.enc.Events(s.words, t[i:end], x[i:end], y[i:end], p[i:end])
		s.last = t[end-1]
		i = end
		if err := s.flush(flushSize); err != nil {
			return err
		}
	}
	return nil
}

// check finds the first event that the words cannot hold.
func (s *Sink) check(t []int64, x, y []uint16, p []int8) error {
	last := s.last
	for i := range t {
		at := s.n + int64(i)
		switch {
		case t[i] < 0 || t[i] >= MaxTime:
			return fmt.Errorf("%s: event %d at %d µs is not within 0 to 2^41 µs, which the format holds; shift the times with --zero", s.format, at, t[i])
		case t[i] < last:
			return fmt.Errorf("%s: event %d at %d µs lies before the one before it at %d µs; sort the events first", s.format, at, t[i], last)
		case x[i] > MaxCoordinate || y[i] > MaxCoordinate:
			return fmt.Errorf("%s: event %d at pixel (%d, %d) is beyond %d, which is all the format holds", s.format, at, x[i], y[i], MaxCoordinate)
		case p[i]&^1 != 0:
			return fmt.Errorf("%s: event %d has polarity %d, which is neither 0 nor 1", s.format, at, p[i])
		}
		last = t[i]
	}
	s.n += int64(len(t))
	return nil
}

// WriteTriggers implements event.Sink. Triggers may come before their time, but not after events that follow them.
func (s *Sink) WriteTriggers(tr []event.Trigger) error {
	if s.err != nil {
		return s.err
	}
	for _, t := range tr {
		switch {
		case t.T < 0 || t.T >= MaxTime:
			return s.fail(fmt.Errorf("%s: a trigger at %d µs is not within 0 to 2^41 µs, which the format holds; shift the times with --zero", s.format, t.T))
		case t.T < s.last:
			return s.fail(fmt.Errorf("%s: a trigger at %d µs after %d µs: %w", s.format, t.T, s.last, ErrTooLate))
		case t.Channel < 0 || t.Channel > s.maxChannel:
			return s.fail(fmt.Errorf("%s: trigger channel %d is beyond %d, which is all the format holds", s.format, t.Channel, s.maxChannel))
		}
	}
	s.triggers = append(s.triggers, tr...)
	slices.SortStableFunc(s.triggers, func(a, b event.Trigger) int { return cmp.Compare(a.T, b.T) })
	return nil
}

func (s *Sink) emitTrigger() {
	tr := s.triggers[0]
	s.words, s.last = s.enc.Trigger(s.words, tr), tr.T
	s.triggers = s.triggers[1:]
}

// flush writes the words out once there are at least n bytes of them.
func (s *Sink) flush(n int) error {
	if len(s.words) < n {
		return nil
	}
	if _, err := s.out.Write(s.words); err != nil {
		return s.fail(fmt.Errorf("%s: %w", s.format, err))
	}
	s.words = s.words[:0]
	return nil
}

// fail drops the recording: a part of one would pass for the whole.
func (s *Sink) fail(err error) error {
	s.err = err
	_ = s.out.Abort()
	return err
}

// Close implements event.Sink.
func (s *Sink) Close() error {
	if s.err != nil {
		return s.err
	}
	for len(s.triggers) > 0 {
		s.emitTrigger()
	}
	if err := s.flush(0); err != nil {
		return err
	}
	s.err = fmt.Errorf("%s: the recording is closed", s.format)
	return s.out.Commit()
}

// Abort implements event.Sink.
func (s *Sink) Abort() error {
	if s.err == nil {
		s.err = fmt.Errorf("%s: the recording was dropped", s.format)
	}
	return s.out.Abort()
}

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
	"github.com/evq-project/evq/io/format"
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
	last     int64           // the time of what was written last, less the offset
	offset   int64           // what the header says is to be added to times
	begun    bool            // there was an event or a trigger
	shifted  []int64         // times less the offset
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
	if len(t) > 0 {
		s.begin(t[0])
	}
	if err := s.check(t, x, y, p); err != nil {
		return s.fail(err)
	}
	t = s.shift(t)
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

// begin puts an offset into the header where the words cannot hold the first time. The header is written with the
// first words.
func (s *Sink) begin(t int64) {
	if s.begun {
		return
	}
	s.begun = true
	if t >= 0 && t < MaxTime || t > MaxOffset || t < -MaxOffset {
		return
	}
	s.offset = OffsetFor(t)
	s.words = WithOffset(s.words, s.offset)
}

// shift returns times less the offset.
func (s *Sink) shift(t []int64) []int64 {
	if s.offset == 0 {
		return t
	}
	s.shifted = s.shifted[:0]
	for _, v := range t {
		s.shifted = append(s.shifted, v-s.offset)
	}
	return s.shifted
}

// holds reports whether the words can hold a time.
func (s *Sink) holds(t int64) bool { return uint64(t-s.offset) < MaxTime }

// check finds the first event that the words cannot hold.
func (s *Sink) check(t []int64, x, y []uint16, p []int8) error {
	last := s.last + s.offset
	for i := range t {
		at := s.n + int64(i)
		switch {
		case t[i] < last && at > 0:
			return format.Unordered(s.format, at, t[i], last)
		case !s.holds(t[i]):
			return format.OutOfRange(s.format, at, "at %d µs is not within 2^41 µs from %d µs on, which is all the format holds; shift the times with --zero, or cut them with --time", t[i], s.offset)
		case x[i] > MaxCoordinate || y[i] > MaxCoordinate:
			return format.OutOfRange(s.format, at, "at pixel (%d, %d) is beyond %d, which is all the format holds; crop with --roi or write another format", x[i], y[i], MaxCoordinate)
		case p[i]&^1 != 0:
			return format.OutOfRange(s.format, at, "has polarity %d, which is neither 0 nor 1", p[i])
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
	if len(tr) > 0 {
		s.begin(slices.MinFunc(tr, byTime).T)
	}
	for _, t := range tr {
		switch {
		case s.last > 0 && t.T < s.last+s.offset:
			return s.fail(fmt.Errorf("%s: a trigger at %d µs after %d µs: %w", s.format, t.T, s.last+s.offset, ErrTooLate))
		case !s.holds(t.T):
			return s.fail(fmt.Errorf("%s: a trigger at %d µs is not within 2^41 µs from %d µs on, which is all the format holds; shift the times with --zero: %w", s.format, t.T, s.offset, format.ErrRange))
		case t.Channel < 0 || t.Channel > s.maxChannel:
			return s.fail(fmt.Errorf("%s: trigger channel %d is beyond %d, which is all the format holds: %w", s.format, t.Channel, s.maxChannel, format.ErrRange))
		}
	}
	for _, t := range tr {
		t.T -= s.offset
		s.triggers = append(s.triggers, t)
	}
	slices.SortStableFunc(s.triggers, byTime)
	return nil
}

func byTime(a, b event.Trigger) int { return cmp.Compare(a.T, b.T) }

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

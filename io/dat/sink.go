package dat

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// The range of what is written: times from the start of a recording within the 32 bits, and pixels of 14 bits.
const (
	maxStart      = 1<<32 - 1
	maxCoordinate = 1<<14 - 1
)

// flushSize is how many bytes of records are collected before they are written.
const flushSize = 1 << 20

// A sink writes version 2, type CD.
type sink struct {
	out     *atomicfile.File
	records []byte
	n       int64 // events taken
	last    int64 // the time of the last
	offset  int64 // what the header says is to be added to times
	begun   bool  // the header is complete
	err     error // why nothing more is taken
}

// create starts a recording. Its events must be in time order, with no step that a reader could not follow over the end
// of the range, and x and y at most 16383. Times past 2^32 µs run over as in cameras; where the first is not within them,
// the header keeps an offset.
func create(path string, h format.Header, o format.CreateOptions) (event.Sink, error) {
	head, err := header(h)
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(path, o.Force)
	if err != nil {
		return nil, err
	}
	return &sink{out: f, records: head}, nil
}

// header makes the header without the two bytes that say what follows. Fields of other formats' headers that contradict it
// or would make readers take the file for another are left out.
func header(h format.Header) ([]byte, error) {
	b := []byte("% Data file containing CD events\n% Version 2\n")
	if h.Geometry.Known() {
		b = fmt.Appendf(b, "%% Height %d\n%% Width %d\n", h.Geometry.Height, h.Geometry.Width)
	}
	for _, f := range h.Fields {
		key := strings.Join(strings.Fields(printable(f.Key)), "_")
		switch strings.ToLower(key) {
		case "", "data", "version", "height", "width", "geometry", "evt", "format", "endianness", "end", rawheader.OffsetField:
			continue
		}
		b = fmt.Appendf(b, "%% %s\n", strings.TrimSpace(key+" "+strings.TrimSpace(printable(f.Value))))
	}
	if len(b) > rawheader.MaxSize-rawheader.OffsetRoom {
		return nil, fmt.Errorf("%s: a header of %d bytes is longer than %d; leave fields out", name, len(b), rawheader.MaxSize-rawheader.OffsetRoom)
	}
	return b, nil
}

// printable puts a space where a control character would end the header.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// Write implements event.Sink. After an error the recording is dropped.
func (s *sink) Write(ctx context.Context, b event.Batch) error {
	if err := ctx.Err(); err != nil {
		return s.fail(err)
	}
	if s.err != nil {
		return s.err
	}
	t, x, y, p := b.T(), b.X(), b.Y(), b.P()
	if len(x) != len(t) || len(y) != len(t) || len(p) != len(t) {
		return s.fail(fmt.Errorf("%s: a recording needs the columns t, x, y and p", name))
	}
	if len(t) > 0 {
		s.begin(t[0])
	}
	for i := range t {
		if err := s.check(t[i], x[i], y[i], p[i]); err != nil {
			return s.fail(err)
		}
		s.last = t[i]
		s.n++
		s.records = binary.LittleEndian.AppendUint32(s.records, uint32(t[i]-s.offset))
		s.records = binary.LittleEndian.AppendUint32(s.records, uint32(p[i])<<28|uint32(y[i])<<14|uint32(x[i]))
		if len(s.records) >= flushSize {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin completes the header before the first event, at t: with an offset where the records cannot hold its time.
func (s *sink) begin(t int64) {
	if s.begun {
		return
	}
	s.begun = true
	if (t < 0 || t > maxStart) && t <= rawheader.MaxOffset && t >= -rawheader.MaxOffset {
		s.offset = rawheader.OffsetFor(t)
		s.records = rawheader.WithOffset(s.records, s.offset)
	}
	s.records = append(s.records, typeCD, recordSize)
}

// check refuses an event that the records cannot hold.
func (s *sink) check(t int64, x, y uint16, p int8) error {
	now, last, step := t-s.offset, s.last-s.offset, uint64(t-s.last)
	switch {
	case s.n == 0 && uint64(now) > maxStart:
		return format.OutOfRange(name, s.n, "at %d µs, which is no time of a clock; shift the times with --zero", t)
	case s.n > 0 && t < s.last:
		return format.Unordered(name, s.n, t, s.last)
	case s.n > 0 && (now>>32 != last>>32 && step > 1<<31 || step > 1<<32-gap):
		return format.OutOfRange(name, s.n, "at %d µs is too far from the one before it at %d µs for times of 32 bits; choose another format", t, s.last)
	case x > maxCoordinate || y > maxCoordinate:
		return format.OutOfRange(name, s.n, "at pixel (%d, %d) is beyond %d, which is all the format holds; crop with --roi or write another format", x, y, maxCoordinate)
	case p&^1 != 0:
		return format.OutOfRange(name, s.n, "has polarity %d, which is neither 0 nor 1", p)
	}
	return nil
}

// WriteTriggers leaves triggers out: the format has no place for them.
func (s *sink) WriteTriggers([]event.Trigger) error { return s.err }

func (s *sink) flush() error {
	if _, err := s.out.Write(s.records); err != nil {
		return s.fail(fmt.Errorf("%s: %w", name, err))
	}
	s.records = s.records[:0]
	return nil
}

// fail drops the recording: a part of one would pass for the whole.
func (s *sink) fail(err error) error {
	s.err = err
	_ = s.out.Abort()
	return err
}

// Close implements event.Sink.
func (s *sink) Close() error {
	if s.err != nil {
		return s.err
	}
	s.begin(0)
	if err := s.flush(); err != nil {
		return err
	}
	s.err = errors.New("dat: the recording is closed")
	return s.out.Commit()
}

// Abort implements event.Sink.
func (s *sink) Abort() error {
	if s.err == nil {
		s.err = errors.New("dat: the recording was dropped")
	}
	return s.out.Abort()
}

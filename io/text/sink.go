package text

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// flushSize is how many bytes of lines are collected before they are written.
const flushSize = 1 << 20

// A sink writes the sensor's size, the names of the columns and one event a line: t in microseconds, x, y and p.
type sink struct {
	name string
	sep  byte
	off  string // what is written for OFF
	file *atomicfile.File
	buf  []byte
	err  error // why nothing more is taken
}

// creator starts recordings. The columns of CSV are named by a first line; those of text by a comment, so that
// NumPy's loadtxt passes over it.
func creator(name string, sep byte) func(string, format.Header, format.CreateOptions) (event.Sink, error) {
	return func(path string, h format.Header, o format.CreateOptions) (event.Sink, error) {
		if o.Compression != "" && o.Compression != "none" {
			return nil, fmt.Errorf("%s: there is no compression %q; text is written as it is", name, o.Compression)
		}
		f, err := atomicfile.Create(path, o.Force)
		if err != nil {
			return nil, err
		}
		s := &sink{name: name, sep: sep, off: strconv.Itoa(int(o.OffValue())), file: f}
		mark, names := "%", ""
		if sep == ' ' {
			mark, names = "# ", "# "
		}
		if g := h.Geometry; g.Known() {
			s.buf = fmt.Appendf(s.buf, "%sgeometry:%d,%d\n", mark, g.Width, g.Height)
		}
		s.buf = fmt.Appendf(s.buf, "%st%cx%cy%cp\n", names, sep, sep, sep)
		return s, nil
	}
}

// Write implements event.Sink.
func (s *sink) Write(ctx context.Context, b event.Batch) error {
	if s.err != nil {
		return s.err
	}
	if err := ctx.Err(); err != nil {
		return s.fail(err)
	}
	t, x, y, p := b.T(), b.X(), b.Y(), b.P()
	if len(x) != len(t) || len(y) != len(t) || len(p) != len(t) {
		return s.fail(errors.New("a recording needs the columns t, x, y and p"))
	}
	for i := range t {
		s.buf = append(strconv.AppendInt(s.buf, t[i], 10), s.sep)
		s.buf = append(strconv.AppendUint(s.buf, uint64(x[i]), 10), s.sep)
		s.buf = append(strconv.AppendUint(s.buf, uint64(y[i]), 10), s.sep)
		if p[i] == 0 {
			s.buf = append(s.buf, s.off...)
		} else {
			s.buf = append(s.buf, '1')
		}
		s.buf = append(s.buf, '\n')
		if len(s.buf) >= flushSize {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sink) flush() error {
	if _, err := s.file.Write(s.buf); err != nil {
		return s.fail(err)
	}
	s.buf = s.buf[:0]
	return nil
}

// fail drops the recording: a part of one would pass for the whole.
func (s *sink) fail(err error) error {
	s.err = fmt.Errorf("%s: %w", s.name, err)
	_ = s.file.Abort()
	return s.err
}

// WriteTriggers implements event.Sink. Triggers are left out: a line of text has no place for them.
func (s *sink) WriteTriggers([]event.Trigger) error { return s.err }

// Close implements event.Sink.
func (s *sink) Close() error {
	if s.err != nil {
		return s.err
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.err = fmt.Errorf("%s: the recording is closed", s.name)
	return s.file.Commit()
}

// Abort implements event.Sink.
func (s *sink) Abort() error {
	if s.err == nil {
		s.err = fmt.Errorf("%s: the recording was dropped", s.name)
	}
	return s.file.Abort()
}

package rawheader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// plain writes one line for each event or trigger, so that tests read what comes in which order.
type plain struct{}

func (plain) Events(dst []byte, t []int64, x, y []uint16, p []int8) []byte {
	for i := range t {
		dst = fmt.Appendf(dst, "e%d ", t[i])
	}
	return dst
}

func (plain) Trigger(dst []byte, tr event.Trigger) []byte { return fmt.Appendf(dst, "t%d ", tr.T) }

// output keeps what is written and how it ended.
type output struct {
	bytes.Buffer
	full               bool
	committed, aborted int
}

func (o *output) Write(b []byte) (int, error) {
	if o.full {
		return 0, errors.New("no space left")
	}
	return o.Buffer.Write(b)
}
func (o *output) Commit() error { o.committed++; return nil }
func (o *output) Abort() error  { o.aborted++; return nil }

func batch(t ...int64) event.Batch {
	b := event.NewBuffer(len(t))
	for _, t := range t {
		b.Append(t, 1, 2, 1)
	}
	return b.Batch()
}

func TestSinkMergesByTime(t *testing.T) {
	out := &output{}
	s := NewSink("test", out, []byte("head "), plain{}, MaxChannel3)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.WriteTriggers([]event.Trigger{{T: 3}, {T: 2}, {T: 30}}))
	must(s.Write(t.Context(), batch(1, 2, 2, 5)))
	must(s.WriteTriggers([]event.Trigger{{T: 5}}))
	must(s.Write(t.Context(), batch(5, 6)))
	must(s.WriteTriggers([]event.Trigger{{T: 40}, {T: 20}}))
	must(s.Close())
	if got, want := strings.TrimSpace(out.String()), "head e1 t2 e2 e2 t3 e5 t5 e5 e6 t20 t30 t40"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if out.committed != 1 || out.aborted != 0 {
		t.Errorf("committed %d times, aborted %d times", out.committed, out.aborted)
	}
	if err := s.Write(t.Context(), batch(50)); err == nil {
		t.Error("a closed recording takes events")
	}
}

func TestSinkRefuses(t *testing.T) {
	one := func(t int64, x, y uint16, p int8) event.Batch {
		return event.New([]int64{t}, []uint16{x}, []uint16{y}, []int8{p})
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		write func(s *Sink) error
		want  string
	}{
		"unsorted events": {func(s *Sink) error { return s.Write(t.Context(), batch(5, 3)) }, "event 1 at 3 µs"},
		"unsorted batches": {func(s *Sink) error {
			return errors.Join(s.Write(t.Context(), batch(5)), s.Write(t.Context(), batch(4)))
		}, "event 1 at 4 µs"},
		"too long":         {func(s *Sink) error { return s.Write(t.Context(), batch(5, 1.7e15)) }, "--zero"},
		"longer than 2^63": {func(s *Sink) error { return s.Write(t.Context(), batch(-5e6, math.MaxInt64)) }, "--zero"},
		"time of no clock": {func(s *Sink) error { return s.Write(t.Context(), batch(math.MaxInt64)) }, "--zero"},
		"x":                {func(s *Sink) error { return s.Write(t.Context(), one(1, 2048, 0, 0)) }, "(2048, 0)"},
		"y":                {func(s *Sink) error { return s.Write(t.Context(), one(1, 0, 40000, 0)) }, "(0, 40000)"},
		"polarity":         {func(s *Sink) error { return s.Write(t.Context(), one(1, 0, 0, -1)) }, "polarity -1"},
		"missing column":   {func(s *Sink) error { return s.Write(t.Context(), event.New([]int64{1}, nil, nil, nil)) }, "columns"},
		"late trigger": {func(s *Sink) error {
			return errors.Join(s.Write(t.Context(), batch(9)), s.WriteTriggers([]event.Trigger{{T: 8}}))
		}, "before the events"},
		"trigger channel": {func(s *Sink) error { return s.WriteTriggers([]event.Trigger{{Channel: 16}}) }, "channel 16"},
		"early trigger": {func(s *Sink) error {
			return errors.Join(s.Write(t.Context(), batch(0)), s.WriteTriggers([]event.Trigger{{T: -2}}))
		}, "--zero"},
		"cancelled":               {func(s *Sink) error { return s.Write(cancelled, batch(1)) }, "canceled"},
		"a full disc, at the end": {func(s *Sink) error { return errors.Join(s.Write(t.Context(), batch(1)), s.Close()) }, "no space"},
	} {
		out := &output{full: true}
		s := NewSink("test", out, nil, plain{}, MaxChannel3)
		err := c.write(s)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
		if out.aborted == 0 || s.Close() == nil || out.committed != 0 {
			t.Errorf("%s: the recording is not dropped: aborted %d, committed %d", name, out.aborted, out.committed)
		}
	}
}

// What a recording cannot hold is told from what is out of order, and by which event it is.
func TestSinkErrors(t *testing.T) {
	for _, c := range []struct {
		b     event.Batch
		is    error
		event int64
	}{
		{batch(5, 7, 6), format.ErrOrder, 2},
		{batch(5, MaxTime), format.ErrRange, 1},
		{event.New([]int64{1}, []uint16{2048}, []uint16{0}, []int8{0}), format.ErrRange, 0},
	} {
		err := NewSink("test", &output{}, nil, plain{}, MaxChannel3).Write(t.Context(), c.b)
		var e *format.EventError
		if !errors.Is(err, c.is) || !errors.As(err, &e) || e.Event != c.event || e.Format != "test" {
			t.Errorf("%v; want %v of event %d", err, c.is, c.event)
		}
	}
}

// Times that the words cannot hold are written less an offset, which the header keeps.
func TestSinkOffset(t *testing.T) {
	for _, c := range []struct {
		triggers []event.Trigger
		t        []int64
		want     string
	}{
		{nil, []int64{5, 6}, "% a 1\n% end\ne5 e6 "},
		{nil, []int64{MaxTime - 1}, "% a 1\n% end\ne2199023255551 "},
		{nil, []int64{1_700_000_000_000_007, 1_700_000_001_000_000}, "% a 1\n% evq_time_offset 1700000000000000\n% end\ne7 e1000000 "},
		{nil, []int64{-5, 3}, "% a 1\n% evq_time_offset -1000000\n% end\ne999995 e1000003 "},
		{[]event.Trigger{{T: 1_700_000_000_000_002}}, []int64{1_700_000_000_000_003}, "% a 1\n% evq_time_offset 1700000000000000\n% end\nt2 e3 "},
	} {
		out := &output{}
		s := NewSink("test", out, []byte("% a 1\n% end\n"), plain{}, MaxChannel3)
		if err := errors.Join(s.WriteTriggers(c.triggers), s.Write(t.Context(), batch(c.t...)), s.Close()); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("%v gives %q, want %q", c.t, out.String(), c.want)
		}
		h := Parse(out.Bytes())
		offset, err := h.Offset()
		if want := OffsetFor(c.t[0]); err != nil || offset != 0 && offset != want {
			t.Errorf("%v: the offset is read as %d, %v; want %d", c.t, offset, err, want)
		}
	}
	for _, bad := range []string{"x", "9223372036854775807", ""} {
		if _, err := Parse([]byte("% evq_time_offset " + bad + "\n")).Offset(); err == nil {
			t.Errorf("%q is taken for an offset", bad)
		}
	}
}

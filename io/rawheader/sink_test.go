package rawheader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
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
		"negative time":    {func(s *Sink) error { return s.Write(t.Context(), batch(-1)) }, "--zero"},
		"time of an epoch": {func(s *Sink) error { return s.Write(t.Context(), batch(1.7e15)) }, "--zero"},
		"x":                {func(s *Sink) error { return s.Write(t.Context(), one(1, 2048, 0, 0)) }, "(2048, 0)"},
		"y":                {func(s *Sink) error { return s.Write(t.Context(), one(1, 0, 40000, 0)) }, "(0, 40000)"},
		"polarity":         {func(s *Sink) error { return s.Write(t.Context(), one(1, 0, 0, -1)) }, "polarity -1"},
		"missing column":   {func(s *Sink) error { return s.Write(t.Context(), event.New([]int64{1}, nil, nil, nil)) }, "columns"},
		"late trigger": {func(s *Sink) error {
			return errors.Join(s.Write(t.Context(), batch(9)), s.WriteTriggers([]event.Trigger{{T: 8}}))
		}, "before the events"},
		"trigger channel":         {func(s *Sink) error { return s.WriteTriggers([]event.Trigger{{Channel: 16}}) }, "channel 16"},
		"negative trigger":        {func(s *Sink) error { return s.WriteTriggers([]event.Trigger{{T: -2}}) }, "--zero"},
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

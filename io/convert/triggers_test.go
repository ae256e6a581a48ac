package convert

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// pulses is a source that hands on triggers and then ends, or fails.
type pulses struct {
	event.Source
	triggers []event.Trigger
	fail     error
}

func (p pulses) Scan(_ context.Context, want event.Request) (event.Stream, error) {
	if err := want.Triggers(p.triggers); err != nil {
		return nil, err
	}
	return nil, p.fail
}

// kept is a sink in memory.
type kept struct {
	triggers        []event.Trigger
	closed, aborted bool
	full            error
}

func (k *kept) Write(tr []event.Trigger) error { k.triggers = append(k.triggers, tr...); return k.full }
func (k *kept) Close() error                   { k.closed = true; return nil }
func (k *kept) Abort() error                   { k.aborted = true; return nil }

// A table is complete or dropped.
func TestTriggersFail(t *testing.T) {
	broken, full := errors.New("broken"), errors.New("full")
	in := []event.Trigger{{T: 9, Channel: 1}, {T: 3, Rising: true}}
	for want, c := range map[error]struct {
		src  pulses
		sink kept
	}{broken: {pulses{triggers: in, fail: broken}, kept{}}, full: {pulses{triggers: in, fail: broken}, kept{full: full}}} {
		_, done, err := Triggers(t.Context(), c.src, &c.sink, 1)
		if !errors.Is(err, want) || c.sink.closed || !c.sink.aborted {
			t.Errorf("%v: %v, closed %v, aborted %v", want, err, c.sink.closed, c.sink.aborted)
		}
		if done != (Written{Triggers: 2, First: 3, Last: 9}) || !slices.Equal(c.sink.triggers, in) {
			t.Errorf("%+v, %v", done, c.sink.triggers)
		}
	}
}

package convert

import (
	"context"
	"errors"

	"github.com/evq-project/evq/io/event"
)

// A TriggerSink keeps triggers alone, in the order they are written.
type TriggerSink interface {
	Write(tr []event.Trigger) error
	// Close completes the table; only then does it appear under its name.
	Close() error
	// Abort drops what was written. After Close it does nothing.
	Abort() error
}

// Triggers copies the external triggers of src, every one and in file order, into a sink. On an error the sink is
// dropped; the report is that of the scan, which reads the events as well.
func Triggers(ctx context.Context, src event.Source, sink TriggerSink, threads int) (rep *event.Report, done Written, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, sink.Abort())
		}
	}()
	want := event.All
	want.Threads = threads
	want.Triggers = func(tr []event.Trigger) error {
		for _, v := range tr {
			if done.Triggers == 0 {
				done.First, done.Last = v.T, v.T
			}
			done.First, done.Last = min(done.First, v.T), max(done.Last, v.T)
			done.Triggers++
		}
		return sink.Write(tr)
	}
	if rep, err = event.Each(ctx, src, want, func(event.Batch) error { return nil }); err != nil {
		return rep, done, err
	}
	return rep, done, sink.Close()
}

// Package convert copies a recording from any source into any sink.
//
// It knows sources and sinks, not formats: which ones is its caller's business.
package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// Options say how a recording is copied. The zero value is the default.
type Options struct {
	// Facts are stored with the events where the sink has a place for them: the policies in force, by names
	// such as on_unsorted and on_offsensor.
	Facts []event.Field
	// OffSensorGiven says that the off-sensor policy was chosen, not the default: then a recording that does
	// not fit its sensor is no error.
	OffSensorGiven bool
	// Threads bounds the goroutines that decode; zero means one per CPU.
	Threads int
	// Progress, where set, is told how many events are written, after each batch.
	Progress func(events int64)
	// Written, where set, says what the sink was given, once the copy is complete.
	Written *Written
}

// Written is what went into a sink: less than a scan met, where a source leaves something out.
type Written struct {
	Events, Triggers int64
	First, Last      int64 // times of the first and last event, in microseconds; 0 where there is none
}

func (w *Written) add(b event.Batch) {
	if b.Len() == 0 {
		return
	}
	if w.Events == 0 {
		w.First = b.T()[0]
	}
	w.Last = b.T()[b.Len()-1]
	w.Events += int64(b.Len())
}

// A Describer is a sink that stores where its events came from. Run tells it once, after the last event.
type Describer interface {
	Describe(info event.Info, facts []event.Field, rep *event.Report)
}

// maxStarts bounds how often a source may ask to start over.
const maxStarts = 3

// Run copies all events and triggers of src into a sink that create makes; decoding and writing run side by
// side. create is called again when src asks to start over. On an error the sink is dropped; the report says
// what was met up to then.
func Run(ctx context.Context, src event.Source, create func() (event.Sink, error), o Options) (*event.Report, error) {
	for start := 1; ; start++ {
		rep, err := run(ctx, src, create, o)
		if !errors.Is(err, event.ErrRestart) {
			return rep, err
		}
		if start == maxStarts {
			return rep, fmt.Errorf("%s asked %d times to start over: %w", src, start, err)
		}
	}
}

func run(ctx context.Context, src event.Source, create func() (event.Sink, error), o Options) (_ *event.Report, err error) {
	sink, err := create()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, sink.Abort())
		}
	}()
	rep, written, err := pump(ctx, src, sink, o)
	if err != nil {
		return rep, err
	}
	if o.Written != nil {
		*o.Written = written
	}
	if !o.OffSensorGiven {
		if err := format.OffSensorHint(rep, src.Geometry()); err != nil {
			return rep, err
		}
	}
	if d, ok := sink.(Describer); ok {
		d.Describe(src.Info(), o.Facts, rep)
	}
	return rep, sink.Close()
}

// ahead is the number of batches that may wait between decoding and writing.
const ahead = 4

// An item is what the decoding goroutine hands to the writing one: a batch or triggers.
type item struct {
	batch    event.Batch
	triggers []event.Trigger
}

// pump scans src in a goroutine of its own and writes what it yields.
func pump(ctx context.Context, src event.Source, sink event.Sink, o Options) (*event.Report, Written, error) {
	ctx, cancel := context.WithCancel(ctx)
	items := make(chan item, ahead)
	var rep *event.Report
	var decodeErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(items)
		rep, decodeErr = decode(ctx, src, o.Threads, items)
	}()
	written, writeErr := write(ctx, sink, items, o.Progress)
	cancel()
	<-done
	// Where writing failed first, decoding ended because of that.
	if writeErr != nil && (decodeErr == nil || errors.Is(decodeErr, context.Canceled)) {
		return rep, written, writeErr
	}
	return rep, written, decodeErr
}

// decode sends what a scan of src yields until it ends.
func decode(ctx context.Context, src event.Source, threads int, items chan<- item) (_ *event.Report, err error) {
	send := func(it item) error {
		select {
		case items <- it:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	st, err := src.Scan(ctx, event.Request{Box: event.Everything, Threads: threads, Restartable: true,
		Triggers: func(tr []event.Trigger) error { return send(item{triggers: slices.Clone(tr)}) }})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	for {
		b, err := st.Next(ctx)
		if errors.Is(err, io.EOF) {
			return st.Report(), nil
		}
		if err == nil {
			err = send(item{batch: b})
		}
		if err != nil {
			return st.Report(), err
		}
	}
}

// write writes items until the channel is closed or the sink fails.
func write(ctx context.Context, sink event.Sink, items <-chan item, progress func(int64)) (done Written, err error) {
	for it := range items {
		if len(it.triggers) > 0 {
			if err := sink.WriteTriggers(it.triggers); err != nil {
				return done, err
			}
			done.Triggers += int64(len(it.triggers))
			continue
		}
		if err := sink.Write(ctx, it.batch); err != nil {
			return done, err
		}
		done.add(it.batch)
		it.batch.Release()
		if progress != nil {
			progress(done.Events)
		}
	}
	return done, nil
}

// Package engine is the front door of evq: it opens recordings, builds queries over them, explains and runs
// them. It is the only room that knows both a plan and a device.
package engine

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/io/merge"
	"github.com/evq-project/evq/io/parquet"
	"github.com/evq-project/evq/plan"
)

// A Recording is an opened recording or store.
type Recording struct{ event.Source }

// Open opens a recording of any format, or a store. The format is recognised by content. Options: Format,
// Join, Cache, Size, OnUnsorted, OnOffSensor, Strict, Policies, Threads, Memory, Logger.
func Open(path string, opts ...Option) (*Recording, error) {
	s := settingsOf(opts)
	src, err := formats.Open(context.Background(), path, s.format, s.policy, s.parts...)
	if err != nil {
		return nil, err
	}
	from, err := s.cached(src, path, func(store string) (event.Source, error) {
		return formats.Open(context.Background(), store, parquet.Format.Name, format.Policy{Threads: s.threads, Memory: s.policy.Memory, Logger: s.logger, OnRead: s.policy.OnRead})
	})
	if c, ok := src.(io.Closer); ok && (err != nil || from != src) {
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		return nil, err
	}
	return &Recording{from}, nil
}

// Frame starts a query over the recording's events.
func (r *Recording) Frame() Frame { return Scan(r.Source) }

// Close closes the recording's file. Queries over it must have ended.
func (r *Recording) Close() error {
	if c, ok := r.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Scan starts a query over a source.
func Scan(src event.Source) Frame {
	return Frame{&plan.Scan{Source: src, Want: event.Request{Box: event.Everything}}}
}

// TriggerTimes returns the times of the edges of a trigger's channel, in order: of rising edges, falling ones, or both.
// A raw recording is decoded for them.
func (r *Recording) TriggerTimes(ctx context.Context, channel int16, rising, falling bool) ([]int64, error) {
	var out []int64
	want := event.Request{Columns: event.ColT, Box: event.Everything, Triggers: func(tr []event.Trigger) error {
		for _, t := range tr {
			if t.Channel == channel && (t.Rising && rising || !t.Rising && falling) {
				out = append(out, t.T)
			}
		}
		return nil
	}}
	_, err := event.Each(ctx, r.Source, want, func(event.Batch) error { return nil })
	slices.Sort(out)
	return out, err
}

// Merge starts from several recordings as one: their events by time, those of an earlier one first where times are
// equal. The sensor is the smallest that holds all of theirs. Closing it closes them.
func Merge(recordings ...*Recording) *Recording {
	sources := make([]event.Source, len(recordings))
	for i, r := range recordings {
		sources[i] = r.Source
	}
	return &Recording{merge.New(sources...)}
}

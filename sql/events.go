package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/sql/duck"
)

// eventColumns are those of events, on every way in.
var eventColumns = []duck.Column{{Name: "t", Type: duck.Bigint}, {Name: "x", Type: duck.Integer}, {Name: "y", Type: duck.Integer}, {Name: "p", Type: duck.Integer}}

// eventsFunction is events('path'): the events of one recording, or of several one after the other.
func (s *Session) eventsFunction() duck.TableFunction {
	named := slices.Concat(readingNames, selectingNames, []string{"filename"})
	return duck.TableFunction{Name: "events", Most: 2, Named: withAliases(named), Bind: func(ctx context.Context, args duck.Args) (duck.Table, error) {
		a, err := newArguments("events", args, "recording")
		if err != nil {
			return nil, err
		}
		t := &eventTable{session: s}
		if t.named, err = a.truth("filename"); err != nil {
			return nil, err
		}
		return t, t.bind(ctx, a, nil)
	}}
}

// An eventTable is the events of recordings as a table.
type eventTable struct {
	session *Session
	files   []string
	opts    []engine.Option
	// frame makes the query over one recording, under the context of the query that runs.
	frame func(context.Context, *engine.Recording) (engine.Frame, error)
	named bool  // there is a column with the name of the file
	count int64 // of events, or -1
}

// bind reads the arguments that are not taken yet. apply, where given, is put behind what selects events.
func (t *eventTable) bind(ctx context.Context, a *arguments, apply func(engine.Frame) engine.Frame) (err error) {
	s := t.session
	if t.files, err = s.files(a.texts("recording")); err != nil {
		return err
	}
	if t.opts, err = s.reading(a, nil); err != nil {
		return err
	}
	if _, err = s.selecting(ctx, a); err != nil {
		return err
	}
	if err := a.rest(); err != nil {
		return err
	}
	t.frame = func(ctx context.Context, rec *engine.Recording) (engine.Frame, error) {
		frame, err := s.selecting(ctx, a)
		if err != nil {
			return engine.Frame{}, err
		}
		f, err := frame(rec)
		if err == nil && apply != nil {
			f = apply(f)
		}
		return f, err
	}
	rec, err := engine.Open(t.files[0], t.opts...) // so that what cannot be read is said at once
	if err != nil {
		return err
	}
	if t.count = -1; len(t.files) == 1 && apply == nil {
		t.count = rec.Info().Events
	}
	return rec.Close()
}

// Rows is about how many rows there are, or -1.
func (t *eventTable) Rows() int64 { return t.count }

func (t *eventTable) Columns() []duck.Column {
	if t.named {
		return append(slices.Clone(eventColumns), duck.Column{Name: "filename", Type: duck.Varchar})
	}
	return eventColumns
}

func (t *eventTable) Open(ctx context.Context, wanted []bool) (duck.Rows, error) {
	ctx, cancel := context.WithCancel(ctx)
	return &eventRows{table: t, ctx: ctx, cancel: cancel, columns: columnsOf(wanted)}, nil
}

func (t *eventTable) Close() error { return nil }

// columnsOf says what a source must yield for the columns t, x, y and p.
func columnsOf(wanted []bool) event.Columns {
	out := event.ColT
	for i, c := range []event.Columns{event.ColX, event.ColY, event.ColP} {
		if wanted[i+1] {
			out |= c
		}
	}
	return out
}

// eventRows are the events of one recording after the other.
type eventRows struct {
	table   *eventTable
	ctx     context.Context
	cancel  context.CancelFunc
	columns event.Columns
	file    int // the next to be opened
	rec     *engine.Recording
	stream  event.Stream
	batch   event.Batch // what is left of the one that was read last
	whole   event.Batch // all of it
}

func (r *eventRows) Next(c *duck.Chunk) error {
	for r.batch.Len() == 0 {
		if more, err := r.read(); err != nil || !more {
			return err
		}
	}
	c.N = min(r.batch.Len(), c.Cap)
	b := r.batch.Slice(0, c.N)
	r.batch = r.batch.Slice(c.N, r.batch.Len())
	v := c.Vectors
	if v[0].Wanted {
		copy(v[0].Int64s(), b.T())
	}
	widen(&v[1], b.X())
	widen(&v[2], b.Y())
	widen(&v[3], b.P())
	if len(v) > 4 && v[4].Wanted {
		name := []byte(r.table.files[r.file-1])
		for i := range c.N {
			if err := v[4].SetBytes(i, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func widen[T uint16 | int8](to *duck.Vector, from []T) {
	if !to.Wanted {
		return
	}
	out := to.Int32s()[:len(from)]
	for i, v := range from {
		out[i] = int32(v)
	}
}

// read reads the next batch; more is false after the last of the last recording.
func (r *eventRows) read() (more bool, err error) {
	r.whole.Release()
	r.whole, r.batch = event.Batch{}, event.Batch{}
	if r.stream == nil {
		if r.file == len(r.table.files) {
			return false, nil
		}
		if err := r.open(r.table.files[r.file]); err != nil {
			return false, err
		}
		r.file++
	}
	b, err := r.stream.Next(r.ctx)
	if errors.Is(err, io.EOF) {
		return true, r.close()
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", r.table.files[r.file-1], err)
	}
	r.whole, r.batch = b, b
	return true, nil
}

func (r *eventRows) open(path string) (err error) {
	if r.rec, err = r.table.session.open(path, r.table.opts); err != nil {
		return err
	}
	f, err := r.table.frame(r.ctx, r.rec)
	if err != nil {
		return err
	}
	want := event.Request{Columns: r.columns, Box: event.Everything, Threads: r.table.session.options.Threads}
	r.stream, err = f.Source().Scan(r.ctx, want)
	return err
}

// close closes the recording that is open.
func (r *eventRows) close() error {
	var err error
	if r.stream != nil {
		err = r.stream.Close()
	}
	if r.rec != nil {
		err = errors.Join(err, r.rec.Close())
	}
	r.stream, r.rec = nil, nil
	return err
}

func (r *eventRows) Close() error {
	r.cancel()
	r.whole.Release()
	r.whole, r.batch = event.Batch{}, event.Batch{}
	return r.close()
}

// withAliases adds the names that need no quotes in SQL.
func withAliases(names []string) []string {
	out := slices.Clone(names)
	for alias, name := range aliases {
		if slices.Contains(names, name) {
			out = append(out, alias)
		}
	}
	slices.Sort(out)
	return out
}

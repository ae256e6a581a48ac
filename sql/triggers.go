package sql

import (
	"context"
	"slices"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/sql/duck"
)

// triggersFunction is triggers('path'): the edges on the external inputs of the camera, in the order of the file.
func (s *Session) triggersFunction() duck.TableFunction {
	return duck.TableFunction{Name: "triggers", Most: 2, Named: withAliases(readingNames), Bind: func(_ context.Context, args duck.Args) (duck.Table, error) {
		a, err := newArguments("triggers", args, "recording")
		if err != nil {
			return nil, err
		}
		t := &triggerTable{session: s}
		if t.files, err = s.files(a.texts("recording")); err != nil {
			return nil, err
		}
		if t.opts, err = s.reading(a, nil); err != nil {
			return nil, err
		}
		if err := a.rest(); err != nil {
			return nil, err
		}
		rec, err := engine.Open(t.files[0], t.opts...)
		if err != nil {
			return nil, err
		}
		return t, rec.Close()
	}}
}

// A triggerTable is the triggers of recordings as a table.
type triggerTable struct {
	session *Session
	files   []string
	opts    []engine.Option
}

func (t *triggerTable) Columns() []duck.Column {
	return []duck.Column{{Name: "t", Type: duck.Bigint}, {Name: "channel", Type: duck.Integer}, {Name: "rising", Type: duck.Boolean}}
}

func (t *triggerTable) Close() error { return nil }

func (t *triggerTable) Open(ctx context.Context, _ []bool) (duck.Rows, error) {
	return &triggerRows{pump: newPump(ctx, func(ctx context.Context, yield func([]event.Trigger) error) error {
		for _, path := range t.files {
			if err := t.read(ctx, path, yield); err != nil {
				return err
			}
		}
		return nil
	})}, nil
}

func (t *triggerTable) read(ctx context.Context, path string, yield func([]event.Trigger) error) error {
	rec, err := t.session.open(path, t.opts)
	if err != nil {
		return err
	}
	defer func() { _ = rec.Close() }()
	want := event.Request{Columns: event.ColT, Box: event.Everything, Triggers: func(tr []event.Trigger) error { return yield(slices.Clone(tr)) }}
	_, err = event.Each(ctx, rec.Source, want, func(event.Batch) error { return nil })
	return err
}

// triggerRows are triggers as rows.
type triggerRows struct {
	*pump[[]event.Trigger]
	left []event.Trigger
}

func (r *triggerRows) Next(c *duck.Chunk) error {
	for len(r.left) == 0 {
		var ok bool
		var err error
		if r.left, ok, err = r.next(); err != nil || !ok {
			return err
		}
	}
	c.N = min(len(r.left), c.Cap)
	v := c.Vectors
	for i, tr := range r.left[:c.N] {
		if v[0].Wanted {
			v[0].Int64s()[i] = tr.T
		}
		if v[1].Wanted {
			v[1].Int32s()[i] = int32(tr.Channel)
		}
		if v[2].Wanted {
			v[2].Bools()[i] = tr.Rising
		}
	}
	r.left = r.left[c.N:]
	return nil
}

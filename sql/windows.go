package sql

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/evq-project/evq/sql/duck"
)

// windowsFunction is windows('recording', '50ms'): the windows of a recording, with how many events lie in each.
func (s *Session) windowsFunction() duck.TableFunction {
	named := slices.Concat(readingNames, selectingNames, windowingNames)
	return duck.TableFunction{Name: "windows", Most: 3, Named: withAliases(named), Bind: func(ctx context.Context, args duck.Args) (duck.Table, error) {
		a, err := newArguments("windows", args, "recording", "window")
		if err != nil {
			return nil, err
		}
		t, err := s.windowed(ctx, a, nil)
		if err != nil {
			return nil, err
		}
		return &windowList{*t}, nil
	}}
}

// A windowList is windows without what is made of their events.
type windowList struct{ windowTable }

func (t *windowList) Columns() []duck.Column { return windowColumns }

func (t *windowList) Open(ctx context.Context, _ []bool) (duck.Rows, error) {
	table := t.windows.Group()
	return &recordRows{pump: newPump(ctx, func(ctx context.Context, yield func(arrow.RecordBatch) error) error {
		return table.Each(ctx, yield, t.opts...)
	})}, nil
}

// recordRows are the first columns of records of the engine, all integers.
type recordRows struct {
	*pump[arrow.RecordBatch]
	rec arrow.RecordBatch
	at  int
}

func (r *recordRows) Next(c *duck.Chunk) error {
	for r.rec == nil || r.at == int(r.rec.NumRows()) {
		rec, ok, err := r.next()
		if err != nil || !ok {
			return err
		}
		r.rec, r.at = rec, 0
	}
	c.N = min(int(r.rec.NumRows())-r.at, c.Cap)
	for i := range c.Vectors {
		if c.Vectors[i].Wanted {
			copy(c.Vectors[i].Int64s(), r.rec.Column(i).(*array.Int64).Int64Values()[r.at:r.at+c.N])
		}
	}
	r.at += c.N
	return nil
}

package sql

import (
	"context"

	"github.com/evq-project/evq/sql/duck"
)

// A listing is a table of few rows, which are made when it is scanned: next returns one row after another, nil after
// the last.
type listing struct {
	columns []duck.Column
	open    func(context.Context) (next func() ([]any, error), err error)
}

func (l *listing) Columns() []duck.Column { return l.columns }
func (l *listing) Close() error           { return nil }

func (l *listing) Open(ctx context.Context, _ []bool) (duck.Rows, error) {
	next, err := l.open(ctx)
	return listed(next), err
}

type listed func() ([]any, error)

func (next listed) Close() error { return nil }

func (next listed) Next(c *duck.Chunk) error {
	for c.N < c.Cap {
		row, err := next()
		if err != nil || row == nil {
			return err
		}
		for i, v := range row {
			if !c.Vectors[i].Wanted {
				continue
			}
			if err := c.Vectors[i].Set(c.N, v); err != nil {
				return err
			}
		}
		c.N++
	}
	return nil
}

package exec

import (
	"context"
	"strings"

	"github.com/evq-project/evq/exprs"
)

// Select makes each column of a formula over those of In.
type Select struct {
	In       RowOp
	Formulas []*exprs.Formula
	Columns  []Field // what they are called
}

func (s *Select) String() string {
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = c.Name
	}
	return "select " + strings.Join(names, ", ")
}

// Input implements Operator.
func (s *Select) Input() Operator { return s.In }

// Close implements Operator.
func (s *Select) Close() error { return s.In.Close() }

// Fields implements RowOp.
func (s *Select) Fields() []Field { return s.Columns }

// Next returns the columns of the next rows.
func (s *Select) Next(ctx context.Context) (Rows, error) {
	r, err := s.In.Next(ctx)
	if err != nil {
		return Rows{}, err
	}
	out := Rows{N: r.N}
	for _, f := range s.Formulas {
		out.Cols = append(out.Cols, computed(f, table{r, s.In.Fields()}))
	}
	return out, nil
}

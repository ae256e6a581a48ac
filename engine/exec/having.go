package exec

import (
	"context"

	"github.com/evq-project/evq/exprs"
)

// Having yields the rows for which a condition holds.
type Having struct {
	In   RowOp
	Cond *exprs.Formula
}

func (h *Having) String() string { return "having " + h.Cond.String() }

// Input implements Operator.
func (h *Having) Input() Operator { return h.In }

// Close implements Operator.
func (h *Having) Close() error { return h.In.Close() }

// Fields implements RowOp.
func (h *Having) Fields() []Field { return h.In.Fields() }

// Next returns the rows that are kept of the next run that has any.
func (h *Having) Next(ctx context.Context) (Rows, error) {
	for {
		r, err := h.In.Next(ctx)
		if err != nil {
			return Rows{}, err
		}
		var kept []int32
		for i, v := range truths(h.Cond, table{r, h.In.Fields()}) {
			if v > 0 {
				kept = append(kept, int32(i))
			}
		}
		if len(kept) == r.N {
			return r, nil
		}
		if len(kept) > 0 {
			out := Rows{N: len(kept)}
			for _, c := range r.Cols {
				out.Cols = append(out.Cols, permuted(c, kept))
			}
			return out, nil
		}
		if err := ctx.Err(); err != nil { // rows that are left out may go on for ever
			return Rows{}, err
		}
	}
}

package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evq-project/evq/udf"
)

// An Order is a column that rows are sorted by.
type Order struct {
	Column int
	Desc   bool
}

// Sort yields the rows in order, those without a value last. Rows that are equal stay as they were. It holds all
// rows, or with Limit only those that may be among the first so many.
type Sort struct {
	In    RowOp
	By    []Order
	Limit int64 // 0 = all
	Max   int64 // the rows that may be held

	held Rows
	done bool
}

func (s *Sort) String() string {
	by := make([]string, len(s.By))
	for i, o := range s.By {
		by[i] = s.In.Fields()[o.Column].Name
		if o.Desc {
			by[i] += " desc"
		}
	}
	out := "sort by " + strings.Join(by, ", ")
	if s.Limit > 0 {
		out += fmt.Sprintf(", the first %d", s.Limit)
	}
	return out
}

// Input implements Operator.
func (s *Sort) Input() Operator { return s.In }

// Close implements Operator.
func (s *Sort) Close() error { return s.In.Close() }

// Fields implements RowOp.
func (s *Sort) Fields() []Field { return s.In.Fields() }

// Next returns all rows at once.
func (s *Sort) Next(ctx context.Context) (Rows, error) {
	if s.done {
		return Rows{}, io.EOF
	}
	for {
		r, err := s.In.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Rows{}, err
		}
		s.held = Joined(s.held, r)
		if s.Limit > 0 && int64(s.held.N) > 2*s.Limit+4096 {
			s.shrink()
		}
		if int64(s.held.N) > s.Max {
			return Rows{}, fmt.Errorf("sorting more than %d rows, which is what memory allows; ask for fewer with a limit, group by fewer values or raise --memory", s.Max)
		}
	}
	s.done = true
	s.shrink()
	if s.held.N == 0 {
		return Rows{}, io.EOF
	}
	return s.held, nil
}

// shrink sorts what is held, and cuts it to the limit.
func (s *Sort) shrink() {
	order := make([]int32, s.held.N)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		for _, o := range s.By {
			if c := compare(s.held.Cols[o.Column], int(a), int(b), o.Desc); c != 0 {
				return c
			}
		}
		return 0
	})
	if s.Limit > 0 && int64(len(order)) > s.Limit {
		order = order[:s.Limit]
	}
	out := Rows{N: len(order)}
	for _, c := range s.held.Cols {
		out.Cols = append(out.Cols, permuted(c, order))
	}
	s.held = out
}

// compare orders two rows by one column; what has no value comes last either way.
func compare(c udf.Column, a, b int, desc bool) int {
	if c.Nulls != nil && (c.Nulls[a] || c.Nulls[b]) {
		switch {
		case c.Nulls[a] && c.Nulls[b]:
			return 0
		case c.Nulls[a]:
			return 1
		}
		return -1
	}
	var r int
	if c.Floats != nil {
		r = cmp.Compare(c.Floats[a], c.Floats[b])
	} else {
		r = cmp.Compare(c.Ints[a], c.Ints[b])
	}
	if desc {
		return -r
	}
	return r
}

// Joined appends the rows of b to those of a.
func Joined(a, b Rows) Rows {
	if a.N == 0 {
		a = Rows{Cols: make([]udf.Column, len(b.Cols))}
	}
	for i := range a.Cols {
		to, from := &a.Cols[i], b.Cols[i]
		if from.Nulls != nil || to.Nulls != nil {
			if to.Nulls == nil {
				to.Nulls = make([]bool, a.N)
			}
			if from.Nulls == nil {
				from.Nulls = make([]bool, b.N)
			}
			to.Nulls = append(to.Nulls, from.Nulls...)
		}
		if from.Floats != nil {
			to.Floats = append(to.Floats, from.Floats...)
		} else {
			to.Ints = append(to.Ints, from.Ints...)
		}
	}
	a.N += b.N
	return a
}

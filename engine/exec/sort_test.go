package exec

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/udf"
)

// lines is a RowOp of two columns: a key that may have no value, and the row's number.
type lines struct {
	keys  []int64 // -1: none
	parts int
	at    int
}

func (l *lines) String() string  { return "lines" }
func (l *lines) Input() Operator { return nil }
func (l *lines) Close() error    { return nil }
func (l *lines) Fields() []Field { return []Field{{Name: "key"}, {Name: "number", Float: true}} }
func (l *lines) Next(context.Context) (Rows, error) {
	if l.at == len(l.keys) {
		return Rows{}, io.EOF
	}
	hi := min(l.at+l.parts, len(l.keys))
	r := Rows{N: hi - l.at, Cols: make([]udf.Column, 2)}
	for i, k := range l.keys[l.at:hi] {
		r.Cols[0].Ints = append(r.Cols[0].Ints, max(k, 0))
		r.Cols[1].Floats = append(r.Cols[1].Floats, float64(l.at+i))
		if k < 0 { // columns get their Nulls with the first row that has no value
			r.Cols[0].Nulls = append(r.Cols[0].Nulls, make([]bool, i+1-len(r.Cols[0].Nulls))...)
			r.Cols[0].Nulls[i] = true
		} else if r.Cols[0].Nulls != nil {
			r.Cols[0].Nulls = append(r.Cols[0].Nulls, false)
		}
	}
	l.at = hi
	return r, nil
}

// A sort is stable, has what has no value last in both directions, and with a limit gives the first of the same order,
// however much it throws away on the way.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, n := range []int{0, 1, 50, 9000, 30_000} {
		keys := make([]int64, n)
		for i := range keys {
			keys[i] = r.Int64N(40) - 1
		}
		for _, desc := range []bool{false, true} {
			order := make([]int, n)
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(a, b int) int {
				x, y := keys[a], keys[b]
				switch {
				case x < 0 || y < 0:
					return cmp.Compare(min(y, 0), min(x, 0))
				case desc:
					return cmp.Compare(y, x)
				}
				return cmp.Compare(x, y)
			})
			for _, limit := range []int64{0, 1, 100, 5000, 1 << 62} {
				s := &Sort{In: &lines{keys: keys, parts: 777}, By: []Order{{Column: 0, Desc: desc}}, Limit: limit, Max: 1 << 20}
				got, err := s.Next(context.Background())
				if n == 0 {
					if !errors.Is(err, io.EOF) {
						t.Errorf("nothing sorted is %v", err)
					}
					continue
				}
				want := order
				if limit > 0 && limit < int64(n) {
					want = order[:limit]
				}
				if err != nil || got.N != len(want) {
					t.Fatalf("%d rows of %d, limit %d: %v", got.N, n, limit, err)
				}
				for i, at := range want {
					if got.Cols[1].Floats[i] != float64(at) || got.Cols[0].Nulls != nil && got.Cols[0].Nulls[i] != (keys[at] < 0) {
						t.Fatalf("%d rows, desc %v, limit %d: row %d is number %v, want %d", n, desc, limit, i, got.Cols[1].Floats[i], at)
					}
				}
				if _, err := s.Next(context.Background()); !errors.Is(err, io.EOF) {
					t.Errorf("after all rows: %v", err)
				}
			}
		}
	}
}

func TestSortHoldsNoMore(t *testing.T) {
	s := &Sort{In: &lines{keys: make([]int64, 5000), parts: 10}, By: []Order{{}}, Max: 300}
	if _, err := s.Next(context.Background()); err == nil || !strings.Contains(err.Error(), "--memory") {
		t.Error(err)
	}
}

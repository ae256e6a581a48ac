package plan

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf/aggregates"
)

type source string

func (n source) String() string         { return string(n) }
func (source) Geometry() event.Geometry { return event.Geometry{Width: 4, Height: 3} }
func (source) Info() event.Info         { return event.Info{} }
func (source) Scan(context.Context, event.Request) (event.Stream, error) {
	return nil, errors.New("nobody reads this")
}

func TestValidate(t *testing.T) {
	scan := &Scan{Source: source("a.raw"), Want: event.All}
	window := &Window{In: scan, By: Count{N: 5, Step: 5}}
	count := []Agg{{Name: "count", Func: aggregates.Count}}
	group := &Group{In: &Bin{In: window, Bins: 4}, Keys: PlaneKeys(1), Aggs: count}
	for _, c := range []struct {
		node Node
		want string // part of the message; "" = valid
	}{
		{scan, ""},
		{window, ""},
		{&Dense{In: group, Cutoff: 10}, ""},
		{&Limit{In: &Dense{In: group, Cutoff: 10}, N: 3}, ""},
		{&Bin{In: scan, Bins: 4}, `"bin 4" reads windows, but "scan a.raw" yields events`},
		{&Filter{In: window, Pred: exprs.True}, ""},
		{&Filter{In: group, Pred: exprs.True}, "yields table"},
		{&Window{In: window, By: Whole{}}, "yields windows"},
		{&Dense{In: window, Cutoff: 10}, `reads table, but "window count=5" yields windows`},
		{&Dense{In: group, Cutoff: 0}, "cutoff 0"},
		{&Dense{In: group, Cutoff: 256}, "cutoff 256"},
		{&Dense{In: &Group{In: window, Keys: group.Keys, Aggs: count}, Cutoff: 1}, "needs binned windows"},
		{&Dense{In: &Group{In: group.In, Keys: group.Keys[:2], Aggs: count}, Cutoff: 1}, "lays out counts by"},
		{&Group{In: window}, "without aggregates"},
		{&Sort{In: &Group{In: window, Aggs: []Agg{{Name: "count"}}}, By: []Order{{Column: "count"}}}, "without a function"},
		{&Group{In: window, Keys: group.Keys, Aggs: append(count, count...)}, `two columns called "count"`},
		{&Sort{In: group, By: []Order{{Column: "cuont"}}}, `no column "cuont"`},
		{&Sort{In: window}, "reads table"},
		{&Cells{In: window}, "reads blocks"},
		{&Window{In: scan, By: Intervals{Starts: []int64{5}, Ends: []int64{4}}}, "before it starts"},
		{&Window{In: scan, By: Intervals{Starts: []int64{5, 4}, Ends: []int64{6, 6}}}, "before the one before"},
		{&Bin{In: window, Bins: 2, Width: 3}, "not both"},
		{&Bin{In: window, Bins: 0}, "0 bins"},
		{&Bin{In: &Bin{In: window, Bins: 2}, Bins: 2}, "binned already"},
		{&Limit{In: scan, N: -1}, "a limit of -1"},
		{&Limit{In: window, N: 1}, ""},
		{&Window{In: scan, By: Ends{Span: 5}}, "without window ends"},
		{&Window{In: scan, By: Ends{Times: []int64{5, 4}, Span: 5}}, "4 at index 1 lies before 5"},
		{&Window{In: scan, By: Ends{Times: []int64{5}, Span: -5}}, "span"},
		{&Window{In: scan, By: Ends{Times: []int64{1<<63 - 1}, Span: 5}}, "out of reach"},
		{&Window{In: scan, By: Every{Length: 5, Hop: 5, Range: &TimeRange{0, 1<<63 - 1}}}, "out of reach"},
		{&Window{In: scan, By: Every{Length: 0, Hop: 1}}, "at least 1 µs"},
		{&Window{In: scan, By: Every{Length: 1, Hop: 1, Range: &TimeRange{5, 4}}}, "ends before it starts"},
		{&Window{In: scan, By: Count{N: 0, Step: 1}}, "at least 1"},
		{&Window{In: &Bin{In: scan, Bins: 4}, By: Whole{}}, "reads events"},
	} {
		err := Validate(c.node)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v: %v", c.node, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrInvalid)):
			t.Errorf("%v: %v, want %q", c.node, err, c.want)
		}
	}
}

func TestFormatAndWith(t *testing.T) {
	var n Node = &Scan{Source: source("a.raw"), Want: event.Request{Box: exprs.X.Lt(3).Box(), Columns: event.ColX}}
	for _, up := range []Node{
		&Filter{Pred: exprs.X.Lt(3)}, &Window{By: Every{Length: 20, Hop: 10, Origin: 5, Range: &TimeRange{0, 9}}},
		&Bin{Bins: 4, Rounding: 1, Base: WindowTime}, &Group{Keys: []Key{{Name: "row", Value: exprs.Y}}, Where: exprs.P.Eq(1), Aggs: []Agg{{Name: "count", Func: aggregates.Count}}},
		&Dense{Cutoff: 10, Wrap: true}, &Limit{N: 7},
	} {
		n = up.With(n)
	}
	want := `limit 7
  dense cutoff=10 overflow=wrap
    group by y as row: count where p = 1
      bin 4 rounding=exact timebase=window
        window every=10µs length=20µs origin=5 over [0, 9)
          filter x <= 2
            scan a.raw columns=t,x box[x<=2]
`
	if got := Format(n); got != want {
		t.Errorf("got\n%s", got)
	}
	if Source(n).Source.String() != "a.raw" {
		t.Error("the scan at the bottom was not found")
	}
}

package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/aggregates"
)

// above counts the arguments from least on.
type above struct{ least int }

var aboveEntry = udf.AggregateEntry{
	Name: "above", Params: []udf.Param{{Name: "least", Default: "3"}},
	New: func(a udf.Args) (udf.Aggregate, error) {
		n, err := a.Int("least", -100, 100)
		return above{n}, err
	},
}

func (a above) String() string         { return fmt.Sprintf("above(least=%d)", a.least) }
func (above) Arity() (least, most int) { return 1, 1 }
func (above) Float() bool              { return false }
func (a above) Open() udf.Accumulator  { return &aboves{above: a} }

type aboves struct {
	above
	n []int64
}

func (a *aboves) Add(args [][]int64, of []int32, groups int) error {
	for len(a.n) < groups {
		a.n = append(a.n, 0)
	}
	for i, g := range of {
		if args[0][i] >= int64(a.least) {
			a.n[g]++
		}
	}
	return nil
}

func (a *aboves) Values(_ event.Window, dst *udf.Column) error {
	dst.Ints = append(dst.Ints, a.n...)
	return nil
}
func (a *aboves) Reset() { a.n = a.n[:0] }

// few are six events in two rows.
func few() engine.Frame {
	return engine.Scan(eventtest.Source(event.New(
		[]int64{0, 1, 2, 3, 4, 500_000}, []uint16{0, 3, 5, 7, 7, 1}, []uint16{0, 0, 0, 1, 1, 0}, []int8{1, 0, 1, 1, 1, 0}),
		event.Geometry{Width: 8, Height: 4}, 4))
}

// rowsOf runs a query and returns its names and rows as text.
func rowsOf(t *testing.T, q engine.Table) (string, error) {
	t.Helper()
	r, err := q.Collect(t.Context())
	if err != nil {
		return "", err
	}
	defer r.Release()
	var names []string
	for _, f := range r.Schema().Fields() {
		names = append(names, f.Name)
	}
	lines := []string{strings.Join(names, ",")}
	for i := range int(r.NumRows()) {
		var row []string
		for _, c := range r.Columns() {
			row = append(row, c.ValueStr(i))
		}
		lines = append(lines, strings.Join(row, ","))
	}
	return strings.Join(lines, " "), nil
}

func TestFormulas(t *testing.T) {
	for _, c := range []struct{ aggs, having, want string }{
		{"count", "", "y,count 0,4 1,2"},
		{"rate = count / seconds, on_share = sum(p) / count()", "", "y,rate,on_share 0,8,0.5 1,4,1"},
		{"count as n, n * 2, y - 1 as above", "", "y,n,n * 2,above 0,4,8,-1 1,2,4,0"},
		{"twice = 2 * n, count as n", "", "y,twice,n 0,8,4 1,4,2"},
		{"mean(x)", "count > 2", "y,mean(x) 0,2.25"},
		{"share = sum(p) / count", "share = 1 and y between 1 and 3", "y,share 1,1"},
		{"count as sum, sum(p) as on_events", "sum > 3", "y,sum,on_events 0,4,2"},
		{"count // (y * 2), count % 0 as none", "", "y,count // (y * 2),none 0,(null),(null) 1,1,(null)"},
		{"count", "count / y > 0", "y,count 1,2"},
		{"count", "not count / y > 3", "y,count 1,2"},
		{"above(x), above(x, least=6) as far, above(x, least=6) + 1 as more", "", "y,above(x, least=3),far,more 0,2,0,1 1,2,2,3"},
		{"first(t) + 2ms as later", "last(t) < 1s", "y,later 0,2000 1,2003"},
		{"count", "count > 9", "y,count"},
		{"1e300 * count * 1e300 as much, -count as less", "", "y,much,less 0,(null),-4 1,(null),-2"},
	} {
		aggs, err := engine.Aggregates(c.aggs, engine.WithAggregate(aboveEntry))
		if err != nil {
			t.Errorf("%s: %v", c.aggs, err)
			continue
		}
		g := few().GroupBy(exprs.NewKey(exprs.Y))
		if c.having != "" {
			kept, err := engine.Having(c.having)
			if err != nil {
				t.Errorf("%s: %v", c.having, err)
				continue
			}
			g = g.Having(kept)
		}
		if got, err := rowsOf(t, g.Agg(aggs...)); err != nil || got != c.want {
			t.Errorf("%s having %s: %s, %v; want %s", c.aggs, c.having, got, err, c.want)
		}
	}
}

// Keys may be called as aggregates are.
func TestKeysCalledLikeAggregates(t *testing.T) {
	kept, err := engine.Having("count = 1 and count() > 1")
	if err != nil {
		t.Fatal(err)
	}
	key := exprs.Key{Name: "count", Value: exprs.Y}
	got, err := rowsOf(t, few().GroupBy(key).Having(kept).Agg(engine.Agg(aggregates.Sum, exprs.X)))
	if err != nil || got != "count,sum(x) 1,14" {
		t.Error(got, err)
	}
}

// What is wrong is said with its place and the nearest name.
func TestFormulaErrors(t *testing.T) {
	for text, want := range map[string]string{
		"coun":                    `at 0: unknown column or aggregate "coun"; did you mean count?`,
		"2 * meen(x)":             `at 4: unknown aggregate "meen"; did you mean mean?`,
		"2 as two, count / twoo":  `at 18: unknown column or aggregate "twoo"; did you mean two?`,
		"count + ey":              `did you mean key?`,
		"above(x, lest=3)":        `at 0: above has no parameter "lest"; it has least; did you mean least?`,
		"mean(x, q=1)":            `at 0: mean has no parameter "q"; it has none`,
		"above(x, least=9999)":    `at 0: above: least is a whole number from -100 to 100`,
		"mean(x) // 2":            "// is of integers, but mean(x) has decimals; write /",
		"count, count * 1":        "",
		"count, 2 * mean":         "mean takes one argument, not 0",
		"count, count":            `two columns called "count"`,
		"count, 2 * count as key": `two columns called "key"`,
	} {
		aggs, err := engine.Aggregates(text, engine.WithAggregate(aboveEntry))
		if err == nil {
			_, err = rowsOf(t, few().GroupBy(exprs.Key{Name: "key", Value: exprs.Y}).Agg(aggs...))
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := engine.Having("count"); !errors.As(err, new(*exprs.SyntaxError)) {
		t.Error(err)
	}
	kept, _ := engine.Having("count > 1")
	if _, err := few().Window(engine.WholeRecording()).Bin(2).Group(exprs.P, exprs.Y, exprs.X).Having(kept).Dense().Layouts(); err == nil {
		t.Error("a block leaves rows out")
	}
	if _, err := rowsOf(t, few().Group().Having(engine.Condition{}).Count()); err == nil {
		t.Error("a condition that says nothing was accepted")
	}
}

// Values that memory has no room for are an error that says so, in every way of grouping.
func TestDistinctWithinMemory(t *testing.T) {
	n := 200_000
	b := event.New(make([]int64, n), make([]uint16, n), make([]uint16, n), make([]int8, n))
	for i := range n {
		b.T()[i] = int64(i)
	}
	f := engine.Scan(eventtest.Source(b, event.Geometry{Width: 1, Height: 1}, 1<<16))
	q := f.Group().Agg(engine.Agg(aggregates.Distinct, exprs.T))
	for _, opts := range [][]engine.Option{{engine.Memory(16 << 20)}, {engine.Memory(16 << 20), engine.Rules()}} {
		_, err := q.Collect(t.Context(), opts...)
		var tooMany *aggregates.TooManyValuesError
		if !errors.As(err, &tooMany) || tooMany.Max >= n || !strings.Contains(err.Error(), "--memory") {
			t.Error(err)
		}
	}
	if _, err := q.Collect(t.Context()); err != nil {
		t.Error(err)
	}
}

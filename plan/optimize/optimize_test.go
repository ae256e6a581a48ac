package optimize

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/aggregates"
	"github.com/evq-project/evq/udf/stackedhist"
)

var update = flag.Bool("update", false, "rewrite the golden plans")

// A named source stands for a recording that is never read.
type named string

func (n named) String() string         { return string(n) }
func (named) Geometry() event.Geometry { return event.Geometry{Width: 1280, Height: 720} }
func (named) Info() event.Info         { return event.Info{Events: -1} }
func (named) Scan(context.Context, event.Request) (event.Stream, error) {
	return nil, fmt.Errorf("nobody reads this")
}

// A counter stands for a store, which counts and is never asked to.
type counter struct{ named }

func (counter) Count(context.Context, event.Request) (event.Counted, error) {
	return event.Counted{}, fmt.Errorf("nobody asks this")
}

// counted counts a store's events that two filters keep.
func counted() plan.Node {
	store := &plan.Scan{Source: counter{"drive.parquet"}, Want: event.All}
	return &plan.Group{In: &plan.Window{In: filter(filter(store, exprs.X.Le(3)), exprs.T.Between(10, 90)), By: plan.Whole{}}, Aggs: counts}
}

var counts = []plan.Agg{{Name: "count", Func: aggregates.Count}}

func every(in plan.Node) plan.Node {
	return &plan.Window{In: in, By: plan.Every{Length: 50000, Hop: 50000, Range: &plan.TimeRange{From: 100000, To: 200000}}}
}

func scan() plan.Node { return &plan.Scan{Source: named("drive.parquet"), Want: event.All} }

func filter(in plan.Node, p exprs.Expr) plan.Node { return &plan.Filter{In: in, Pred: p} }

func ends(in plan.Node) plan.Node {
	return &plan.Window{In: in, By: plan.Ends{Times: []int64{100000, 150000}, Span: 50000}}
}

func histogram(in plan.Node, downsample int64) plan.Node {
	g := &plan.Group{In: &plan.Bin{In: in, Bins: 10}, Keys: plan.PlaneKeys(1), Aggs: counts}
	if downsample == 2 {
		g.Keys = plan.PlaneKeys(2)
		g.Where = plan.Halved()
	}
	return &plan.Dense{In: g, Cutoff: 10, Wrap: true}
}

// A sieve stands for a filter with memory that is never opened.
type sieve struct{}

func (sieve) String() string                         { return "sieve" }
func (sieve) Columns() event.Columns                 { return event.ColX }
func (sieve) Open(event.Geometry) (udf.Sieve, error) { return nil, fmt.Errorf("nobody opens this") }

// A gradual stands for a representation that takes in windows in parts.
type gradual struct{ stackedhist.Histogram }

func (gradual) String() string               { return "gradual" }
func (gradual) Gradual() (ok, foretold bool) { return true, true }

// goldens has a plan for each rule, which that rule alone rewrites, and one for all of them.
var goldens = []struct {
	file, why string
	rules     []Rule
	before    plan.Node
}{
	{"merge_filters", "two filters in a row become one", []Rule{mergeFilters},
		filter(filter(scan(), exprs.X.Le(3)), exprs.P.Eq(1))},
	{"simplify_filters", "ranges of one column meet, and what always holds goes", []Rule{simplifyFilters},
		filter(filter(scan(), exprs.And(exprs.X.Ge(3), exprs.X.Le(9))), exprs.Y.Ge(0))},
	{"box_into_scan", "a filter tells the source the box outside which no event is wanted, and stays", []Rule{boxIntoScan},
		filter(filter(scan(), exprs.X.Le(3)), exprs.And(exprs.T.Between(10, 90), exprs.Y.Mod(2).Eq(1)))},
	{"window_box_into_scan", "windows at given ends need no event before the first or after the last", []Rule{windowBoxIntoScan},
		&plan.Represent{In: ends(filter(scan(), exprs.P.Eq(1))), Reps: []udf.Representation{stackedhist.Histogram{Bins: 1}}}},
	{"count_by_source", "a store counts the events of a box itself", []Rule{boxIntoScan, countBySource}, counted()},
	{"fuse_histogram", "bin, group and dense over windows become one stacked histogram", []Rule{fuseHistogram},
		histogram(ends(scan()), 2)},
	{"filter_below_windows", "windows at given ends are the same whatever is filtered; windows of so many events are not", []Rule{filterBelowWindows},
		filter(ends(scan()), exprs.P.Eq(1))},
	{"filter_below_map", "what a filter says of moved events it says of them before they move", []Rule{filterBelowMap, simplifyFilters},
		filter(&plan.Map{In: scan(), By: exprs.Crop{X0: 100, Y0: 50, X1: 299, Y1: 149}}, exprs.X.Le(3))},
	{"filter_above_counts", "a filter in windows of so many events stays there: below them it would move them", Default,
		&plan.Group{In: filter(&plan.Window{In: scan(), By: plan.Count{N: 5, Step: 5}}, exprs.P.Eq(1)), Keys: plan.PlaneKeys(1), Aggs: counts}},
	{"filter_above_memory", "a filter after one with memory stays there, and the scan learns nothing of it: what is kept depends on what came before", Default,
		filter(&plan.Apply{In: scan(), Filter: sieve{}}, exprs.X.Le(3))},
	{"empty_scan", "a contradiction reads nothing", []Rule{simplifyFilters, emptyScan},
		filter(scan(), exprs.And(exprs.X.Le(3), exprs.X.Ge(9)))},
	{"empty_below_map", "what a crop does to the sensor stays, though nothing is read", []Rule{emptyScan},
		filter(&plan.Apply{In: &plan.Map{In: scan(), By: exprs.Crop{X0: 100, Y0: 50, X1: 299, Y1: 149}}, Filter: sieve{}}, exprs.False)},
	{"push_limits", "blocks that are not wanted are not made", []Rule{pushLimits},
		&plan.Limit{N: 3, In: &plan.Limit{N: 7, In: &plan.Represent{In: ends(scan()), Reps: []udf.Representation{stackedhist.Histogram{Bins: 1}}}}}},
	{"stream_group", "windows that do not overlap hold no event back", []Rule{streamGroup},
		&plan.Group{In: every(scan()), Keys: plan.PlaneKeys(1), Aggs: counts}},
	{"stream_whole", "a whole recording is represented as its events come", []Rule{streamWhole},
		&plan.Represent{In: &plan.Window{In: filter(scan(), exprs.P.Eq(1)), By: plan.Whole{}}, Reps: []udf.Representation{gradual{}, gradual{}}}},
	{"stream_whole_held", "where one of the representations must see all events together, they are held for all", Default,
		&plan.Represent{In: &plan.Window{In: scan(), By: plan.Whole{}}, Reps: []udf.Representation{gradual{}, stackedhist.Histogram{Bins: 1}}}},
	{"group_method", "the pixels of a known sensor are found by address", []Rule{groupMethod},
		&plan.Group{In: ends(scan()), Keys: plan.PlaneKeys(1), Aggs: counts}},
	{"project_columns", "only the columns that are read are asked for", []Rule{projectColumns},
		&plan.Group{In: ends(filter(scan(), exprs.P.Eq(1))), Keys: []plan.Key{{Name: "tile", Value: exprs.Y.Div(16)}}, Aggs: counts}},
	{"default", "all rules together", Default,
		histogram(ends(filter(filter(scan(), exprs.X.Lt(640)), exprs.X.Ge(10))), 1)},
}

func TestGoldens(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.file, func(t *testing.T) {
			after, steps, err := Run(g.before, g.rules)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, s := range steps {
				names = append(names, s.Rule)
			}
			got := fmt.Sprintf("# %s\n\nbefore\n%s\nafter %s\n%s", g.why, plan.Format(g.before), strings.Join(names, ", "), plan.Format(after))
			file := filepath.Join("testdata", g.file+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestEveryRuleHasAGolden keeps a new rule from coming without one.
func TestEveryRuleHasAGolden(t *testing.T) {
	for _, r := range Default {
		if !slices.ContainsFunc(goldens, func(g struct {
			file, why string
			rules     []Rule
			before    plan.Node
		}) bool {
			return g.file == r.Name
		}) {
			t.Errorf("rule %s has no golden plan", r.Name)
		}
		if r.Doc == "" {
			t.Errorf("rule %s says nothing of itself", r.Name)
		}
	}
}

func TestFuseLeavesOtherPlansAlone(t *testing.T) {
	for _, where := range []exprs.Expr{nil, exprs.X.Lt(3)} {
		g := &plan.Group{In: &plan.Bin{In: ends(scan()), Bins: 10}, Keys: plan.PlaneKeys(2), Where: where, Aggs: counts}
		if fuseHistogram.Rewrite(&plan.Dense{In: g, Cutoff: 10}) != nil {
			t.Errorf("a group halved where %v is no stacked histogram, but was fused", where)
		}
	}
	if fuseHistogram.Rewrite(&plan.Represent{In: ends(scan()), Reps: []udf.Representation{stackedhist.Histogram{}}}) != nil {
		t.Error("a representation was fused")
	}
}

// A source counts only what it is told just as the query means it.
func TestCountLeavesOtherPlansAlone(t *testing.T) {
	store := &plan.Scan{Source: counter{"drive.parquet"}, Want: event.All}
	whole := func(in plan.Node) *plan.Window { return &plan.Window{In: in, By: plan.Whole{}} }
	for why, g := range map[string]*plan.Group{
		"its source does not count":   {In: whole(scan()), Aggs: counts},
		"more is asked than a box":    {In: whole(filter(store, exprs.X.Mod(2).Eq(1))), Aggs: counts},
		"the box leaves out a gap":    {In: whole(filter(store, exprs.Not(exprs.X.Between(5, 9)))), Aggs: counts},
		"it has groups":               {In: whole(store), Keys: plan.PlaneKeys(1), Aggs: counts},
		"it leaves events out itself": {In: whole(store), Where: exprs.X.Le(3), Aggs: counts},
		"another aggregate is asked":  {In: whole(store), Aggs: []plan.Agg{counts[0], {Name: "r", Func: aggregates.Rate}}},
		"windows have a row each":     {In: every(store), Aggs: counts},
		"a limit stands between":      {In: whole(&plan.Limit{In: store, N: 5}), Aggs: counts},
	} {
		n, _, err := Run(g, Default)
		if err != nil {
			t.Fatal(err)
		}
		if n.(*plan.Group).Counted {
			t.Errorf("%s, but the source counts: %s", why, plan.Format(n))
		}
	}
}

func TestBrokenRulesAreNamed(t *testing.T) {
	grow := Rule{Name: "grow", Rewrite: func(n plan.Node) plan.Node {
		if s, ok := n.(*plan.Scan); ok {
			return filter(s, exprs.P.Eq(1))
		}
		return nil
	}}
	turn := Rule{Name: "turn", Rewrite: func(n plan.Node) plan.Node {
		if s, ok := n.(*plan.Scan); ok {
			return ends(s)
		}
		return nil
	}}
	for _, r := range []Rule{grow, turn} {
		if _, _, err := Run(scan(), []Rule{r}); err == nil || !strings.Contains(err.Error(), r.Name) {
			t.Errorf("rule %s: %v", r.Name, err)
		}
	}
}

func TestWithout(t *testing.T) {
	rules, err := Without(Default, "fuse_histogram")
	if err != nil || len(rules) != len(Default)-1 || slices.Contains(Names(rules), "fuse_histogram") {
		t.Errorf("%v, %v", Names(rules), err)
	}
	if _, err := Without(Default, "fuse_histograms"); err == nil {
		t.Error("a rule that does not exist was left out without a word")
	}
}

// TestRulesKeepTheSensor holds every golden plan to the size of the sensor and the columns it had before.
func TestRulesKeepTheSensor(t *testing.T) {
	for _, g := range goldens {
		after, _, err := Run(g.before, g.rules)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := plan.Geometry(g.before), plan.Geometry(after); a != b {
			t.Errorf("%s: a sensor of %v became one of %v", g.file, a, b)
		}
		if a, b := plan.Fields(g.before), plan.Fields(after); !slices.Equal(a, b) {
			t.Errorf("%s: columns %v became %v", g.file, a, b)
		}
	}
}

// TestLongPlansEnd has more steps than there are passes for a short plan; a filter passes one of them at a time.
func TestLongPlansEnd(t *testing.T) {
	n := scan()
	for range 5 * passes {
		n = filter(&plan.Map{In: n, By: exprs.ShiftTime{By: 1}}, exprs.T.Ge(9))
	}
	after, _, err := Run(n, Default)
	if err != nil {
		t.Fatal(err)
	}
	if box := plan.Source(after).Want.Box; box.T0 != 8 {
		t.Errorf("the scan is told of %v; the lowest filter wants 8 and later", box)
	}
}

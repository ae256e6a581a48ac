package aggregates

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// A run is a window's events: their groups and two integers of each.
type run struct {
	of     []int32
	args   [][]int64
	groups int
}

// draw makes events of which every group has one. Groups come in any order; values are small, large or extreme.
func draw(r *rand.Rand, n, groups int) run {
	x := run{groups: groups, args: [][]int64{make([]int64, n), make([]int64, n)}}
	for g := range groups {
		x.of = append(x.of, int32(g))
	}
	for len(x.of) < n {
		x.of = append(x.of, int32(r.IntN(groups)))
	}
	r.Shuffle(n, func(i, j int) { x.of[i], x.of[j] = x.of[j], x.of[i] })
	for _, a := range x.args {
		for i := range a {
			a[i] = []int64{r.Int64N(5) - 2, r.Int64N(1000), int64(r.Uint64()), math.MinInt64, math.MaxInt64, 0}[r.IntN(6)]
		}
	}
	return x
}

// add gives the run to an accumulator in batches, as groups come into being.
func (x run) add(t testing.TB, a udf.Accumulator, args, batch int) {
	t.Helper()
	groups := 0
	for lo := 0; lo < len(x.of); lo += batch {
		hi := min(lo+batch, len(x.of))
		cut := make([][]int64, args)
		for k := range cut {
			cut[k] = x.args[k][lo:hi]
		}
		groups = max(groups, 1+int(slices.Max(x.of[lo:hi])))
		if err := a.Add(cut, x.of[lo:hi], groups); err != nil {
			t.Fatal(err)
		}
	}
}

// naive holds all arguments of a group.
func (x run) naive(name string, args int, group int32, w event.Window) any {
	var vs []int64
	pairs := map[[2]int64]bool{}
	sum := new(big.Int)
	for i, g := range x.of {
		if g == group {
			vs = append(vs, x.args[0][i])
			pair := [2]int64{x.args[0][i]}
			if args > 1 {
				pair[1] = x.args[1][i]
			}
			pairs[pair] = true
			sum.Add(sum, big.NewInt(x.args[0][i]))
		}
	}
	switch name {
	case "count":
		return int64(len(vs))
	case "rate":
		return float64(len(vs)) / (float64(w.End-w.Start) / 1e6)
	case "seconds":
		return float64(w.End-w.Start) / 1e6
	case "sum":
		if !sum.IsInt64() {
			return ErrOverflow
		}
		return sum.Int64()
	case "mean":
		f, _ := new(big.Rat).SetFrac(sum, big.NewInt(int64(len(vs)))).Float64()
		return f
	case "min":
		return slices.Min(vs)
	case "max":
		return slices.Max(vs)
	case "first":
		return vs[0]
	case "last":
		return vs[len(vs)-1]
	}
	return int64(len(pairs))
}

// Every function gives the obvious answer, whatever the batches, and after any number of windows.
func TestOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	w := event.Window{Start: -64, End: 64}
	for _, e := range All {
		f, err := e.Make(nil)
		if err != nil {
			t.Fatal(err)
		}
		least, most := f.Arity()
		for args := least; args <= most; args++ {
			a := f.Open()
			for round := range 40 {
				groups := 1 + r.IntN(30)
				x := draw(r, groups+r.IntN(200), groups)
				a.Reset()
				x.add(t, a, args, 1+r.IntN(50))
				name := fmt.Sprintf("%v of %d, window %d", f, args, round)
				check(t, name, f, a, x, args, w)
			}
		}
	}
}

func check(t *testing.T, name string, f udf.Aggregate, a udf.Accumulator, x run, args int, w event.Window) {
	t.Helper()
	var col udf.Column
	err := a.Values(w, &col)
	overflow := false
	for g := range x.groups {
		want := x.naive(f.String(), args, int32(g), w)
		overflow = overflow || want == any(ErrOverflow)
		switch {
		case err != nil:
		case f.Float() && (len(col.Floats) != x.groups || col.Floats[g] != want):
			t.Fatalf("%s: group %d of %d: %v, not %v", name, g, x.groups, col.Floats, want)
		case !f.Float() && (len(col.Ints) != x.groups || col.Ints[g] != want || col.Floats != nil):
			t.Fatalf("%s: group %d of %d: %v, not %v", name, g, x.groups, col.Ints, want)
		}
	}
	if errors.Is(err, ErrOverflow) != overflow || err != nil && !overflow {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestSumPassesBeyond(t *testing.T) {
	one := []int32{0, 0, 0}
	for _, vs := range [][]int64{{math.MaxInt64, 1, -1}, {math.MinInt64, -1, 1}, {math.MaxInt64, math.MinInt64, -1}} {
		a, col := Sum.Open(), udf.Column{}
		if err := errors.Join(a.Add([][]int64{vs}, one, 1), a.Values(event.Window{}, &col)); err != nil || col.Ints[0] != vs[0]+vs[1]+vs[2] {
			t.Errorf("%v: %v, %v", vs, col, err)
		}
	}
	a := Sum.Open()
	err := errors.Join(a.Add([][]int64{{math.MinInt64, -1, 0}}, one, 1), a.Values(event.Window{}, &udf.Column{}))
	if !errors.Is(err, ErrOverflow) || err.Error() != "-9223372036854775809: "+ErrOverflow.Error() {
		t.Error(err)
	}
}

// The mean is rounded once: the sum as a float would be off.
func TestMeanIsExact(t *testing.T) {
	vs := []int64{1 << 53, 1, 1<<53 + 1, 0} // the sum is 2^54+2, the mean 2^52+1/2
	a, col := Mean.Open(), udf.Column{}
	if err := errors.Join(a.Add([][]int64{vs}, make([]int32, 4), 1), a.Values(event.Window{}, &col)); err != nil || col.Floats[0] != 1<<52+0.5 {
		t.Errorf("%v, %v", col, err)
	}
}

func TestRate(t *testing.T) {
	values := func(w event.Window) udf.Column {
		a, col := Rate.Open(), udf.Column{}
		if err := errors.Join(a.Add(nil, []int32{0, 1, 1}, 2), a.Values(w, &col)); err != nil {
			t.Fatal(err)
		}
		return col
	}
	if c := values(event.Window{Start: 5, End: 500_005}); !slices.Equal(c.Floats, []float64{2, 4}) || c.Nulls != nil {
		t.Error(c)
	}
	if c := values(event.Window{Start: math.MinInt64, End: math.MaxInt64}); c.Floats[1] != 2e6/float64(math.MaxUint64) {
		t.Error(c)
	}
	if c := values(event.Window{Start: 5, End: 5}); !slices.Equal(c.Nulls, []bool{true, true}) || len(c.Floats) != 2 {
		t.Error(c)
	}
}

// Columns are appended to, and a window without events has a count of 0 and a rate of 0.
func TestAppends(t *testing.T) {
	for f, want := range map[udf.Aggregate]udf.Column{
		Count: {Ints: []int64{7, 0}},
		Rate:  {Floats: []float64{7, 0}, Nulls: []bool{true, false}},
	} {
		col := udf.Column{Ints: []int64{7}}
		if f.Float() {
			col = udf.Column{Floats: []float64{7}, Nulls: []bool{true}}
		}
		a := f.Open()
		if err := errors.Join(a.Add(nil, nil, 1), a.Values(event.Window{End: 10}, &col)); err != nil || fmt.Sprint(col) != fmt.Sprint(want) {
			t.Errorf("%v: %v, %v", f, col, err)
		}
	}
	var col udf.Column
	if err := Mean.Open().Values(event.Window{}, &col); err != nil || col.Floats == nil {
		t.Errorf("no group: %v, %v; floats must say that they are", col, err)
	}
}

func TestDistinctIsBounded(t *testing.T) {
	d := newDistincts(1000)
	for round := range 3 {
		var tooMany *TooManyValuesError
		for i := range int64(1000) {
			if err := d.Add([][]int64{{i, i}}, []int32{int32(i % 3), int32(i % 3)}, 3); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Add([][]int64{{5, -1}}, []int32{0, 0}, 3); !errors.As(err, &tooMany) || tooMany.Max != 1000 {
			t.Errorf("window %d: %v", round, err)
		}
		d.Reset()
	}
	if n := len(d.table); n > 4096 {
		t.Errorf("a table of %d places for 1001 values", n)
	}
}

// A table that would not fit beside the one it grows from is refused, and the error says how many values there were.
func TestDistinctIsBoundedByMemory(t *testing.T) {
	d := Distinct.Open()
	d.(udf.Bounded).Bound(100_000) // tables of 1024 and 2048 places of 24 bytes, not of 2048 and 4096
	var tooMany *TooManyValuesError
	n := 0
	for ; tooMany == nil && n < 10_000; n++ {
		errors.As(d.Add([][]int64{{int64(n)}}, []int32{0}, 1), &tooMany)
	}
	if n != 1025 || tooMany == nil || tooMany.Max != 1024 {
		t.Errorf("after %d values: %v", n, tooMany)
	}
}

// After as many windows as a round can number, no old value is taken for a new one.
func TestDistinctRoundsBeginAnew(t *testing.T) {
	d := newDistincts(10)
	one := func() {
		t.Helper()
		var col udf.Column
		if err := errors.Join(d.Add([][]int64{{42}}, []int32{0}, 1), d.Values(event.Window{}, &col)); err != nil || col.Ints[0] != 1 {
			t.Errorf("round %d: %v, %v", d.round, col, err)
		}
		d.Reset()
	}
	one()
	d.round = math.MaxUint32
	one()
	one()
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All {
		f, err := e.Make(nil)
		if err != nil || f.String() != e.Name || e.Doc == "" || seen[e.Name] {
			t.Errorf("%s: %v, %v", e.Name, f, err)
		}
		seen[e.Name] = true
	}
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 1 << 16
	for _, groups := range []int{1, 1000} {
		of := make([]int32, n)
		args := [][]int64{make([]int64, n), make([]int64, n)}
		for i := range of {
			of[i], args[0][i], args[1][i] = int32(r.IntN(groups)), r.Int64N(1280), r.Int64N(720)
		}
		for _, e := range All {
			f, _ := e.Make(nil)
			_, most := f.Arity()
			b.Run(fmt.Sprintf("%s/groups=%d", e.Name, groups), func(b *testing.B) {
				a := f.Open()
				for b.Loop() {
					a.Reset()
					if err := a.Add(args[:most], of, groups); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds()/1e6, "Mevents/s")
			})
		}
	}
}

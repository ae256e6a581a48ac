package exprs_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evq-project/evq/exprs"
)

// taxicab and near are functions that a program of its own would add.
var taxicab = exprs.Func{
	Name: "taxicab", Usage: "taxicab(a, b)", Doc: "the sum of two distances", Min: 2, Max: 2,
	Eval: func(dst []int64, args [][]int64) {
		for i := range dst {
			dst[i] = max(args[0][i], -args[0][i]) + max(args[1][i], -args[1][i])
		}
	},
}

var near = exprs.Func{
	Name: "near", Usage: "near(a, b, n)", Doc: "a and b differ by at most n", Kind: exprs.Predicate, Min: 3, Max: 3,
	Test: func(keep []bool, args [][]int64) {
		for i := range keep {
			d := args[0][i] - args[1][i]
			keep[i] = keep[i] && -args[2][i] <= d && d <= args[2][i]
		}
	},
}

func TestOwnFunctions(t *testing.T) {
	own := exprs.WithFuncs(taxicab, near)
	text := "taxicab(x - 3, taxicab(y, 1)) <= 5 and not near(x, y, 2)"
	e, err := exprs.Parse(text, own)
	if err != nil || e.String() != text {
		t.Fatalf("%v, %v", e, err)
	}
	inner, err := exprs.Call(&taxicab, exprs.Y, exprs.Const(1))
	if err != nil {
		t.Fatal(err)
	}
	outer, err := exprs.Call(&taxicab, exprs.X.Sub(exprs.Const(3)), inner)
	if err != nil {
		t.Fatal(err)
	}
	differ, err := exprs.Test(&near, exprs.X, exprs.Y, exprs.Const(2))
	if err != nil {
		t.Fatal(err)
	}
	if made := exprs.And(outer.Le(5), exprs.Not(differ)); made.String() != text || made.Columns().String() != "t,x,y" {
		t.Errorf("%v reads %v", made, made.Columns())
	}
	const n = 12
	for i, got := range mask(exprs.Simplify(e), grid(n)) {
		x, y := i%n, i/n
		want := max(x-3, 3-x)+y+1 <= 5 && max(x-y, y-x) > 2
		if got != want {
			t.Fatalf("at %d, %d: %v", x, y, got)
		}
	}
	if v, err := exprs.ParseValue("taxicab(2, -3)", own); err != nil || v.String() != "5" {
		t.Errorf("of constants alone: %v, %v", v, err)
	}
}

func TestCallsThatAreNone(t *testing.T) {
	if _, err := exprs.Call(&taxicab, exprs.X); !errors.Is(err, exprs.ErrCall) || !strings.Contains(err.Error(), taxicab.Usage) {
		t.Error(err)
	}
	if _, err := exprs.Call(&near, exprs.X, exprs.X, exprs.X); !errors.Is(err, exprs.ErrCall) {
		t.Error(err)
	}
	if _, err := exprs.Test(&taxicab, exprs.X, exprs.X); !errors.Is(err, exprs.ErrCall) {
		t.Error(err)
	}
	for _, f := range []exprs.Func{
		{Name: "and", Eval: taxicab.Eval}, {Name: "Upper", Eval: taxicab.Eval}, {Name: "a b", Eval: taxicab.Eval},
		{Name: "", Eval: taxicab.Eval}, {Name: "none"}, {Name: "two", Eval: taxicab.Eval, Test: near.Test},
		{Name: "kind", Test: near.Test}, {Name: "max", Eval: taxicab.Eval}, {Name: "t", Eval: taxicab.Eval},
	} {
		if _, err := exprs.Parse("x = 1", exprs.WithFuncs(f)); err == nil {
			t.Errorf("function %q was accepted", f.Name)
		}
	}
	if _, err := exprs.Parse("x = 1", exprs.WithFuncs(near, near)); err == nil {
		t.Error("two functions of one name were accepted")
	}
}

func TestFuncsAreDocumented(t *testing.T) {
	var names []string
	for _, f := range exprs.Funcs {
		if f.Doc == "" || !strings.HasPrefix(f.Usage, f.Name) || slices.Contains(names, f.Name) || f.Kind.String() == "" {
			t.Errorf("%+v", f)
		}
		names = append(names, f.Name)
	}
}

// TestConcurrentUse: predicates have no state.
func TestConcurrentUse(t *testing.T) {
	e, err := exprs.Parse("max(x, y) % 5 != 2 and (circle(5, 5, 4) or not (x + y < 9 and near(x, t, 3)))", exprs.WithFuncs(near))
	if err != nil {
		t.Fatal(err)
	}
	b := batchOf(randomRows(rand.New(rand.NewPCG(1, 7)), 5000))
	want := mask(e, b)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if !slices.Equal(mask(e, b), want) {
					t.Error("another answer")
				}
			}
		})
	}
	wg.Wait()
}

func TestParseKeys(t *testing.T) {
	for text, want := range map[string]string{
		"p, y // 16":                  "p, y // 16",
		"tile(16)":                    "y // 16 as tile_y, x // 16 as tile_x",
		"pixel":                       "y, x",
		"PIXEL()":                     "y, x",
		"row, column, p":              "y as row, x as column, p",
		"(t - 5ms) // 1ms AS ms, row": "(t - 5000) // 1000 as ms, y as row",
		"abs(x - y) as d":             "abs(x - y) as d",
		"x + 1 as x, x as t":          "x + 1 as x, x as t",
		"7":                           "7",
	} {
		keys, err := exprs.ParseKeys(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := joined(keys); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		again, err := exprs.ParseKeys(joined(keys))
		if err != nil || joined(again) != joined(keys) || again[0].Name != keys[0].Name {
			t.Errorf("%s is read as %v, %v", joined(keys), again, err)
		}
	}
}

func joined(keys []exprs.Key) string {
	s := make([]string, len(keys))
	for i, k := range keys {
		s[i] = k.String()
	}
	return strings.Join(s, ", ")
}

func TestKeysThatAreNone(t *testing.T) {
	for text, want := range map[string]struct {
		pos  int
		says string
	}{
		"":                        {0, "the text ends"},
		"x,":                      {2, "the text ends"},
		"x y":                     {2, `"y" stands where ,`},
		"x = 1":                   {2, `"=" stands where ,`},
		"(x = 1)":                 {0, "a condition stands where"},
		"rect(1,2,3,4)":           {0, "a condition stands where"},
		"x, pixel":                {3, "two keys x"},
		"x // 0":                  {5, "a number from 1 on"},
		"tile":                    {4, "stands where ("},
		"tile()":                  {4, "write tile(n)"},
		"tile(0)":                 {0, "at least 1"},
		"tile(x)":                 {5, "a number is needed"},
		"pixl":                    {0, "did you mean pixel?"},
		"x as 3":                  {5, "a name"},
		"pixel as a":              {6, `"as" stands where ,`},
		strings.Repeat("x,", 100): {2, "two keys"},
	} {
		_, err := exprs.ParseKeys(text)
		var at *exprs.SyntaxError
		if !errors.As(err, &at) || at.Pos != want.pos || !strings.Contains(err.Error(), strings.TrimPrefix(want.says, "stands where (")) {
			t.Errorf("%.40q: %v, want at %d: %s", text, err, want.pos, want.says)
		}
	}
}

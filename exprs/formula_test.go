package exprs_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/evq-project/evq/exprs"
)

func TestParseFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"count":                                "count",
		"count, mean(x // 2) AS center":        "count; center: mean(x // 2)",
		"span(), Corr(x, y - 1)":               "span(); corr(x, y - 1)",
		"rate=count/seconds":                   "rate: count / seconds",
		"on_share = sum(p)/count()":            "on_share: sum(p) / count()",
		"a - (b - c) - d, (a + b) * -c":        "a - (b - c) - d; (a + b) * -(c)",
		"a // 2 % 3, 2 * (a / 4)":              "a // 2 % 3; 2 * (a / 4)",
		"'x // 16' * 16 as x, p, t + 2.5ms":    "x: 'x // 16' * 16; p; t + 2500",
		"1e6 * n, 0.5, -3, - -n, on - off":     "1000000.0 * n; 0.5; -3; -(-(n)); 1 - 0",
		"quantile(x, q=0.9), f(k=-1, w='a b')": "quantile(x, q=0.9); f(k=-1, w='a b')",
		"-9223372036854775808":                 "-9223372036854775808",
		"sum(min(x, 3)) as m":                  "m: sum(min(x, 3))",
	} {
		list, err := exprs.ParseFormulas(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		for i, f := range list {
			if i > 0 {
				got += "; "
			}
			if f.Name != "" {
				got += f.Name + ": "
			}
			got += f.String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, pos := range map[string]int{
		"": 0, "count,": 6, "mean(x": 6, "mean(x,)": 7, "mean(,x)": 5, "mean(x = 1)": 7, "mean(x) as": 10, "mean x": 5,
		"a /": 3, "a + (b > c)": 4, "n =": 3, "mean(x / 2)": 7, "q(k=)": 4, "q(k=1, k=2)": 7, "2.x": 0, "a && b": 2, "9223372036854775808": 0, "and": 0,
	} {
		_, err := exprs.ParseFormulas(text)
		var at *exprs.SyntaxError
		if !errors.As(err, &at) || at.Pos != pos {
			t.Errorf("%q: %v, want at %d", text, err, pos)
		}
	}
}

func TestParseCondition(t *testing.T) {
	for text, want := range map[string]string{
		"count > 100":                     "count > 100",
		"sum(p)/count >= 0.5 AND not a=b": "sum(p) / count >= 0.5 and not a = b",
		"a < 1 or b < 2 and c <> 3":       "a < 1 or b < 2 and c != 3",
		"(a < 1 or b < 2) and c == 3":     "(a < 1 or b < 2) and c = 3",
		"not (a < 1 and b < 2)":           "not (a < 1 and b < 2)",
		"n between 2 and 3 or n > 7":      "n >= 2 and n <= 3 or n > 7",
		"n not between 2 and 3":           "not (n >= 2 and n <= 3)",
		"a < 1 and (b < 2 and c < 3)":     "a < 1 and (b < 2 and c < 3)",
	} {
		f, err := exprs.ParseCondition(text)
		if err != nil || f.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, f, err, want)
			continue
		}
		again, err := exprs.ParseCondition(f.String())
		if err != nil || again.String() != want {
			t.Errorf("%s reads as %v, %v", want, again, err)
		}
	}
	for text, pos := range map[string]int{"count": 0, "a < b < c": 6, "a > 1 and b": 10, "not n": 4, "(a > 1) + 2 > 3": 0, "a > 1)": 5, "n between 1": 11, "n in (1)": 2} {
		_, err := exprs.ParseCondition(text)
		var at *exprs.SyntaxError
		if !errors.As(err, &at) || at.Pos != pos {
			t.Errorf("%q: %v, want at %d", text, err, pos)
		}
	}
}

// Integers are those of big.Int, but for what leaves int64.
func TestIntegers(t *testing.T) {
	edges := []int64{math.MinInt64, math.MinInt64 + 1, -7, -3, -1, 0, 1, 2, 3, 7, math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range edges {
		for _, b := range edges {
			for op, calc := range map[exprs.Op]func(z, x, y *big.Int){
				exprs.OpAdd: func(z, x, y *big.Int) { z.Add(x, y) }, exprs.OpSub: func(z, x, y *big.Int) { z.Sub(x, y) },
				exprs.OpMul: func(z, x, y *big.Int) { z.Mul(x, y) },
				exprs.OpDiv: func(z, x, y *big.Int) { floorOf(z, new(big.Int), x, y) },
				exprs.OpMod: func(z, x, y *big.Int) { floorOf(new(big.Int), z, x, y) },
			} {
				got, ok := exprs.Integers(op, a, b)
				if b == 0 && op >= exprs.OpDiv {
					if ok {
						t.Errorf("%d by 0 is %d", a, got)
					}
					continue
				}
				want := new(big.Int)
				calc(want, big.NewInt(a), big.NewInt(b))
				if want.Cmp(big.NewInt(math.MaxInt64)) > 0 {
					want.SetInt64(math.MaxInt64)
				} else if want.Cmp(big.NewInt(math.MinInt64)) < 0 {
					want.SetInt64(math.MinInt64)
				}
				if !ok || fmt.Sprint(got) != want.String() {
					t.Errorf("operation %d of %d and %d: %d, want %v", op, a, b, got, want)
				}
			}
		}
	}
}

// floorOf sets q to the quotient rounded towards minus infinity, and r to the remainder.
func floorOf(q, r, x, y *big.Int) {
	q.QuoRem(x, y, r)
	if r.Sign() != 0 && r.Sign() != y.Sign() {
		q.Sub(q, big.NewInt(1))
		r.Add(r, y)
	}
}

package exprs_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evq-project/evq/exprs"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"x < 640 and (p = 1 or y between 10 and 20)": "x <= 639 and (p = 1 or y between 10 and 20)",
		"X<640 AND P=ON":                   "x <= 639 and p = 1",
		"p = off":                          "p = 0",
		"t >= 1.5s":                        "t >= 1500000",
		"t between 50ms and 2.5s":          "t between 50000 and 2500000",
		"t < 0.5us":                        "t <= -1", // half to even
		"t < 1.5µs":                        "t <= 1",
		"t = -1ms":                         "t = -1000",
		"t = -9223372036854775808":         "t = -9223372036854775808",
		"x == 0x10":                        "x = 16",
		"x <> 3":                           "x != 3",
		"not x = 3":                        "x != 3",
		"not not x = 3":                    "x = 3",
		"x not in (3, 1, 2, 3)":            "x not in (1, 2, 3)",
		"x in (7)":                         "x = 7",
		"x not between 1 and y":            "not (x >= 1 and x <= y)",
		"3 < x":                            "x >= 4",
		"x > y":                            "y < x",
		"x - y = 3":                        "x - y = 3",
		"x - (y - 3) = 1 + 2 * 3":          "x - (y - 3) = 7",
		"x - y - p = 1":                    "x - y - p = 1",
		"x + 2 * y < 9":                    "x + 2 * y <= 8",
		"(x + 2) * y < 9":                  "(x + 2) * y <= 8",
		"x & 1 + 2 = 3":                    "x & 3 = 3",
		"-x // 2 = -3":                     "-x // 2 = -3",
		"-(x // 2) = - 3":                  "-(x // 2) = -3",
		"x - -5 = 0":                       "x - (-5) = 0",
		"abs(x - 3) < 4":                   "abs(x - 3) <= 3",
		"max(x, y, 3) = min(4, 9)":         "max(x, y, 3) = 4",
		"rect(1, 2, 3, 4)":                 "x between 1 and 3 and y between 2 and 4",
		"not circle(10, 20, 5)":            "not circle(10, 20, 5)",
		"circle(1,2,3) at (x // 2, y)":     "circle(1, 2, 3) at (x // 2, y)",
		"polygon(0,0, 9,0, 5,-8) or p = 1": "polygon(0, 0, 9, 0, 5, -8) or p = 1",
		"true and x < 3":                   "true and x <= 2",
		"x = 1 or y = 2 and p = 0":         "x = 1 or (y = 2 and p = 0)",
		"not (x = 1 or y = 2)":             "not (x = 1 or y = 2)",
		"((x)) = ((1))":                    "x = 1",
		"x < 9223372036854775807 + 1":      "x <= 9223372036854775806", // sums stop at the end
		"x // 2 % 3 = 1":                   "(x // 2) % 3 = 1",
		"x = 1\n\tand y=2":                 "x = 1 and y = 2",
		"x between y and 5 and p = 1":      "y <= x and x <= 5 and p = 1",
		"t - 5 < 3 or x * 2 & 7 = p":       "t - 5 <= 2 or (x * 2) & 7 = p",
	} {
		e, err := exprs.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if e.String() != want {
			t.Errorf("%s is %v, want %s", text, e, want)
		}
		if again, err := exprs.Parse(e.String()); err != nil || again.String() != e.String() {
			t.Errorf("%v is read as %v, %v", e, again, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		pos  int
		says string
	}{
		{"", 0, "the text ends where"},
		{"x", 0, "compare it, as in x < 640"},
		{"x <", 3, "the text ends where"},
		{"x < 3 )", 6, `")" stands where the end`},
		{"(x < 3", 6, "the text ends where ) is"},
		{"z < 3", 0, "there is no z"},
		{"cirle(1,2,3)", 0, "did you mean circle?"},
		{"x < 3 and y", 10, "compare it"},
		{"x < 3 and and", 10, `"and" stands where`},
		{"1 < x < 5", 6, "or between"},
		{"x // 0 = 1", 5, "a number from 1 on"},
		{"x % y = 1", 4, "a number from 1 on"},
		{"x / 2 = 1", 2, "write //"},
		{"x = 1 && y = 2", 6, "write and"},
		{"!(x = 1)", 0, "write not"},
		{"x = 2.5", 4, "as in 2.5s"},
		{"x = 1e6", 4, "is no time"},
		{"x = 3parsec", 4, "unit of time"},
		{"x = 99999999999999999999", 4, "no integer from"},
		{"x = 9223372036854775808", 4, "no integer from"},
		{"x = 0x", 4, "no integer from"},
		{"x = 0x-5", 4, "no integer from"},
		{"x in ()", 6, `")" stands where`},
		{"x in (y)", 6, "a list holds numbers"},
		{"x not 3", 6, "between or in"},
		{"(x = 1) + 2 = 3", 0, "a condition stands where a number"},
		{"not x", 4, "compare it"},
		{"circle(1, 2)", 6, "write circle(cx, cy, r)"},
		{"circle(1, 2, x)", 13, "a number is needed"},
		{"circle(1, 2, -3)", 0, "no such shape"},
		{"abs(x = 1) = 2", 6, `"=" stands where )`},
		{"rect(5, 0, 1, 1)", 0, "swap them"},
		{"abs(x) at (x, y)", 7, `"at" stands where`},
		{"rect(0,0,1,1) at (x, y)", 14, "looked up elsewhere"},
		{"mask('a.png')", 5, "cannot be read here"},
		{"mask(3)", 5, "write mask('file.png')"},
		{"mask('a", 5, "no end"},
		{"x = 'a'", 4, "only mask takes one"},
		{"tile(16) = 3", 0, "group keys"},
		{"x = 1 ; y = 2", 6, "no meaning"},
		{"x = é", 4, "no meaning"},
		{"and", 0, `"and" stands where`},
		{"x as y", 2, `"as" stands where`},
	} {
		_, err := exprs.Parse(c.text)
		var at *exprs.SyntaxError
		if !errors.As(err, &at) {
			t.Errorf("%q: %v is no syntax error", c.text, err)
			continue
		}
		if at.Pos != c.pos || !strings.Contains(err.Error(), c.says) || at.Text != c.text {
			t.Errorf("%q: %v, want at %d: … %s", c.text, err, c.pos, c.says)
		}
	}
}

func TestCaret(t *testing.T) {
	_, err := exprs.Parse("x = 1 and\n\tt < 3µs and z = 2")
	var at *exprs.SyntaxError
	if !errors.As(err, &at) || at.Caret() != " t < 3µs and z = 2\n"+strings.Repeat(" ", 13)+"^" {
		t.Errorf("%v\n%s", err, at.Caret())
	}
	for pos := -1; pos < 300; pos++ { // wherever a caller says it is
		e := exprs.SyntaxError{Text: strings.Repeat("µ", 120), Pos: pos}
		if line, _, _ := strings.Cut(e.Caret(), "\n"); len(line) > 130 {
			t.Fatalf("a line of %d bytes", len(line))
		}
	}
}

// TestLimits feeds texts that would exhaust the stack, the memory or the patience.
func TestLimits(t *testing.T) {
	n := 1_000_000
	for name, text := range map[string]string{
		"brackets":  strings.Repeat("(", n),
		"some":      strings.Repeat("(", 5000) + "x = 1" + strings.Repeat(")", 5000),
		"not":       strings.Repeat("not ", n/8) + "x = 1",
		"minus":     strings.Repeat("-", n) + "x = 1",
		"calls":     strings.Repeat("abs(", n/8) + "x",
		"sum":       "x" + strings.Repeat(" + x", n/8) + " = 1",
		"products":  "x" + strings.Repeat(" * y", 200) + " = 1",
		"list":      "x in (" + strings.Repeat("1,", n/4) + "1)",
		"long":      "x = 1 " + strings.Repeat(" ", 2*n),
		"word":      strings.Repeat("x", n),
		"number":    strings.Repeat("1", n),
		"quote":     "mask('" + strings.Repeat("x", n),
		"and":       strings.Repeat("x = 1 and ", n/20) + "x = 1",
		"alternate": strings.Repeat("(x = 1 and (y = 2 or ", 300) + "p = 1" + strings.Repeat("))", 300),
	} {
		var at *exprs.SyntaxError
		if _, err := exprs.Parse(text); !errors.As(err, &at) || len(err.Error()) > 6000 {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	var b strings.Builder // what is allowed stays quick to simplify
	for i := range 4000 {
		b.WriteString([]string{"x != ", "t != "}[i%2] + strings.Repeat("9", 1+i%9) + " and y + p != 3 and ")
	}
	if _, err := exprs.Parse(b.String() + "p = 1"); err == nil {
		t.Fatal("more than 10000 words were read")
	}
	e, err := exprs.Parse(strings.Repeat("x = 1 or t // 7 in (3, 9) or ", 1500) + "p = 1")
	if err != nil || exprs.Simplify(e).String() != "x = 1 or t between 21 and 27 or t between 63 and 69 or p = 1" {
		t.Errorf("%v, %.200v", err, exprs.Simplify(e))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"x < 640 and (p = 1 or y between 10 and 20)", "t >= 1.5s", "not circle(1,2,3) at (x // 2, -y)",
		"abs(x - 3) % 4 in (1, 2)", "x not between 1 and y & 7", "polygon(0,0,9,0,5,8) or mask('it''s')", "p = on", "--x = 0x1f", "((",
	} {
		f.Add(s)
	}
	load := exprs.WithMasks(func(name string) (*exprs.Bitmap, error) { return exprs.NewBitmap(name, 3, 3) })
	f.Fuzz(func(t *testing.T, text string) {
		e, err := exprs.Parse(text, load)
		if err != nil {
			var at *exprs.SyntaxError
			if !errors.As(err, &at) || at.Pos < 0 || at.Pos > len(text) {
				t.Fatalf("%v", err)
			}
			_ = at.Caret()
			return
		}
		again, err := exprs.Parse(e.String(), load)
		if err != nil || again.String() != e.String() {
			t.Fatalf("%q prints %v, which is read as %v, %v", text, e, again, err)
		}
		_, _ = exprs.Simplify(e), e.Box()
	})
}

// FuzzTree goes the other way: from a predicate through its text.
func FuzzTree(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		p := randomPredicate(r, r.IntN(4))
		read, err := exprs.Parse(p.e.String())
		if err != nil || read.String() != p.e.String() {
			t.Fatalf("%v is read as %v, %v", p.e, read, err)
		}
		simple := exprs.Simplify(p.e)
		if again := exprs.Simplify(simple); again.String() != simple.String() {
			t.Fatalf("%v simplifies to %v and that to %v", p.e, simple, again)
		}
		rows := randomRows(r, 40)
		keep, kept := mask(p.e, batchOf(rows)), mask(simple, batchOf(rows))
		for i, e := range rows {
			if want := p.holds(e); keep[i] != want || kept[i] != want {
				t.Fatalf("%v of %v: %v, simplified to %v: %v, want %v", p.e, e, keep[i], simple, kept[i], want)
			}
		}
	})
}

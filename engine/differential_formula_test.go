package engine_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/evq-project/evq/engine"
)

// A rowFormula is text over the columns of a row, and what it is of a row.
type rowFormula struct {
	text string
	of   func(row func(name string) cell) cell
}

// hiddenAggregates are those that formulas name though they are not among the columns.
var hiddenAggregates = []aggregated{{name: "count", calc: aggregatesOf["count"]}, {name: "seconds", calc: aggregatesOf["seconds"]}}

// arithmeticOf draws a number over some columns.
func (g *generator) arithmeticOf(names []string, depth int) rowFormula {
	if depth == 0 || g.r.IntN(4) == 0 {
		switch g.r.IntN(5) {
		case 0:
			n := g.r.Int64N(7) - 3
			return rowFormula{fmt.Sprint(n), func(func(string) cell) cell { return integer(n) }}
		case 1:
			return rowFormula{"0.25", func(func(string) cell) cell { return cell{float: true, f: 0.25} }}
		}
		name := names[g.r.IntN(len(names))]
		return rowFormula{name, func(row func(string) cell) cell { return row(name) }}
	}
	a, b := g.arithmeticOf(names, depth-1), g.arithmeticOf(names, depth-1)
	sign := []string{"+", "-", "*", "/"}[g.r.IntN(4)]
	return rowFormula{"(" + a.text + ") " + sign + " (" + b.text + ")", func(row func(string) cell) cell { return calculated(sign, a.of(row), b.of(row)) }}
}

func calculated(sign string, a, b cell) cell {
	if !a.float && !b.float && sign != "/" {
		x, y := big.NewInt(a.n), big.NewInt(b.n)
		switch sign {
		case "+":
			x.Add(x, y)
		case "-":
			x.Sub(x, y)
		case "*":
			x.Mul(x, y)
		}
		if !x.IsInt64() {
			x.SetInt64(math.MaxInt64 ^ int64(x.Sign())>>1)
		}
		return cell{n: x.Int64(), null: a.null || b.null}
	}
	x, y := asFloat(a), asFloat(b)
	var f float64
	switch sign {
	case "+":
		f = x + y
	case "-":
		f = x - y
	case "*":
		f = x * y
	default:
		f = x / y
	}
	return cell{float: true, f: f, null: a.null || b.null || math.IsNaN(f) || math.IsInf(f, 0)}
}

func asFloat(c cell) float64 {
	if c.float {
		return c.f
	}
	return float64(c.n)
}

// conditionOf draws a condition: 1 where it holds, 0 where not, and 0.5 where nobody knows.
func (g *generator) conditionOf(names []string, depth int) rowFormula {
	truth := func(f float64) cell { return cell{float: true, f: f} }
	if depth == 0 || g.r.IntN(3) == 0 {
		a, b := g.arithmeticOf(names, 1), g.arithmeticOf(names, 1)
		sign := []string{"<", "<=", ">", ">=", "=", "!="}[g.r.IntN(6)]
		return rowFormula{a.text + " " + sign + " " + b.text, func(row func(string) cell) cell {
			x, y := a.of(row), b.of(row)
			if x.null || y.null {
				return truth(0.5)
			}
			less, more := asFloat(x) < asFloat(y), asFloat(x) > asFloat(y)
			if !x.float && !y.float {
				less, more = x.n < y.n, x.n > y.n
			}
			if strings.Contains(sign, "<") && less || strings.Contains(sign, ">") && more || sign == "!=" && (less || more) ||
				sign != "!=" && strings.HasSuffix(sign, "=") && !less && !more {
				return truth(1)
			}
			return truth(0)
		}}
	}
	a, b := g.conditionOf(names, depth-1), g.conditionOf(names, depth-1)
	switch g.r.IntN(3) {
	case 0:
		return rowFormula{"not (" + a.text + ")", func(row func(string) cell) cell { return truth(1 - a.of(row).f) }}
	case 1:
		return rowFormula{"(" + a.text + ") and (" + b.text + ")", func(row func(string) cell) cell { return truth(min(a.of(row).f, b.of(row).f)) }}
	}
	return rowFormula{"(" + a.text + ") or (" + b.text + ")", func(row func(string) cell) cell { return truth(max(a.of(row).f, b.of(row).f)) }}
}

// formulas draws columns over those of a table whose last are the hidden aggregates, and which of its rows stay. It
// returns what to ask for, and computes the table anew.
func (g *generator) formulas(in *relation) (asked []engine.Aggregated, kept []engine.Condition, out *relation) {
	visible := len(in.names) - len(hiddenAggregates)
	of := func(row []cell) func(string) cell {
		return func(name string) cell { return row[slices.Index(in.names, name)] }
	}
	out = &relation{names: slices.Clone(in.names[:visible])}
	var columns []rowFormula
	var list []string
	for i := range g.r.IntN(3) {
		f := g.arithmeticOf(in.names, 2)
		name := fmt.Sprintf("f%d", i)
		columns, list = append(columns, f), append(list, name+" = "+f.text)
		out.names = append(out.names, name)
	}
	if len(list) > 0 {
		g.say("formulas %v", list)
		var err error
		if asked, err = engine.Aggregates(strings.Join(list, ", ")); err != nil {
			panic(err) // the generator writes what can be read
		}
	}
	condition := rowFormula{"", func(func(string) cell) cell { return integer(0) }}
	if g.r.IntN(2) == 0 || len(list) == 0 {
		condition = g.conditionOf(in.names, 2)
		g.say("having %s", condition.text)
		c, err := engine.Having(condition.text)
		if err != nil {
			panic(err)
		}
		kept = append(kept, c)
	}
	for _, row := range in.rows {
		if condition.text != "" && condition.of(of(row)).f != 1 {
			continue
		}
		made := slices.Clone(row[:visible])
		for _, f := range columns {
			made = append(made, f.of(of(row)))
		}
		out.rows = append(out.rows, made)
	}
	return asked, kept, out
}

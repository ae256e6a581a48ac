package exec

import (
	"cmp"
	"math"
	"slices"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/udf"
)

// A table is rows whose columns have names.
type table struct {
	Rows
	fields []Field
}

// computed is the column of a number over rows; the plan has checked that its columns are there.
func computed(f *exprs.Formula, in table) udf.Column {
	switch f.Op {
	case exprs.OpInt:
		return udf.Column{Ints: repeat(f.Int, in.N)}
	case exprs.OpFloat:
		return udf.Column{Floats: slices.Repeat([]float64{f.Float}, in.N)}
	case exprs.OpColumn:
		return in.Cols[slices.IndexFunc(in.fields, func(o Field) bool { return o.Name == f.Name })]
	case exprs.OpNeg:
		zero := udf.Column{Ints: make([]int64, in.N)}
		return arithmetic(exprs.OpSub, zero, computed(f.Args[0], in))
	}
	return arithmetic(f.Op, computed(f.Args[0], in), computed(f.Args[1], in))
}

func arithmetic(op exprs.Op, a, b udf.Column) udf.Column {
	out := udf.Column{Nulls: eitherNull(a, b)}
	if a.Floats == nil && b.Floats == nil && op != exprs.OpQuo {
		out.Ints = make([]int64, len(a.Ints))
		for i, v := range a.Ints {
			var ok bool
			if out.Ints[i], ok = exprs.Integers(op, v, b.Ints[i]); !ok {
				setNull(&out, i)
			}
		}
		return out
	}
	x, y := asFloats(a), asFloats(b)
	out.Floats = make([]float64, len(x))
	for i, v := range x {
		r := floatOf(op, v, y[i])
		if math.IsNaN(r) || math.IsInf(r, 0) {
			r = 0
			setNull(&out, i)
		}
		out.Floats[i] = r
	}
	return out
}

func floatOf(op exprs.Op, a, b float64) float64 {
	switch op {
	case exprs.OpAdd:
		return a + b
	case exprs.OpSub:
		return a - b
	case exprs.OpMul:
		return a * b
	}
	return a / b
}

// asFloats returns the numbers of a column as floats.
func asFloats(c udf.Column) []float64 {
	if c.Floats != nil {
		return c.Floats
	}
	out := make([]float64, len(c.Ints))
	for i, v := range c.Ints {
		out[i] = float64(v)
	}
	return out
}

// eitherNull returns the rows in which either column has no value, nil where there are none.
func eitherNull(a, b udf.Column) []bool {
	if a.Nulls == nil || b.Nulls == nil {
		return append(slices.Clone(a.Nulls), b.Nulls...)
	}
	out := slices.Clone(a.Nulls)
	for i, null := range b.Nulls {
		out[i] = out[i] || null
	}
	return out
}

// truths tells of each row whether a condition holds: 1 where it does, -1 where it does not, 0 where a value lacks. So
// and is the least of two, or the greatest, and not the opposite, as in SQL.
func truths(f *exprs.Formula, in table) []int8 {
	switch f.Op {
	case exprs.OpNot:
		out := truths(f.Args[0], in)
		for i := range out {
			out[i] = -out[i]
		}
		return out
	case exprs.OpAnd, exprs.OpOr:
		a, b := truths(f.Args[0], in), truths(f.Args[1], in)
		for i := range a {
			if f.Op == exprs.OpAnd {
				a[i] = min(a[i], b[i])
			} else {
				a[i] = max(a[i], b[i])
			}
		}
		return a
	}
	return compared(f.Op, computed(f.Args[0], in), computed(f.Args[1], in), in.N)
}

func compared(op exprs.Op, a, b udf.Column, n int) []int8 {
	out := make([]int8, n)
	nulls := eitherNull(a, b)
	exact := a.Floats == nil && b.Floats == nil
	var x, y []float64
	if !exact {
		x, y = asFloats(a), asFloats(b)
	}
	for i := range out {
		if nulls != nil && nulls[i] {
			continue
		}
		var order int
		if exact {
			order = cmp.Compare(a.Ints[i], b.Ints[i])
		} else {
			order = cmp.Compare(x[i], y[i])
		}
		if out[i] = -1; holds(op, order) {
			out[i] = 1
		}
	}
	return out
}

// holds reports whether a comparison does, of two that lie in this order.
func holds(op exprs.Op, order int) bool {
	switch op {
	case exprs.OpEq:
		return order == 0
	case exprs.OpNe:
		return order != 0
	case exprs.OpLt:
		return order < 0
	case exprs.OpLe:
		return order <= 0
	case exprs.OpGt:
		return order > 0
	}
	return order >= 0
}

// setNull leaves a row without a value.
func setNull(c *udf.Column, row int) {
	if c.Nulls == nil {
		c.Nulls = make([]bool, max(len(c.Ints), len(c.Floats)))
	}
	c.Nulls[row] = true
}

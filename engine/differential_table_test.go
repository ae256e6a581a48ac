package engine_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// A cell is one value of a table.
type cell struct {
	null, float bool
	n           int64
	f           float64
}

// A relation is a table as the plain loops make it.
type relation struct {
	names []string
	rows  [][]cell
}

var windowNames = []string{"window", "window_start", "window_end", "window_events"}

// group draws bins, keys and aggregates, and computes every group by looking at all its events.
func (g *generator) group() (func(engine.Frame) engine.Table, *relation) {
	var keys []number
	var names []string
	var values []exprs.Value
	for i := range g.r.IntN(4) {
		k := g.number(1)
		if g.r.IntN(4) == 0 {
			k = number{exprs.Y.Div(4), func(e ev) int64 { return e.y / 4 }}
		}
		keys, names, values = append(keys, k), append(names, fmt.Sprintf("k%d", i)), append(values, k.v)
	}
	bin, where, binned := g.binning()
	g.say("group by %v", values)
	var aggs []aggregated
	for i := range g.r.IntN(4) {
		aggs = append(aggs, g.aggregate(i))
	}
	asked := slices.Clone(aggs)
	var formulas []engine.Aggregated
	var kept []engine.Condition
	window, whole := g.window, slices.Contains(g.steps, "window whole")
	build := func(f engine.Frame) engine.Table {
		var q engine.Grouped
		if binned == nil {
			q = window(f).Group(values...)
		} else {
			q = binned(window(f)).Group(values...)
		}
		q = q.Named(names...).Having(kept...)
		if len(asked) == 0 && len(formulas) == 0 {
			return q.Count()
		}
		var list []engine.Aggregated
		for _, a := range asked {
			list = append(list, a.Aggregated)
		}
		return q.Agg(append(list, formulas...)...)
	}
	out := &relation{}
	if !whole {
		out.names = slices.Clone(windowNames)
	}
	if binned != nil {
		out.names = append(out.names, "bin")
	}
	out.names = append(out.names, names...)
	computed := g.r.IntN(3) == 0
	if computed && len(asked) > 0 {
		aggs = append(aggs, hiddenAggregates...)
	} else if computed = false; len(aggs) == 0 {
		aggs = []aggregated{{name: "count", calc: aggregatesOf["count"]}}
	}
	for _, a := range aggs {
		out.names = append(out.names, a.name)
	}
	for i, w := range g.wins {
		out.add(i, w, whole, bin, where, keys, aggs)
	}
	if computed {
		formulas, kept, out = g.formulas(out)
	}
	return build, out
}

// binning draws bins and what is left out after binning; nil for none.
func (g *generator) binning() (bin *binning, where func(ev) bool, binned func(engine.Windowed) engine.Binned) {
	first, last := g.span()
	n := 1 + g.r.IntN(6)
	switch g.r.IntN(5) {
	case 0:
		bin, binned = &binning{n: int64(n)}, func(w engine.Windowed) engine.Binned { return w.Bin(n) }
	case 1:
		bin, binned = &binning{n: int64(n), window: true}, func(w engine.Windowed) engine.Binned { return w.Bin(n).OfWindow() }
	case 2:
		width := 1 + (last-first)/(1+g.r.Int64N(40))
		bin, binned = &binning{width: width}, func(w engine.Windowed) engine.Binned { return w.BinWidth(micros(width)) }
	default:
		return nil, nil, nil
	}
	g.say("bin %+v", *bin)
	if g.r.IntN(3) == 0 {
		c := g.telling(1, g.inWindows())
		g.say("where %v", c.e)
		plain := binned
		return bin, c.holds, func(w engine.Windowed) engine.Binned { return plain(w).Where(c.e) }
	}
	return bin, nil, binned
}

// add appends the rows of one window.
func (r *relation) add(index int, w win, whole bool, bin *binning, where func(ev) bool, keys []number, aggs []aggregated) {
	groups := map[[7]int64][]ev{}
	for _, e := range w.evs {
		var k [7]int64
		if bin != nil {
			k[0] = bin.of(e.t, w)
		}
		if where != nil && !where(e) {
			continue
		}
		for i, n := range keys {
			k[i+1] = n.is(e)
		}
		groups[k] = append(groups[k], e)
	}
	if len(groups) == 0 && bin == nil && len(keys) == 0 {
		groups[[7]int64{}] = nil
	}
	var order [][7]int64
	for k := range groups {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b [7]int64) int { return slices.Compare(a[:], b[:]) })
	for _, k := range order {
		var row []cell
		if !whole {
			row = append(row, integer(int64(index)), integer(w.start), integer(w.end), integer(int64(len(w.evs))))
		}
		if bin != nil {
			row = append(row, integer(k[0]))
		}
		for i := range keys {
			row = append(row, integer(k[i+1]))
		}
		for _, a := range aggs {
			if len(groups[k]) == 0 && len(a.args) > 0 {
				row = append(row, cell{null: true})
			} else {
				row = append(row, a.calc(w, groups[k], a.args))
			}
		}
		r.rows = append(r.rows, row)
	}
}

// ordered draws an order and a limit of a table.
func (g *generator) ordered(build func(engine.Frame) engine.Table, want *relation) (func(engine.Frame) engine.Table, *relation) {
	if g.r.IntN(2) == 0 {
		var by []engine.Order
		var at []int
		for range 1 + g.r.IntN(2) {
			i := g.r.IntN(len(want.names))
			by, at = append(by, engine.Order{Column: want.names[i], Desc: g.r.IntN(2) == 0}), append(at, i)
		}
		g.say("order by %v", by)
		plain := build
		build = func(f engine.Frame) engine.Table { return plain(f).OrderBy(by...) }
		slices.SortStableFunc(want.rows, func(a, b []cell) int {
			for i, o := range by {
				if c := order(a[at[i]], b[at[i]], o.Desc); c != 0 {
					return c
				}
			}
			return 0
		})
	}
	for g.r.IntN(3) == 0 {
		n := g.r.Int64N(int64(len(want.rows)) + 10)
		g.say("limit %d rows", n)
		plain := build
		build = func(f engine.Frame) engine.Table { return plain(f).Limit(n) }
		want.rows = want.rows[:min(int(n), len(want.rows))]
	}
	return build, want
}

// order compares cells; those without a value come last.
func order(a, b cell, desc bool) int {
	if a.null || b.null {
		switch {
		case a.null && b.null:
			return 0
		case a.null:
			return 1
		}
		return -1
	}
	c := cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.f, b.f))
	if desc {
		return -c
	}
	return c
}

// cellsOf lays blocks out as rows, element by element.
func cellsOf(blocks []tensor.Block, rep udf.Representation, g *generator) *relation {
	axes := []string{"axis5", "axis4", "bin", "channel", "y", "x"}
	shape := rep.Layout(g.at).Shape
	out := &relation{names: append(slices.Clone(windowNames), axes[len(axes)-len(shape):]...)}
	out.names = append(out.names, "value")
	for _, b := range blocks {
		size := b.DType.Size()
		for i := range b.Shape.Len() {
			c := elementOf(b.DType, b.Data[i*size:])
			if c.n == 0 && c.f == 0 {
				continue
			}
			row := []cell{integer(int64(b.Index)), integer(b.Start), integer(b.End), integer(b.Events)}
			index, rest := make([]cell, len(shape)), i
			for axis := len(shape) - 1; axis >= 0; axis-- {
				index[axis], rest = integer(int64(rest%shape[axis])), rest/shape[axis]
			}
			out.rows = append(out.rows, append(append(row, index...), c))
		}
	}
	return out
}

func elementOf(t tensor.DType, b []byte) cell {
	switch t {
	case tensor.Uint8:
		return integer(int64(b[0]))
	case tensor.Int8:
		return integer(int64(int8(b[0])))
	case tensor.Uint32:
		return integer(int64(binary.LittleEndian.Uint32(b)))
	case tensor.Int32:
		return integer(int64(int32(binary.LittleEndian.Uint32(b))))
	case tensor.Int64:
		return integer(int64(binary.LittleEndian.Uint64(b)))
	}
	return cell{float: true, f: float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))}
}

package engine_test

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/aggregates"
	"github.com/evq-project/evq/udf/builtins"
)

// representationCalls have other parameters than the defaults of all representations.
var representationCalls = []string{
	"stacked_histogram:bins=3,cutoff=2", "stacked_histogram:bins=4,overflow=wrap,downsample=2", "stacked_histogram:bins=2,timebase=window,rounding=exact",
	"stacked_histogram:bins=2,offsensor=rvt-flat", "mixed_density:bins=3,cutoff=2", "voxel_grid:bins=3,variant=b-1", "voxel_grid:normalize=e2vid,bins=2",
	"voxel_grid:signed=false,timebase=window", "event_frame:bins=3", "event_frame:bins=2,timebase=window", "event_frame:signed=true,mode=binary",
	"event_frame:variant=tonic,bins=3", "time_surface:memory=recording", "time_surface:decay=linear", "tore:k=2,memory=window", "tore:k=2",
	"sae:memory=recording", "sae", "bina_rep:bits=3,frames=2", "averaged_time_surface:cell=4,radius=1", "event_count", "event_count",
}

func (g *generator) representations() []udf.Representation {
	var out []udf.Representation
	for range []int{1, 1, 1, 2, 3}[g.r.IntN(5)] {
		call := representationCalls[g.r.IntN(len(representationCalls))]
		if g.r.IntN(3) == 0 {
			call = builtins.All[g.r.IntN(len(builtins.All))].Name
		}
		rep, err := engine.Represent(call)
		if err != nil {
			panic(err)
		}
		out = append(out, rep)
		g.say("represent %s", call)
	}
	return out
}

// A counted representation is one that a plain loop makes: it tells which element an event counts in.
type counted struct {
	cells  int64 // bins, and halves by polarity
	bins   binning
	cutoff int64
	wrap   bool
	half   bool // only events with odd x and odd y, at half of the size
	of     func(bin, p int64) int64
	dtype  tensor.DType
}

func countedOf(rep udf.Representation) (c counted, ok bool) {
	name, _, _ := strings.Cut(rep.String(), "(")
	text := rep.String()
	param := func(key string, n int64) int64 {
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("(), ", r) }) {
			if v, found := strings.CutPrefix(part, key+"="); found {
				if _, err := fmt.Sscan(v, &n); err != nil {
					panic(err)
				}
			}
		}
		return n
	}
	has := func(word string) bool { return strings.Contains(text, word) }
	bins := param("bins", 1)
	c.bins = binning{n: bins, exact: true, window: has("timebase=window")}
	switch {
	case name == "event_count":
		c.cells, c.of, c.dtype = 1, func(int64, int64) int64 { return 0 }, tensor.Uint32
	case name == "event_frame" && !has("signed=true") && !has("tonic") && !has("binary"):
		c.cells, c.of, c.dtype = 2*bins, func(b, p int64) int64 { return 2*b + p }, tensor.Uint32
	case name == "stacked_histogram" && !has("rvt-flat"):
		c.bins.exact = has("exact")
		c.cells, c.of, c.dtype = 2*bins, func(b, p int64) int64 { return p*bins + b }, tensor.Uint8
		c.cutoff, c.wrap, c.half = param("cutoff", 255), has("wrap"), param("downsample", 1) == 2
	default:
		return c, false
	}
	return c, true
}

// block makes the block of a window by counting.
func (c counted) block(w win, at event.Geometry, shape tensor.Shape) []byte {
	wide, high := int64(at.Width), int64(at.Height)
	if c.half {
		wide, high = wide/2, high/2
	}
	counts := make([]int64, c.cells*wide*high)
	for _, e := range w.evs {
		bin := c.bins.of(e.t, w)
		if c.half && (e.x%2 == 0 || e.y%2 == 0) {
			continue
		}
		if c.half {
			e.x, e.y = e.x/2, e.y/2
		}
		if e.x < wide && e.y < high {
			counts[(c.of(bin, e.p)*high+e.y)*wide+e.x]++
		}
	}
	var out []byte
	for _, n := range counts {
		if c.wrap {
			n %= 256
		}
		if c.cutoff > 0 {
			n = min(n, c.cutoff)
		}
		if c.dtype == tensor.Uint8 {
			out = append(out, byte(n))
		} else {
			out = binary.LittleEndian.AppendUint32(out, uint32(n))
		}
	}
	if n := shape.Len() * c.dtype.Size(); len(out) != n {
		panic(fmt.Sprintf("%d bytes of %v", len(out), shape))
	}
	return out
}

// blocks makes the naive blocks of all windows; nil where a representation is no count.
func (g *generator) blocks(reps []udf.Representation) []tensor.Block {
	out := []tensor.Block{}
	if !g.at.Known() {
		return nil
	}
	for i, w := range g.wins {
		for part, rep := range reps {
			c, ok := countedOf(rep)
			if !ok {
				return nil
			}
			l := rep.Layout(g.at)
			out = append(out, tensor.Block{Part: part, Index: i, Start: w.start, End: w.end, Events: int64(len(w.evs)),
				Shape: l.Shape, DType: l.DType, Data: c.block(w, g.at, l.Shape)})
		}
	}
	return out
}

// A binning numbers the events of a window by time, as docs/semantics.md says it.
type binning struct {
	n, width int64
	exact    bool
	window   bool
}

func (b binning) of(t int64, w win) int64 {
	if b.width > 0 {
		return (t - w.start) / b.width
	}
	from, to := w.start, w.end
	if !b.window {
		from, to = w.evs[0].t, w.evs[len(w.evs)-1].t
	}
	d, dt := t-from, max(to-from, 1)
	if b.exact {
		q := new(big.Int).Mul(big.NewInt(d), big.NewInt(b.n))
		return min(q.Div(q, big.NewInt(dt)).Int64(), b.n-1)
	}
	q := float32(d) / float32(dt)
	return min(int64(float32(q*float32(b.n))), b.n-1)
}

// An aggregated is an aggregate and its arguments.
type aggregated struct {
	engine.Aggregated
	name string
	args []number
	calc func(w win, evs []ev, args []number) cell
}

func values(evs []ev, n number) []int64 {
	var out []int64
	for _, e := range evs {
		out = append(out, n.is(e))
	}
	return out
}

func integer(n int64) cell { return cell{n: n} }

var aggregatesOf = map[string]func(w win, evs []ev, args []number) cell{
	"count": func(_ win, evs []ev, _ []number) cell { return integer(int64(len(evs))) },
	"rate": func(w win, evs []ev, _ []number) cell {
		if w.end == w.start {
			return cell{null: true, float: true}
		}
		return cell{float: true, f: float64(len(evs)) * 1e6 / float64(w.end-w.start)}
	},
	"seconds": func(w win, _ []ev, _ []number) cell { return cell{float: true, f: float64(w.end-w.start) / 1e6} },
	"sum": func(_ win, evs []ev, args []number) (c cell) {
		for _, v := range values(evs, args[0]) {
			c.n += v
		}
		return c
	},
	"mean": func(_ win, evs []ev, args []number) cell {
		sum := new(big.Int)
		for _, v := range values(evs, args[0]) {
			sum.Add(sum, big.NewInt(v))
		}
		f, _ := new(big.Rat).SetFrac(sum, big.NewInt(int64(len(evs)))).Float64()
		return cell{float: true, f: f}
	},
	"min":   func(_ win, evs []ev, args []number) cell { return integer(slices.Min(values(evs, args[0]))) },
	"max":   func(_ win, evs []ev, args []number) cell { return integer(slices.Max(values(evs, args[0]))) },
	"first": func(_ win, evs []ev, args []number) cell { return integer(args[0].is(evs[0])) },
	"last":  func(_ win, evs []ev, args []number) cell { return integer(args[0].is(evs[len(evs)-1])) },
	"distinct": func(_ win, evs []ev, args []number) cell {
		seen := map[[2]int64]bool{}
		for _, e := range evs {
			k := [2]int64{args[0].is(e)}
			if len(args) > 1 {
				k[1] = args[1].is(e)
			}
			seen[k] = true
		}
		return integer(int64(len(seen)))
	},
}

func (g *generator) aggregate(i int) aggregated {
	f := []udf.Aggregate{aggregates.Count, aggregates.Rate, aggregates.Sum, aggregates.Mean, aggregates.Min, aggregates.Max,
		aggregates.First, aggregates.Last, aggregates.Distinct, aggregates.Seconds}[g.r.IntN(10)]
	a := aggregated{name: fmt.Sprintf("a%d", i), calc: aggregatesOf[f.String()]}
	least, most := f.Arity()
	var args []exprs.Value
	for range least + g.r.IntN(most-least+1) {
		n := g.number(2)
		a.args, args = append(a.args, n), append(args, n.v)
	}
	a.Aggregated = engine.Agg(f, args...).As(a.name)
	g.say("aggregate %v of %v", f, args)
	return a
}

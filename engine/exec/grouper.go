package exec

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// A grouper gathers the groups of one window after another.
type grouper struct {
	Grouping
	ids  groupIDs
	accs []udf.Accumulator

	kept  selector
	keys  [][]int64
	args  [][]int64
	argOf [][]int // for each aggregate, where its arguments stand in args
	of    []int32
	slots *slotIDs // where events are only counted, in the slots of their groups; nil elsewhere
	peak  int      // the most groups of a window
}

// Peak returns about the most bytes that groups took: numbers of eight bytes for bin, keys and aggregates, twice.
func (r *grouper) Peak() int64 {
	if r == nil {
		return 0
	}
	return int64(r.peak) * 16 * int64(1+len(r.Keys)+len(r.Aggs))
}

func newGrouper(g Grouping) (*grouper, error) {
	r := &grouper{Grouping: g}
	if g.Ranges != nil && g.Bin.Width == 0 {
		if s := newSlotIDs(g.Bin.Bins, g.Ranges, g.MaxSlots); s != nil {
			r.ids = s
		}
	}
	if r.ids == nil {
		r.ids = newTableIDs(len(g.Keys))
	}
	r.keys = make([][]int64, len(g.Keys))
	for _, a := range g.Aggs {
		if least, most := a.Func.Arity(); len(a.Args) < least || len(a.Args) > most {
			return nil, fmt.Errorf("%v takes %d to %d arguments, not %d", a.Func, least, most, len(a.Args))
		}
		r.accs = append(r.accs, a.open(g.Memory))
		var at []int
		for range a.Args {
			at = append(at, len(r.args))
			r.args = append(r.args, nil)
		}
		r.argOf = append(r.argOf, at)
	}
	return r, nil
}

// window takes in the events of a whole window, bin by bin.
func (r *grouper) window(w event.Window, b event.Batch) error {
	if !r.Bin.any() {
		return r.add(0, b)
	}
	return r.Bin.each(w, b.T(), func(bin, lo, hi int) error { return r.add(bin, b.Slice(lo, hi)) })
}

// add takes in events of one bin.
func (r *grouper) add(bin int, b event.Batch) error {
	if r.Where != nil && b.Len() > 0 {
		b = r.kept.choose(r.Where, b)
		defer b.Release()
	}
	n := b.Len()
	if n == 0 {
		return nil
	}
	for i, k := range r.Keys {
		r.keys[i] = evalInto(r.keys[i], k, b)
	}
	if cap(r.of) < n {
		r.of = make([]int32, n)
	}
	if r.slots != nil {
		if r.slots.count(bin, r.keys, n) {
			return nil
		}
		if err := r.settle(); err != nil {
			return err
		}
	}
	of := r.of[:n]
	if !r.ids.assign(bin, r.keys, of) {
		r.ids = r.ids.(*slotIDs).moved()
		r.ids.assign(bin, r.keys, of)
	}
	groups := r.ids.len()
	r.peak = max(r.peak, groups)
	if r.Max > 0 && groups > r.Max {
		return &TooManyGroupsError{r.Max}
	}
	return r.accumulate(b, of, groups)
}

// tally makes the grouper count events in the slots of their groups, where that is all that aggregates need and groups
// are found by address. It pays where windows have many events: all slots are looked at when one ends.
func (r *grouper) tally() {
	s, ok := r.ids.(*slotIDs)
	for i, acc := range r.accs {
		_, tallied := acc.(udf.Tallied)
		ok = ok && tallied && len(r.Aggs[i].Args) == 0
	}
	if ok {
		r.slots = s
	}
}

// settle numbers the groups of events that were counted in slots, and goes on without that.
func (r *grouper) settle() error {
	events := r.slots.settle()
	r.slots = nil
	r.peak = max(r.peak, len(events))
	if r.Max > 0 && len(events) > r.Max {
		return &TooManyGroupsError{r.Max}
	}
	for _, acc := range r.accs {
		acc.(udf.Tallied).Tally(events)
	}
	return nil
}

func (r *grouper) accumulate(b event.Batch, of []int32, groups int) error {
	for i, a := range r.Aggs {
		args := make([][]int64, len(a.Args))
		for j, v := range a.Args {
			at := r.argOf[i][j]
			r.args[at] = evalInto(r.args[at], v, b)
			args[j] = r.args[at]
		}
		if err := r.accs[i].Add(args, of, groups); err != nil {
			return fmt.Errorf("%v: %w", a, err)
		}
	}
	return nil
}

// evalInto computes a value of each event into room, which grows.
func evalInto(room []int64, v interface {
	Eval(b event.Batch, dst []int64)
}, b event.Batch) []int64 {
	if cap(room) < b.Len() {
		room = make([]int64, b.Len())
	}
	room = room[:b.Len()]
	v.Eval(b, room)
	return room
}

// flush returns the groups of the window that was taken in, and forgets them. Without keys a window has one group,
// though it holds no event.
func (r *grouper) flush(w event.Window) (Groups, error) {
	if r.slots != nil {
		if err := r.settle(); err != nil {
			return Groups{}, err
		}
	}
	g := Groups{Window: w, N: r.ids.len()}
	if g.N == 0 && len(r.Keys) == 0 && !r.Bin.any() {
		return r.nothing(w)
	}
	order := r.ids.sorted()
	if r.Bin.any() {
		g.Bins = make([]int64, g.N)
	}
	g.Keys = make([][]int64, len(r.Keys))
	for k := range g.Keys {
		g.Keys[k] = make([]int64, g.N)
	}
	row := make([]int64, len(r.Keys))
	for i, id := range order {
		bin := r.ids.key(int(id), row)
		if g.Bins != nil {
			g.Bins[i] = int64(bin)
		}
		for k, v := range row {
			g.Keys[k][i] = v
		}
	}
	for i, acc := range r.accs {
		var col udf.Column
		if err := acc.Values(w, &col); err != nil {
			return Groups{}, fmt.Errorf("%v: %w", r.Aggs[i], err)
		}
		g.Values = append(g.Values, permuted(col, order))
		acc.Reset()
	}
	r.ids.reset()
	return g, nil
}

// nothing is the one group of a window without events: what needs no argument has a value, the rest has none.
func (r *grouper) nothing(w event.Window) (Groups, error) {
	g := Groups{Window: w, N: 1}
	for i, acc := range r.accs {
		var col udf.Column
		if len(r.Aggs[i].Args) > 0 {
			col = udf.Column{Ints: []int64{0}, Nulls: []bool{true}}
			if r.Aggs[i].Func.Float() {
				col = udf.Column{Floats: []float64{0}, Nulls: []bool{true}}
			}
		} else {
			if err := acc.Add(nil, nil, 1); err != nil {
				return g, fmt.Errorf("%v: %w", r.Aggs[i], err)
			}
			if err := acc.Values(w, &col); err != nil {
				return g, fmt.Errorf("%v: %w", r.Aggs[i], err)
			}
			acc.Reset()
		}
		g.Values = append(g.Values, col)
	}
	return g, nil
}

// permuted returns the rows of a column in the given order.
func permuted(c udf.Column, order []int32) udf.Column {
	var out udf.Column
	if c.Floats != nil {
		out.Floats = make([]float64, len(order))
		for i, id := range order {
			out.Floats[i] = c.Floats[id]
		}
	} else {
		out.Ints = make([]int64, len(order))
		for i, id := range order {
			out.Ints[i] = c.Ints[id]
		}
	}
	if c.Nulls != nil {
		out.Nulls = make([]bool, len(order))
		for i, id := range order {
			out.Nulls[i] = c.Nulls[id]
		}
	}
	return out
}

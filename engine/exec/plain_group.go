package exec

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// maxKeys bounds the keys of a hash group.
const maxKeys = 6

// PlainGroup groups by looking each event's keys up in a map, over windows that are held whole. It is slow and
// plain: the answer that faster operators are tested against.
type PlainGroup struct {
	In WindowOp
	Grouping

	run  event.Windowed
	next int
}

func (h *PlainGroup) String() string { return "plain " + h.Grouping.String() + ", window by window" }

// Input implements Operator.
func (h *PlainGroup) Input() Operator { return h.In }

// Close implements Operator.
func (h *PlainGroup) Close() error { return h.In.Close() }

// Next returns the groups of the next window, which may have no row.
func (h *PlainGroup) Next(ctx context.Context) (Groups, error) {
	if len(h.Keys) > maxKeys {
		return Groups{}, fmt.Errorf("grouping by %d keys; %d are possible", len(h.Keys), maxKeys)
	}
	for h.next >= len(h.run.Windows) {
		h.run.Events.Release()
		h.run = event.Windowed{}
		run, err := h.In.Next(ctx)
		if err != nil {
			return Groups{}, err
		}
		h.run, h.next = run, 0
	}
	w := h.run.Windows[h.next]
	h.next++
	return h.group(w, h.run.Events.Slice(w.Lo, w.Hi))
}

type groupKey struct {
	bin  int64
	keys [maxKeys]int64
}

// group finds each event's key, sorts the keys, and lets every group's aggregates see its own events alone.
func (h *PlainGroup) group(w event.Window, b event.Batch) (Groups, error) {
	members := map[groupKey][]int32{}
	for i, k := range h.keysOf(w, b) {
		if k != nil {
			members[*k] = append(members[*k], int32(i))
		}
	}
	if len(members) == 0 && len(h.Keys) == 0 && !h.Bin.any() {
		by, err := newGrouper(h.Grouping)
		if err != nil {
			return Groups{}, err
		}
		return by.nothing(w)
	}
	all := slices.SortedFunc(maps.Keys(members), func(a, b groupKey) int {
		return cmp.Or(cmp.Compare(a.bin, b.bin), slices.Compare(a.keys[:], b.keys[:]))
	})
	g := Groups{Window: w, N: len(all), Keys: make([][]int64, len(h.Keys)), Values: make([]udf.Column, len(h.Aggs))}
	for _, k := range all {
		if h.Bin.any() {
			g.Bins = append(g.Bins, k.bin)
		}
		for j := range h.Keys {
			g.Keys[j] = append(g.Keys[j], k.keys[j])
		}
		for j, a := range h.Aggs {
			if err := a.append(&g.Values[j], h.Memory, w, b, members[k]); err != nil {
				return Groups{}, fmt.Errorf("%v: %w", a, err)
			}
		}
	}
	return g, nil
}

// keysOf returns the key of each event, nil for those that are left out.
func (h *PlainGroup) keysOf(w event.Window, b event.Batch) []*groupKey {
	keep := make([]bool, b.Len())
	for i := range keep {
		keep[i] = true
	}
	if h.Where != nil {
		h.Where.Mask(b, keep)
	}
	values := make([][]int64, len(h.Keys))
	for i, k := range h.Keys {
		values[i] = evalInto(nil, k, b)
	}
	out := make([]*groupKey, b.Len())
	for i, t := range b.T() {
		if !keep[i] {
			continue
		}
		k := &groupKey{}
		if h.Bin.any() {
			k.bin = int64(h.Bin.of(t, w, b.T()))
		}
		for j := range values {
			k.keys[j] = values[j][i]
		}
		out[i] = k
	}
	return out
}

// append adds the aggregate of the given events of b, which are one group, to a column.
func (a Agg) append(to *udf.Column, memory int64, w event.Window, b event.Batch, events []int32) error {
	args := make([][]int64, len(a.Args))
	for i, v := range a.Args {
		all := evalInto(nil, v, b)
		for _, e := range events {
			args[i] = append(args[i], all[e])
		}
	}
	acc := a.open(memory)
	if err := acc.Add(args, make([]int32, len(events)), 1); err != nil {
		return err
	}
	return acc.Values(w, to)
}

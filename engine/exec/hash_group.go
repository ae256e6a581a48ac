package exec

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

// Groups are the counts of one window, one row each, in ascending order of bin and keys.
type Groups struct {
	Window event.Window
	Bins   []int32   // the bin of each row; nil where windows are not binned
	Keys   [][]int64 // one column per key
	Counts []int64
}

// head returns the first n rows.
func (g Groups) head(n int) Groups {
	if g.Bins != nil {
		g.Bins = g.Bins[:n]
	}
	keys := make([][]int64, len(g.Keys))
	for i, k := range g.Keys {
		keys[i] = k[:n]
	}
	g.Keys, g.Counts = keys, g.Counts[:n]
	return g
}

// Binning says how the events of a window are numbered by time.
type Binning struct {
	Bins       int // 0: not at all
	Rounding   accel.Rounding
	WindowTime bool // the bins divide the window's start to end, not its first to last event
}

// limits returns the times that the bins of a window divide: RVT's rule takes the first and last event of
// the window, before any of them is left out for where it lies.
func (b Binning) limits(w event.Window, t []int64) (from, to int64) {
	if b.WindowTime {
		return w.Start, w.End
	}
	return t[0], t[len(t)-1]
}

// maxKeys bounds the keys of a hash group.
const maxKeys = 6

// HashGroup counts by hashing each event's keys. It is slow and plain: the answer that faster operators are
// tested against.
type HashGroup struct {
	In    WindowOp
	Bin   Binning
	Keys  []exprs.Value
	Where exprs.Expr // nil keeps all

	run  event.Windowed
	next int
}

func (h *HashGroup) String() string {
	keys := make([]string, len(h.Keys))
	for i, k := range h.Keys {
		keys[i] = k.String()
	}
	s := "hash group by window"
	if h.Bin.Bins > 0 {
		s += fmt.Sprintf(", bin of %d", h.Bin.Bins)
	}
	s += ", " + strings.Join(keys, ", ")
	if h.Where != nil {
		s += " where " + h.Where.String()
	}
	return s
}

// Input implements Operator.
func (h *HashGroup) Input() Operator { return h.In }

// Close implements Operator.
func (h *HashGroup) Close() error { return h.In.Close() }

// Next returns the groups of the next window, which may have no row.
func (h *HashGroup) Next(ctx context.Context) (Groups, error) {
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
	return h.count(w, h.run.Events.Slice(w.Lo, w.Hi)), nil
}

type groupKey struct {
	bin  int32
	keys [maxKeys]int64
}

func (h *HashGroup) count(w event.Window, b event.Batch) Groups {
	keep := make([]bool, b.Len())
	for i := range keep {
		keep[i] = true
	}
	if h.Where != nil {
		h.Where.Mask(b, keep)
	}
	values := make([][]int64, len(h.Keys))
	for i, k := range h.Keys {
		values[i] = make([]int64, b.Len())
		k.Eval(b, values[i])
	}
	counts := map[groupKey]int64{}
	for i, t := range b.T() {
		if !keep[i] {
			continue
		}
		var k groupKey
		if h.Bin.Bins > 0 {
			from, to := h.Bin.limits(w, b.T())
			k.bin = int32(h.Bin.Rounding.Bin(t-from, to-from, h.Bin.Bins))
		}
		for j := range values {
			k.keys[j] = values[j][i]
		}
		counts[k]++
	}
	return h.rows(w, counts)
}

// rows sorts the groups, so that the same events give the same table.
func (h *HashGroup) rows(w event.Window, counts map[groupKey]int64) Groups {
	all := make([]groupKey, 0, len(counts))
	for k := range counts {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b groupKey) int {
		if c := cmp.Compare(a.bin, b.bin); c != 0 {
			return c
		}
		return slices.Compare(a.keys[:], b.keys[:])
	})
	g := Groups{Window: w, Keys: make([][]int64, len(h.Keys))}
	for _, k := range all {
		if h.Bin.Bins > 0 {
			g.Bins = append(g.Bins, k.bin)
		}
		for j := range h.Keys {
			g.Keys[j] = append(g.Keys[j], k.keys[j])
		}
		g.Counts = append(g.Counts, counts[k])
	}
	return g
}

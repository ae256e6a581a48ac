package duck

import (
	"sort"

	"github.com/evq-project/evq/io/event"
)

// inOrder returns the events in time order. DuckDB's threads bring the runs of a recording in any order: runs are
// merged, those that begin earlier first where times are equal, so that events of one time keep the recording's
// order unless they lie in different row groups.
func inOrder(b event.Batch) event.Batch {
	runs := runsOf(b.T())
	if len(runs) < 2 {
		return b
	}
	sort.SliceStable(runs, func(i, j int) bool { return b.T()[runs[i].lo] < b.T()[runs[j].lo] })
	from, to := columnsOf(b.Len()), columnsOf(b.Len())
	at := 0
	for i, r := range runs {
		from.copy(at, b.Slice(r.lo, r.hi))
		runs[i] = run{at, at + r.hi - r.lo}
		at = runs[i].hi
	}
	for len(runs) > 1 {
		merged := runs[:0]
		for i := 0; i < len(runs); i += 2 {
			if i+1 == len(runs) {
				to.copy(runs[i].lo, from.batch().Slice(runs[i].lo, runs[i].hi))
				merged = append(merged, runs[i])
				break
			}
			merge(to, from, runs[i], runs[i+1])
			merged = append(merged, run{runs[i].lo, runs[i+1].hi})
		}
		runs, from, to = merged, to, from
	}
	return from.batch()
}

// A run is events [lo, hi) in time order.
type run struct{ lo, hi int }

func runsOf(t []int64) []run {
	var out []run
	lo := 0
	for i := 1; i <= len(t); i++ {
		if i == len(t) || t[i] < t[i-1] {
			out = append(out, run{lo, i})
			lo = i
		}
	}
	return out
}

// columns are event columns to be written.
type columns struct {
	t    []int64
	x, y []uint16
	p    []int8
}

func columnsOf(n int) columns {
	return columns{make([]int64, n), make([]uint16, n), make([]uint16, n), make([]int8, n)}
}

func (c columns) batch() event.Batch { return event.New(c.t, c.x, c.y, c.p) }

func (c columns) copy(at int, b event.Batch) {
	copy(c.t[at:], b.T())
	copy(c.x[at:], b.X())
	copy(c.y[at:], b.Y())
	copy(c.p[at:], b.P())
}

// merge merges two neighbouring runs into the same place of another set of columns.
func merge(to, from columns, a, b run) {
	i, j := a.lo, b.lo
	for k := a.lo; k < b.hi; k++ {
		s := j
		if j == b.hi || i < a.hi && from.t[i] <= from.t[j] {
			s = i
			i++
		} else {
			j++
		}
		to.t[k], to.x[k], to.y[k], to.p[k] = from.t[s], from.x[s], from.y[s], from.p[s]
	}
}

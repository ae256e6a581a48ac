package aggregates

import (
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// A picked holds one of the values of each group.
type picked struct{ v []int64 }

// Values implements udf.Accumulator.
func (p *picked) Values(_ event.Window, dst *udf.Column) error {
	dst.Ints = append(dst.Ints, p.v...)
	return nil
}

// Reset implements udf.Accumulator.
func (p *picked) Reset() { p.v = p.v[:0] }

type mins struct{ picked }

// Add implements udf.Accumulator.
func (m *mins) Add(args [][]int64, of []int32, groups int) error {
	m.v = grown(m.v, groups, math.MaxInt64)
	least, vs := m.v, args[0]
	for i, g := range of {
		least[g] = min(least[g], vs[i])
	}
	return nil
}

type maxs struct{ picked }

// Add implements udf.Accumulator.
func (m *maxs) Add(args [][]int64, of []int32, groups int) error {
	m.v = grown(m.v, groups, math.MinInt64)
	greatest, vs := m.v, args[0]
	for i, g := range of {
		greatest[g] = max(greatest[g], vs[i])
	}
	return nil
}

type lasts struct{ picked }

// Add implements udf.Accumulator.
func (l *lasts) Add(args [][]int64, of []int32, groups int) error {
	l.v = grown(l.v, groups, 0)
	last, vs := l.v, args[0]
	for i, g := range of {
		last[g] = vs[i]
	}
	return nil
}

type firsts struct {
	picked
	seen []bool // groups that have their value: they need not come in the order of their numbers
}

// Add implements udf.Accumulator.
func (f *firsts) Add(args [][]int64, of []int32, groups int) error {
	f.v, f.seen = grown(f.v, groups, 0), grown(f.seen, groups, false)
	first, seen, vs := f.v, f.seen, args[0]
	for i, g := range of {
		if !seen[g] {
			first[g], seen[g] = vs[i], true
		}
	}
	return nil
}

// Reset implements udf.Accumulator.
func (f *firsts) Reset() {
	f.picked.Reset()
	f.seen = f.seen[:0]
}

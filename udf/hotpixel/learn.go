package hotpixel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// A learner counts the events of each pixel to find the hot ones.
type learner struct {
	*sieve
	Filter
	count       *udf.Pixels[uint64]
	started     bool
	first, last int64 // of what was learned from
}

var _ udf.Learner = (*learner)(nil)

// Learns implements udf.Learner: the range in time.
func (l *learner) Learns() event.Box {
	box := event.Everything
	box.T0 = l.from
	if l.to != math.MaxInt64 { // which stands for no end
		box.T1 = l.to - 1
	}
	return box
}

// Learn implements udf.Learner. Events off the sensor or outside the range are passed over.
func (l *learner) Learn(b event.Batch) error {
	box := l.Learns()
	ts := b.T()
	lo := sort.Search(len(ts), func(i int) bool { return ts[i] >= box.T0 })
	hi := sort.Search(len(ts), func(i int) bool { return ts[i] > box.T1 })
	if lo >= hi {
		return nil
	}
	if b = b.Slice(lo, hi); !l.started {
		l.started, l.first = true, b.T()[0]
	}
	l.last = b.T()[b.Len()-1]
	if err := l.count.Cover(b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	values := l.count.Values
	ys := b.Y()
	for i, x := range b.X() {
		if at, ok := l.count.At(x, ys[i]); ok {
			values[at]++
		}
	}
	return nil
}

// Learned implements udf.Learner: it settles which pixels are hot, and lets go of the counts.
func (l *learner) Learned() error {
	if l.count == nil {
		return errors.New("hot_pixel: Learned was called twice; open the filter again")
	}
	c := l.count
	hot := make([]bool, len(c.Values))
	isHot := l.threshold(c.Values)
	for i, n := range c.Values {
		hot[i] = n > 0 && isHot(n)
	}
	l.hot.Values, l.hot.Width, l.hot.Height = hot, c.Width, c.Height
	l.count = nil
	return nil
}

// threshold returns the test of a pixel's number of events.
func (l *learner) threshold(counts []uint64) func(uint64) bool {
	if l.rule == rate {
		// Micro-events on both sides: one product that is rounded, where the other is exact up to 9e9 events.
		most := l.level * float64(uint64(l.last)-uint64(l.first))
		return func(n uint64) bool { return float64(n)*1e6 > most }
	}
	active := make([]uint64, 0, len(counts)/8)
	for _, n := range counts {
		if n > 0 {
			active = append(active, n)
		}
	}
	if len(active) == 0 {
		return func(uint64) bool { return false }
	}
	if l.rule == sigma {
		most := deviated(active, l.level)
		return func(n uint64) bool { return float64(n) > most }
	}
	slices.Sort(active)
	most := active[int(math.Floor(float64(len(active)-1)*l.level/100+0.5))]
	return func(n uint64) bool { return n > most }
}

// deviated returns the mean of counts and k times their deviation from it.
func deviated(counts []uint64, k float64) float64 {
	var sum, squares float64
	for _, n := range counts {
		sum += float64(n)
	}
	mean := sum / float64(len(counts))
	for _, n := range counts {
		d := float64(n) - mean
		squares += d * d
	}
	return mean + k*math.Sqrt(squares/float64(len(counts)))
}

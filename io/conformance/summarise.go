package conformance

import (
	"context"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/order"
)

// Options say what a summary may use. The zero value is good.
type Options struct {
	Memory  int64  // bytes that sorting may hold; 0 = DefaultMemory
	TempDir string // where what does not fit is spilled; "" = the system's folder
	Threads int    // goroutines that decode; 0 = one per CPU
}

// DefaultMemory bounds what sorting holds.
const DefaultMemory = 128 << 20

// smallest is how much sorting gets at least.
const smallest = 1 << 16

// order shares the memory between the order of times and that within one time.
func (o Options) order(l *order.Learned) order.Options {
	return order.Options{Policy: order.Sort, Memory: max(o.memory()/3, smallest), TempDir: o.TempDir, Learned: l, Whole: true}
}

func (o Options) memory() int64 {
	if o.Memory <= 0 {
		return DefaultMemory
	}
	return o.Memory
}

// ties is how many events of one time are sorted at once.
func (o Options) ties() int {
	const keySize = 8
	return int(min(max(o.memory()/3, smallest)/keySize, 1<<30))
}

// Summarise reads src twice, once as it is and once in sorted order, and says what it yields. src is best opened so that
// it keeps the order of its file and all events: the summary says what src yields, whatever its policies are. The report
// is that of the first reading; after an error it says what was met up to then.
func Summarise(ctx context.Context, src event.Source, o Options) (*Summary, *event.Report, error) {
	s := newSumming()
	if g := src.Geometry(); g.Known() {
		s.Geometry = g.String()
	}
	want := event.All
	want.Threads = o.Threads
	want.Triggers = s.addTriggers
	rep, err := event.Each(ctx, src, want, func(b event.Batch) error { s.add(b); return nil })
	if err != nil {
		return nil, rep, err
	}
	s.FileOrder, s.Tail = s.order.sum(), s.tail.events()
	s.Sorted, err = sortedDigest(ctx, src, s.step, o)
	return &s.Summary, rep, err
}

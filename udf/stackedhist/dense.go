package stackedhist

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
)

// ErrUnsorted reports times that go back.
var ErrUnsorted = errors.New("times must not decrease; sort the events first")

// Dense makes the histograms of a recording on plain slices: t in microseconds, non-decreasing, p 0 or 1, on a
// sensor of width by height. Window i is RVT's: the events with ends[i]-span <= t <= ends[i], closed at both
// ends, so that neighbours share the events between them. The result has the shape (len(ends), 2*bins,
// H/downsample, W/downsample) in C order.
func Dense(t []int64, x, y []uint16, p []int8, ends []int64, span time.Duration, width, height int, options ...Option) ([]uint8, tensor.Shape, error) {
	s, err := apply(options)
	if err != nil {
		return nil, nil, err
	}
	if err := checkEvents(t, x, y, p); err != nil {
		return nil, nil, err
	}
	if span < 0 || span%time.Microsecond != 0 {
		return nil, nil, fmt.Errorf("stackedhist: a span of %v; whole microseconds from 0 are possible", span)
	}
	g := event.Geometry{Width: width, Height: height}
	if err := s.Grid(g).Validate(); err != nil {
		return nil, nil, err
	}
	layout := s.Layout(g)
	if len(ends) > math.MaxInt/layout.Bytes() {
		return nil, nil, fmt.Errorf("stackedhist: %d windows of %d bytes do not fit into memory; make them in parts", len(ends), layout.Bytes())
	}
	d := dense{s: s, geometry: g, events: event.New(t, x, y, p), ends: ends, span: span.Microseconds(), out: make([]uint8, len(ends)*layout.Bytes())}
	if err := d.run(); err != nil {
		return nil, nil, err
	}
	return d.out, append(tensor.Shape{len(ends)}, layout.Shape...), nil
}

func checkEvents(t []int64, x, y []uint16, p []int8) error {
	if len(x) != len(t) || len(y) != len(t) || len(p) != len(t) {
		return fmt.Errorf("stackedhist: columns of unequal length: t %d, x %d, y %d, p %d", len(t), len(x), len(y), len(p))
	}
	for i := 1; i < len(t); i++ {
		if t[i] < t[i-1] {
			return fmt.Errorf("stackedhist: event %d at %d us comes after one at %d us: %w", i, t[i], t[i-1], ErrUnsorted)
		}
	}
	return nil
}

// A dense is one call of Dense. Its windows are shared out one at a time.
type dense struct {
	s        settings
	geometry event.Geometry
	events   event.Batch
	ends     []int64
	span     int64
	out      []uint8
	next     atomic.Int64
}

// run counts on as many goroutines as there is work for, and returns the first error of each.
func (d *dense) run() error {
	workers := d.s.threads
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, len(d.ends))
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			if errs[i] = d.work(); errs[i] != nil {
				d.next.Store(int64(len(d.ends))) // the others stop
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (d *dense) work() (err error) {
	enc, err := d.s.Open(d.geometry, d.s.deviceOrCPU())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, enc.Close()) }()
	size := d.s.Layout(d.geometry).Bytes()
	block := make([]tensor.Block, 1)
	for {
		i := int(d.next.Add(1) - 1)
		if i >= len(d.ends) {
			return nil
		}
		block[0].Data = d.out[i*size : (i+1)*size]
		w := event.Windowed{Events: d.events, Windows: []event.Window{d.window(i)}}
		if err := enc.Encode(context.Background(), w, block); err != nil {
			return err
		}
	}
}

// window finds the events of window i.
func (d *dense) window(i int) event.Window {
	t, end := d.events.T(), d.ends[i]
	start := end - d.span
	if start > end { // before the first time there is
		start = math.MinInt64
	}
	lo := sort.Search(len(t), func(i int) bool { return t[i] >= start })
	hi := sort.Search(len(t), func(i int) bool { return t[i] > end })
	return event.Window{Index: i, Start: start, End: end, Lo: lo, Hi: hi}
}

package engine

import (
	"fmt"
	"math"
	"slices"

	"github.com/evq-project/evq/engine/exec"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/plan/optimize"
	"github.com/evq-project/evq/udf"
)

// A lowering chooses an operator for each node. It is the only switch over nodes that knows how they run.
type lowering struct {
	*runner
	from      func(*plan.Scan) exec.EventOp // nil: scanOf
	scan      *exec.Scan
	count     *exec.Count // where the source counts; there is no scan then
	represent representing
	gaps      bool                // a representation remembers: windows bring the events between them
	meters    []func() exec.Meter // of an analysed run, the scan first
}

// A representing operator tells what its encoders met.
type representing interface {
	OffSensor() int64
	Notes() []string
}

// operator lowers a node of any kind.
func (l *lowering) operator(n plan.Node) (exec.Operator, error) {
	switch n.Kind() {
	case plan.Events:
		return l.events(n)
	case plan.Windows:
		return l.windowsOf(n)
	case plan.Rows:
		return l.table(n)
	}
	return l.blocks(n)
}

func (l *lowering) events(n plan.Node) (exec.EventOp, error) {
	op, err := l.eventsOf(n)
	return metered(l, op, err, event.Batch.Len)
}

func (l *lowering) eventsOf(n plan.Node) (exec.EventOp, error) {
	switch n := n.(type) {
	case *plan.Scan:
		if l.from != nil {
			return l.from(n), nil
		}
		return l.scanOf(n), nil
	case *plan.Empty:
		return exec.Empty{}, nil
	case *plan.Filter:
		in, err := l.events(n.In)
		if err != nil {
			return nil, err
		}
		return &exec.Filter{In: in, Pred: n.Pred}, nil
	case *plan.Apply:
		return l.apply(n)
	case *plan.AddRandom:
		return l.addRandom(n)
	case *plan.Map:
		by, err := n.Projection()
		if err != nil {
			return nil, err
		}
		in, err := l.events(n.In)
		if err != nil {
			return nil, err
		}
		return &exec.Map{In: in, Name: n.By, By: by}, nil
	case *plan.Limit:
		return limited(n, l.events, exec.LimitEvents)
	}
	return nil, fmt.Errorf("engine: no operator yields the events of %q", n)
}

// apply lowers a filter with memory. One that must learn gets the events below it twice.
func (l *lowering) apply(n *plan.Apply) (exec.EventOp, error) {
	in, err := l.events(n.In)
	if err != nil {
		return nil, err
	}
	sieve, err := n.Filter.Open(plan.Geometry(n.In))
	if err != nil {
		return nil, fmt.Errorf("%v: %w", n.Filter, err)
	}
	first := func() (exec.EventOp, error) {
		below := n.In
		if learner, ok := sieve.(udf.Learner); ok {
			below = &plan.Filter{In: below, Pred: within(learner.Learns())}
		}
		below, _, err := optimize.Run(below, l.rules)
		if err != nil {
			return nil, err
		}
		return (&lowering{runner: l.runner}).events(below)
	}
	return &exec.Apply{In: in, Filter: n.Filter, Sieve: sieve, First: first}, nil
}

func (l *lowering) addRandom(n *plan.AddRandom) (exec.EventOp, error) {
	in, err := l.events(n.In)
	if err != nil {
		return nil, err
	}
	at, err := n.Pixels()
	if err != nil {
		return nil, err
	}
	region := event.Everything
	region.X0, region.Y0, region.X1, region.Y1 = at.X0, at.Y0, at.X1, at.Y1
	first := func() (exec.EventOp, error) { return (&lowering{runner: l.runner}).events(n.In) }
	return &exec.AddRandom{In: in, N: n.N, Seed: n.Seed, Region: region, First: first}, nil
}

// limited lowers a limit of what lower makes of its input.
func limited[T any](n *plan.Limit, lower func(plan.Node) (exec.Op[T], error), limit func(exec.Op[T], int64) exec.Op[T]) (exec.Op[T], error) {
	in, err := lower(n.In)
	if err != nil {
		return nil, err
	}
	return limit(in, n.N), nil
}

func (l *lowering) scanOf(n *plan.Scan) *exec.Scan {
	want := n.Want
	want.Threads = l.threads
	l.scan = &exec.Scan{Source: n.Source, Want: want}
	if l.progress != nil {
		total := n.Source.Info().Events
		if want.Box != event.Everything {
			total = -1 // skipped row groups would make it wrong
		}
		l.scan.Progress = func(done int64) { l.progress(done, total) }
	}
	return l.scan
}

func (l *lowering) windowsOf(n plan.Node) (exec.WindowOp, error) {
	op, err := l.windowsOp(n)
	return metered(l, op, err, func(w event.Windowed) int { return len(w.Windows) })
}

func (l *lowering) windowsOp(n plan.Node) (exec.WindowOp, error) {
	switch n := n.(type) {
	case *plan.Window:
		return l.window(n)
	case *plan.Filter:
		in, err := l.windowsOf(n.In)
		if err != nil {
			return nil, err
		}
		return &exec.FilterWindows{In: in, Pred: n.Pred}, nil
	case *plan.Limit:
		return limited(n, l.windowsOf, exec.LimitWindows)
	}
	return nil, fmt.Errorf("engine: no operator yields the windows of %q", n)
}

func (l *lowering) window(n *plan.Window) (exec.WindowOp, error) {
	in, err := l.events(n.In)
	if err != nil {
		return nil, err
	}
	switch by := n.By.(type) {
	case plan.Count:
		if l.gaps && by.Step > by.N {
			return nil, fmt.Errorf("engine: %v leaves events out between windows, which what remembers the recording must see; use windows of time", by)
		}
		return &exec.CountWindow{In: in, N: by.N, Step: by.Step, Complete: by.Complete, Max: l.maxHeld()}, nil
	case plan.EndsCount:
		if l.gaps {
			return nil, fmt.Errorf("engine: %v leaves events out between windows, which what remembers the recording must see; use windows of time", by)
		}
		return &exec.EndsCountWindow{In: in, Times: by.Times, N: int(min(by.N, math.MaxInt32)), Max: l.maxHeld()}, nil
	case plan.Whole:
		return exec.WholeRecording(in, l.maxHeld()), nil
	}
	b, err := bounds(n.By)
	return &exec.TimeWindow{In: in, Bounds: b, Gaps: l.gaps, Max: l.maxHeld()}, err
}

// bounds returns the limits of windows of time.
func bounds(w plan.Windowing) (exec.Bounds, error) {
	switch by := w.(type) {
	case plan.Ends:
		return &exec.EndsBounds{Times: by.Times, Span: by.Span}, nil
	case plan.Intervals:
		return &exec.IntervalBounds{Starts: by.Starts, Ends: by.Ends}, nil
	case plan.Every:
		b := &exec.EveryBounds{Length: by.Length, Hop: by.Hop, Origin: by.Origin, FromFirst: by.FromFirst}
		if by.Range != nil {
			b.Ranged, b.From, b.To = true, by.Range.From, by.Range.To
		}
		return b, nil
	}
	return nil, fmt.Errorf("engine: no operator cuts %q", w)
}

func (l *lowering) table(n plan.Node) (exec.RowOp, error) {
	op, err := l.rows(n)
	if err != nil || l.measure == nil {
		return op, err
	}
	m, err := metered[exec.Rows](l, op, nil, func(r exec.Rows) int { return r.N })
	return exec.WithFields(m, op.Fields()), err
}

func (l *lowering) rows(n plan.Node) (exec.RowOp, error) {
	switch n := n.(type) {
	case *plan.Group:
		in, err := l.groups(n)
		if err != nil {
			return nil, err
		}
		_, binned := n.In.(*plan.Bin)
		return &exec.Flat{In: in, Columns: fields(n), Windows: n.Windowed(), Binned: binned}, nil
	case *plan.Sort:
		return l.sort(n)
	case *plan.Having:
		in, err := l.table(n.In)
		if err != nil {
			return nil, err
		}
		return &exec.Having{In: in, Cond: n.Cond}, nil
	case *plan.Select:
		return l.columns(n)
	case *plan.Cells:
		if _, err := l.geometry(); err != nil {
			return nil, err
		}
		layout, err := plan.Layout(n.In)
		if err != nil {
			return nil, err
		}
		in, err := l.blocks(n.In)
		if err != nil {
			return nil, err
		}
		return &exec.Cells{In: in, Layout: layout, Columns: fields(n)}, nil
	case *plan.Limit:
		in, err := l.table(n.In)
		if err != nil {
			return nil, err
		}
		return exec.LimitRows(in, n.N), nil
	}
	return nil, fmt.Errorf("engine: no operator yields the table of %q", n)
}

func (l *lowering) columns(n *plan.Select) (exec.RowOp, error) {
	in, err := l.table(n.In)
	if err != nil {
		return nil, err
	}
	op := &exec.Select{In: in, Columns: fields(n)}
	for _, c := range n.Columns {
		op.Formulas = append(op.Formulas, c.Formula)
	}
	return op, nil
}

// fields returns the columns of a node's table.
func fields(n plan.Node) []exec.Field {
	var out []exec.Field
	for _, f := range plan.Fields(n) {
		out = append(out, exec.Field(f))
	}
	return out
}

func (l *lowering) sort(n *plan.Sort) (exec.RowOp, error) {
	in, err := l.table(n.In)
	if err != nil {
		return nil, err
	}
	op := &exec.Sort{In: in, Limit: n.N, Max: l.memory / 4 / (16 * int64(max(len(in.Fields()), 1)))}
	for _, o := range n.By {
		at := slices.IndexFunc(in.Fields(), func(f exec.Field) bool { return f.Name == o.Column })
		op.By = append(op.By, exec.Order{Column: at, Desc: o.Desc})
	}
	return op, nil
}

// maxSlots bounds the groups that are found by address, unless memory bounds them further; each takes 4 bytes.
const maxSlots = 1 << 26

func (l *lowering) groups(n *plan.Group) (exec.GroupOp, error) {
	by := exec.Grouping{Where: n.Where, MaxSlots: min(maxSlots, l.memory/16)}
	for _, k := range n.Keys {
		by.Keys = append(by.Keys, k.Value)
	}
	for _, a := range n.Aggs {
		by.Aggs = append(by.Aggs, exec.Agg{Func: a.Func, Args: a.Args})
	}
	by.Memory = l.memory / 4 / int64(max(len(by.Aggs), 1))
	by.Max = int(l.memory / 4 / (16 * int64(len(by.Keys)+len(by.Aggs)+2)))
	if n.Method == plan.DenseGroups {
		by.Ranges = []exec.KeyRange{}
		for _, r := range n.Ranges {
			by.Ranges = append(by.Ranges, exec.KeyRange(r))
		}
	}
	if n.Counted {
		return l.counted(n)
	}
	in := n.In
	if b, ok := in.(*plan.Bin); ok {
		by.Bin = exec.Binning{Bins: b.Bins, Width: b.Width, Rounding: b.Rounding, WindowTime: b.Base == plan.WindowTime}
		in = b.In
	}
	if w, ok := in.(*plan.Window); ok && n.Stream {
		return l.streamGroup(w, by)
	}
	op, err := l.windowsOf(in)
	if err != nil {
		return nil, err
	}
	var out exec.GroupOp = &exec.Group{In: op, Grouping: by}
	if n.Method == plan.PlainGroups {
		out = &exec.PlainGroup{In: op, Grouping: by}
	}
	return metered(l, out, nil, func(g exec.Groups) int { return g.N })
}

func (l *lowering) streamGroup(w *plan.Window, by exec.Grouping) (exec.GroupOp, error) {
	in, err := l.events(w.In)
	if err != nil {
		return nil, err
	}
	op := &exec.StreamGroup{In: in, Grouping: by}
	if _, whole := w.By.(plan.Whole); !whole {
		if op.Bounds, err = bounds(w.By); err != nil {
			return nil, err
		}
	}
	return metered[exec.Groups](l, op, nil, func(g exec.Groups) int { return g.N })
}

// metered puts a meter around an operator where the run is analysed.
func metered[T any](l *lowering, op exec.Op[T], err error, size func(T) int) (exec.Op[T], error) {
	if err != nil || l.measure == nil {
		return op, err
	}
	m := exec.Measure(op, size)
	l.meters = append(l.meters, m.Meter)
	return m, nil
}

// within is the predicate of the events inside a box.
func within(b event.Box) exprs.Expr {
	return exprs.And(exprs.T.Between(b.T0, b.T1), exprs.InRect(int64(b.X0), int64(b.Y0), int64(b.X1), int64(b.Y1)),
		exprs.P.Between(int64(b.P0), int64(b.P1)))
}

package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/enginetest"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf/stackedhist"
)

var small = event.Geometry{Width: 17, Height: 12}

// TestEveryWayAgrees runs random queries in every way there is: the plain hash group is the oracle.
func TestEveryWayAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for seed := range uint64(12) {
		rec := eventtest.Recording(seed, 400+int(seed)*700, small)
		f := engine.Scan(eventtest.Source(rec, small, 1+r.IntN(900)))
		if r.IntN(2) == 0 {
			f = f.Filter(exprs.X.Lt(int64(3 + r.IntN(14)))).Filter(exprs.Or(exprs.P.Eq(1), exprs.Y.Mod(3).Eq(0)))
		}
		q := f.Window(randomWindowing(r, rec)).StackedHistogram(randomHistogram(r)...)
		if text, err := q.Explain(); err != nil || !strings.Contains(text, "fuse_histogram") {
			t.Fatalf("%v\n%s", err, text)
		}
		enginetest.Agree(t, q)
		enginetest.Agree(t, q.Limit(2))
	}
}

func randomWindowing(r *rand.Rand, rec event.Batch) engine.Windowing {
	first, last := rec.T()[0], rec.T()[rec.Len()-1]
	span := (last - first) / 5
	switch r.IntN(4) {
	case 0:
		return engine.Every(time.Duration(span+1) * time.Microsecond).Hop(time.Duration(span/2+1) * time.Microsecond)
	case 1:
		return engine.Count(int64(1+r.IntN(500)), int64(1+r.IntN(300)))
	case 2:
		return engine.WholeRecording()
	}
	var grid []int64
	for end := first - span; end < last+2*span; end += span/2 + 1 {
		grid = append(grid, end)
	}
	return engine.Ends(grid, time.Duration(span)*time.Microsecond)
}

func randomHistogram(r *rand.Rand) []stackedhist.Option {
	opts := []stackedhist.Option{stackedhist.Bins(1 + r.IntN(7)), stackedhist.Cutoff(1 + r.IntN(4)), stackedhist.Downsample(1 + r.IntN(2))}
	for _, o := range []stackedhist.Option{stackedhist.Wrap(), stackedhist.Exact(), stackedhist.WindowTime(), stackedhist.NoCutoff()} {
		if r.IntN(3) == 0 {
			opts = append(opts, o)
		}
	}
	return opts
}

func TestLongWayGivesTheSameBytes(t *testing.T) {
	w := engine.Scan(eventtest.Source(eventtest.Recording(1, 3000, small), small, 500)).Window(engine.Every(3 * time.Millisecond))
	short := enginetest.Agree(t, w.StackedHistogram(stackedhist.Bins(5), stackedhist.Cutoff(3), stackedhist.Downsample(2), stackedhist.Wrap()))
	long := enginetest.Agree(t, w.Bin(5).Where(plan.Halved()).Group(exprs.P, exprs.Y.Div(2), exprs.X.Div(2)).
		Dense(engine.Cutoff(3), engine.Wrap()))
	if d := enginetest.Diff(short, long); d != "" {
		t.Error(d)
	}
}

// TestOffSensorEvents reads events beyond the sensor: they are dropped by every way, and counted.
func TestOffSensorEvents(t *testing.T) {
	rec := eventtest.Recording(2, 3000, event.Geometry{Width: 25, Height: 20})
	q := engine.Scan(eventtest.Source(rec, small, 700)).Window(engine.WholeRecording()).StackedHistogram()
	enginetest.Agree(t, q)
	want := int64(0)
	for i := range rec.Len() {
		if int(rec.X()[i]) >= small.Width || int(rec.Y()[i]) >= small.Height {
			want++
		}
	}
	var stats engine.Stats
	if _, err := q.Collect(context.Background(), engine.Collected(&stats)); err != nil || stats.OffSensor != want || want == 0 {
		t.Errorf("%d off the sensor, want %d: %v", stats.OffSensor, want, err)
	}
}

func TestTable(t *testing.T) {
	rec := eventtest.Recording(4, 2000, small)
	src := eventtest.Source(rec, small, 300)
	table := engine.Scan(src).Filter(exprs.P.Eq(1)).Window(engine.WholeRecording()).Group(exprs.Y)
	got, err := table.Collect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	want := map[int64]int64{}
	for i := range rec.Len() {
		if rec.P()[i] == 1 {
			want[int64(rec.Y()[i])]++
		}
	}
	if int(got.NumRows()) != len(want) || got.ColumnName(0) != "y" || got.ColumnName(1) != "count" {
		t.Fatalf("%d rows of %v, want %d", got.NumRows(), got.Schema(), len(want))
	}
	for i := range int(got.NumRows()) {
		y, n := int64At(got, 0, i), int64At(got, 1, i)
		if want[y] != n {
			t.Errorf("row %d: y=%d count=%d, want %d", i, y, n, want[y])
		}
	}
	few, err := table.Limit(3).Collect(context.Background())
	if err != nil || few.NumRows() != 3 {
		t.Errorf("limited to %v rows: %v", few.NumRows(), err)
	}
}

func TestFrameCollect(t *testing.T) {
	rec := eventtest.Recording(5, 2500, small)
	f := engine.Scan(eventtest.Source(rec, small, 300))
	all, err := f.Collect(context.Background())
	if d := eventtest.Diff(rec, all); err != nil || d != "" {
		t.Errorf("%v %s", err, d)
	}
	some, err := f.Filter(exprs.X.Ge(5)).Limit(7).Collect(context.Background())
	if err != nil || some.Len() != 7 {
		t.Errorf("%d events: %v", some.Len(), err)
	}
	for _, x := range some.X() {
		if x < 5 {
			t.Errorf("an event at x=%d was kept", x)
		}
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	rec := eventtest.Recording(6, 5000, small)
	f := engine.Scan(eventtest.Source(rec, small, 300))
	hist := f.Window(engine.WholeRecording()).StackedHistogram()
	for _, c := range []struct {
		q    engine.Tensors
		opts []engine.Option
		want string
	}{
		{f.Window(engine.Ends(nil, time.Second)).StackedHistogram(), nil, "without window ends"},
		{f.Window(engine.Ends([]int64{2, 1}, time.Second)).StackedHistogram(), nil, "sort the grid"},
		{f.Window(engine.WholeRecording()).StackedHistogram(stackedhist.Bins(0)), nil, "0 bins"},
		{hist, []engine.Option{engine.WithoutRule("fuse")}, `no rule "fuse"`},
		{hist, []engine.Option{engine.Device("gpu")}, `no device "gpu"`},
		{hist, []engine.Option{engine.Memory(4096)}, "--memory"},
		{engine.Scan(eventtest.Source(rec, event.Geometry{}, 300)).Window(engine.WholeRecording()).StackedHistogram(), nil, "--size"},
	} {
		if _, err := c.q.Collect(ctx, c.opts...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	stop := errors.New("enough")
	if err := hist.Each(ctx, func(tensor.Block) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the callback's error became %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := hist.Collect(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled query ended with %v", err)
	}
}

// TestSourceErrors reads a source that fails in the middle.
func TestSourceErrors(t *testing.T) {
	q := engine.Scan(failing(eventtest.Source(eventtest.Recording(7, 3000, small), small, 100)))
	for _, opts := range [][]engine.Option{nil, {engine.Rules()}} {
		_, err := q.Window(engine.Every(time.Millisecond)).StackedHistogram().Collect(context.Background(), opts...)
		if !errors.Is(err, errBroken) {
			t.Errorf("the source's error became %v", err)
		}
	}
}

var errBroken = errors.New("broken")

// failing breaks a source after nine batches.
func failing(src event.Source) event.Source {
	return rewired{src, func(s event.Stream) event.Stream { return &failingStream{Stream: s} }}
}

type failingStream struct {
	event.Stream
	n int
}

func (f *failingStream) Next(ctx context.Context) (event.Batch, error) {
	if f.n++; f.n > 9 {
		return event.Batch{}, errBroken
	}
	return f.Stream.Next(ctx)
}

// TestAbortedOutput checks that a failing query completes no output.
func TestAbortedOutput(t *testing.T) {
	out := &memorySink{}
	src := failing(eventtest.Source(eventtest.Recording(8, 3000, small), small, 100))
	err := engine.Scan(src).Window(engine.Every(time.Millisecond)).StackedHistogram().WriteTo(context.Background(), out)
	if !errors.Is(err, errBroken) || !out.aborted || out.closed {
		t.Errorf("%v, aborted %v, closed %v", err, out.aborted, out.closed)
	}
}

type memorySink struct {
	layout          tensor.Layout
	blocks          []tensor.Block
	aborted, closed bool
}

func (m *memorySink) String() string { return "memory" }
func (m *memorySink) Open(l ...tensor.Layout) (tensor.Sink, error) {
	m.layout = l[0]
	return m, nil
}
func (m *memorySink) Write(_ context.Context, b tensor.Block) error {
	m.blocks = append(m.blocks, b.Clone())
	b.Release()
	return nil
}
func (m *memorySink) Close() error { m.closed = true; return nil }
func (m *memorySink) Abort() error { m.aborted = true; return nil }

func TestWriteTo(t *testing.T) {
	q := engine.Scan(eventtest.Source(eventtest.Recording(9, 3000, small), small, 100)).Window(engine.Every(time.Millisecond)).StackedHistogram()
	out := &memorySink{}
	var stats engine.Stats
	if err := q.WriteTo(context.Background(), out, engine.Collected(&stats)); err != nil {
		t.Fatal(err)
	}
	want, err := q.Collect(context.Background())
	if d := enginetest.Diff(want, out.blocks); err != nil || d != "" || !out.closed {
		t.Errorf("%v %s closed=%v", err, d, out.closed)
	}
	if stats.Windows != int64(len(want)) || stats.Events != 3000 || !out.layout.Shape.Equal(tensor.Shape{20, 12, 17}) {
		t.Errorf("%+v, layout %+v", stats, out.layout)
	}
}

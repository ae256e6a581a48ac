package exec

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evq-project/evq/io/event"
)

// batches is an EventOp over events in memory.
type batches struct {
	t    []int64
	size int
}

func (b *batches) String() string  { return "batches" }
func (b *batches) Input() Operator { return nil }
func (b *batches) Close() error    { return nil }
func (b *batches) Next(context.Context) (event.Batch, error) {
	if len(b.t) == 0 {
		return event.Batch{}, io.EOF
	}
	n := min(b.size, len(b.t))
	buf := event.NewBuffer(n)
	for _, t := range b.t[:n] {
		buf.Append(t, uint16(t&7), uint16(t&3), int8(t&1))
	}
	b.t = b.t[n:]
	return buf.Batch(), nil
}

// A seenWindow is what a window was found to hold.
type seenWindow struct {
	Index      int
	Start, End int64
	T          []int64
}

func collect(t *testing.T, op WindowOp) []seenWindow {
	t.Helper()
	var out []seenWindow
	for {
		w, err := op.Next(context.Background())
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, win := range w.Windows {
			ev := w.Events.Slice(win.Lo, win.Hi)
			out = append(out, seenWindow{win.Index, win.Start, win.End, append([]int64{}, ev.T()...)})
			if ev.Len() != len(ev.X()) || ev.Len() != len(ev.P()) {
				t.Fatalf("window %d lacks columns", win.Index)
			}
		}
		w.Events.Release()
	}
}

func randomTimes(r *rand.Rand, n int) []int64 {
	var out []int64
	t := r.Int64N(100) - 50
	for range n {
		switch r.IntN(10) {
		case 0:
			t += r.Int64N(60)
		case 1, 2, 3:
			t += r.Int64N(4)
		}
		out = append(out, t)
	}
	return out
}

// within is the obvious window: every event with lo <= t <= hi.
func within(ts []int64, lo, hi int64) []int64 {
	out := []int64{}
	for _, t := range ts {
		if lo <= t && t <= hi {
			out = append(out, t)
		}
	}
	return out
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func TestTimeWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 400 {
		ts := randomTimes(r, r.IntN(300))
		size := 1 + r.IntN(60)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if i%2 == 0 {
				testEnds(t, r, ts, size)
			} else {
				testEvery(t, r, ts, size)
			}
		})
	}
}

func testEnds(t *testing.T, r *rand.Rand, ts []int64, size int) {
	span := r.Int64N(40)
	var grid []int64
	want := []seenWindow(nil)
	for end, k := int64(-100), 0; end < 400; k++ {
		grid = append(grid, end)
		want = append(want, seenWindow{k, end - span, end, within(ts, end-span, end)})
		end += r.Int64N(30)
	}
	got := collect(t, &TimeWindow{In: &batches{ts, size}, Bounds: &EndsBounds{grid, span}, Max: 1 << 20})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func testEvery(t *testing.T, r *rand.Rand, ts []int64, size int) {
	length, hop, origin := 1+r.Int64N(50), 1+r.Int64N(50), r.Int64N(100)-50
	b := &EveryBounds{Length: length, Hop: hop, Origin: origin}
	// The grid, window by window from far before the first event to far after the last.
	from, to, any := int64(0), int64(0), len(ts) > 0
	if any {
		from, to = ts[0], ts[len(ts)-1]
	}
	if r.IntN(3) == 0 {
		b.Ranged, b.From, b.To = true, -30, 200
		from, to, any = b.From, b.To-1, true
		ts = within(ts, b.From, b.To-1) // --time filters, too
	}
	var want []seenWindow
	for k := floorDiv(-400-origin, hop); any; k++ {
		start := origin + k*hop
		if start > to {
			break
		}
		if start+length > from {
			want = append(want, seenWindow{len(want), start, start + length, within(ts, start, start+length-1)})
		}
	}
	got := collect(t, &TimeWindow{In: &batches{ts, size}, Bounds: b, Max: 1 << 20})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("length %d hop %d origin %d: %s", length, hop, origin, d)
	}
}

func TestEveryFromFirst(t *testing.T) {
	b := &EveryBounds{Length: 10, Hop: 10, FromFirst: true}
	got := collect(t, &TimeWindow{In: &batches{[]int64{3, 12, 13, 40}, 2}, Bounds: b, Max: 100})
	want := []seenWindow{{0, 3, 13, []int64{3, 12}}, {1, 13, 23, []int64{13}}, {2, 23, 33, []int64{}}, {3, 33, 43, []int64{40}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestCountWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 400 {
		ts := make([]int64, r.IntN(60))
		for i := range ts {
			ts[i] = int64(i)
		}
		n, step, complete := 1+r.IntN(20), 1+r.IntN(20), r.IntN(3) == 0
		var want []seenWindow
		for lo := 0; lo < len(ts); lo += step {
			hi := min(lo+n, len(ts))
			if complete && hi-lo < n {
				break
			}
			want = append(want, seenWindow{len(want), ts[lo], ts[hi-1], ts[lo:hi]})
			if hi == len(ts) {
				break
			}
		}
		op := &CountWindow{In: &batches{ts, 1 + r.IntN(30)}, N: int64(n), Step: int64(step), Complete: complete, Max: 1000}
		if d := cmp.Diff(want, collect(t, op)); d != "" {
			t.Fatalf("%d events, n=%d step=%d complete=%v: %s", len(ts), n, step, complete, d)
		}
	}
}

func TestEndsCountWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		ts := randomTimes(r, r.IntN(300))
		n := 1 + r.IntN(70)
		var grid []int64
		want := []seenWindow(nil)
		for end := int64(-100); end < 400; end += r.Int64N(40) {
			hi := len(within(ts, -1000, end))
			in := append([]int64{}, ts[max(hi-n, 0):hi]...)
			start := end
			if len(in) > 0 {
				start = in[0]
			}
			want = append(want, seenWindow{len(grid), start, end, in})
			grid = append(grid, end)
		}
		got := collect(t, &EndsCountWindow{In: &batches{ts, 1 + r.IntN(60)}, Times: grid, N: n, Max: 1 << 20})
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	}
}

// TestEndsCountHoldsLittle reads far more events between two ends than a window takes.
func TestEndsCountHoldsLittle(t *testing.T) {
	ts := make([]int64, 6*holdRoom)
	op := &EndsCountWindow{In: &batches{ts, 1000}, Times: []int64{5}, N: 7, Max: 1 << 20}
	if got := collect(t, op); len(got) != 1 || len(got[0].T) != 7 {
		t.Errorf("%d windows", len(got))
	}
	if c := op.held.pool.Get().Cap(); c > 3*holdRoom {
		t.Errorf("a buffer grew to %d events", c)
	}
}

func TestWholeRecording(t *testing.T) {
	got := collect(t, WholeRecording(&batches{[]int64{4, 4, 9}, 2}, 100))
	if d := cmp.Diff([]seenWindow{{0, 4, 9, []int64{4, 4, 9}}}, got); d != "" {
		t.Error(d)
	}
	got = collect(t, WholeRecording(&batches{nil, 2}, 100))
	if d := cmp.Diff([]seenWindow{{0, 0, 0, []int64{}}}, got); d != "" {
		t.Errorf("without events: %s", d)
	}
}

func TestWindowTooLarge(t *testing.T) {
	_, err := WholeRecording(&batches{make([]int64, 100), 10}, 50).Next(context.Background())
	if _, ok := err.(*WindowTooLargeError); !ok {
		t.Errorf("got %v", err)
	}
	op := &TimeWindow{In: &batches{make([]int64, 100), 10}, Bounds: &EveryBounds{Length: 5, Hop: 5}, Max: 50}
	if _, err = op.Next(context.Background()); err == nil {
		t.Error("a window of 100 events passed a limit of 50")
	}
}

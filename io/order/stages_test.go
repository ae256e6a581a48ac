package order

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

func times(t ...int64) event.Batch {
	b := event.NewBuffer(len(t))
	for i, v := range t {
		b.Append(v, uint16(i), uint16(2*i), int8(i&1))
	}
	return b.Batch()
}

// inPlaceOracle treats one event after the other.
func inPlaceOracle(b event.Batch, p Policy) event.Batch {
	out, now := event.NewBuffer(b.Len()), int64(math.MinInt64)
	for i, t := range b.T() {
		if t < now && p == Drop {
			continue
		}
		now = max(now, t)
		out.Append(now, b.X()[i], b.Y()[i], b.P()[i])
	}
	return out.Batch()
}

func TestInPlacePolicies(t *testing.T) {
	for _, in := range []event.Batch{
		{}, times(5), times(1, 1, 1), times(3, 2, 1, 0, -1), times(math.MaxInt64, math.MinInt64, 0), times(math.MinInt64, math.MaxInt64, math.MinInt64),
		jitter(1, 5000, 3, 0, 0), jitter(2, 5000, 3, 10, 0.01), jitter(3, 5000, 3, 1<<40, 1),
	} {
		_, late := oracle(in)
		for _, p := range []Policy{Clamp, Drop} {
			for _, batch := range []int{1, 10, 10_000} {
				var rep event.Report
				got, err := drain(t, &tape{events: in, batch: batch}, Options{Policy: p}, &rep)
				if err != nil {
					t.Fatal(err)
				}
				if d := eventtest.Diff(got, inPlaceOracle(in, p)); d != "" {
					t.Errorf("%s, %d events, batches of %d: %s", p, in.Len(), batch, d)
				}
				if u := rep.Get(event.Unsorted); u.N != late || rep.Lost() != (late > 0 && p == Drop) {
					t.Errorf("%s: %+v, want %d", p, u, late)
				}
			}
		}
	}
}

func TestErrorPolicy(t *testing.T) {
	var rep event.Report
	for _, batch := range []int{1, 2, 3, 100} {
		s := &tape{events: times(10, 20, 15, 30, 1), batch: batch, steady: true}
		_, err := drain(t, s, Options{Policy: Error}, &rep)
		var u *UnsortedError
		if !errors.As(err, &u) || u.Index != 2 || u.Step != 5 {
			t.Fatalf("batches of %d: %v", batch, err)
		}
		if !strings.Contains(err.Error(), "--on-unsorted") || !strings.Contains(err.Error(), "event 2") {
			t.Errorf("no hint in %q", err)
		}
	}
	if _, err := drain(t, &tape{events: times(1, 1, 2), batch: 2}, Options{Policy: Error}, &rep); err != nil {
		t.Error(err)
	}
	if _, err := drain(t, &tape{}, Options{Policy: "shuffle"}, &rep); err == nil {
		t.Error("an unknown policy was taken")
	}
}

func TestClockSees(t *testing.T) {
	var c clock
	l := c.see([]int64{5, 3, 9, 8, 9})
	if l != (late{n: 2, first: 1, firstStep: 2, step: 2}) {
		t.Errorf("%+v", l)
	}
	if l = c.see([]int64{9, 10}); l.n != 0 || c.now() != 10 {
		t.Errorf("%+v", l)
	}
	if l = c.see([]int64{math.MinInt64}); l != (late{n: 1, first: 7, firstStep: math.MaxInt64, step: math.MaxInt64}) {
		t.Errorf("%+v", l)
	}
	for n := range 40 { // every place of a descent in the unrolled loop
		in := make([]int64, 40)
		for i := range in {
			in[i] = int64(i)
		}
		in[n]--
		if got := ascends(0, in); got != (n > 0) {
			t.Errorf("descent at %d: %v", n, got)
		}
		if n > 0 {
			in[n]--
			if ascends(0, in) {
				t.Errorf("descent at %d was missed", n)
			}
		}
	}
}

// Extreme times, for which neither a difference nor a key with an index fits in 64 bits.
func TestSortExtremes(t *testing.T) {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	for _, in := range []event.Batch{
		times(hi, lo, 0, hi, lo), times(hi, hi, hi), times(lo, lo, lo), times(0, hi, hi, lo, 1), times(hi, lo), times(7, 7, 6, 7),
	} {
		for _, batch := range []int{1, 2, 5} {
			testSort(t, in, 1<<20, batch)
		}
	}
	wide := jitter(4, 8000, 1<<48, 1<<61, 0.5)
	testSort(t, wide, 1, 500)
	testSort(t, wide, 64<<20, 500)
}

func TestSortedPassesThroughUncopied(t *testing.T) {
	in := jitter(1, 1000, 3, 0, 0)
	for _, restartable := range []bool{false, true} {
		given := map[*event.Buffer]bool{}
		s := &tape{events: in, batch: 100}
		open := func(ctx context.Context, probe bool) (Input, error) {
			r, err := s.open(ctx, probe)
			return &spy{Input: r, given: given}, err
		}
		st, err := Apply(t.Context(), open, Options{Policy: Sort, Memory: 1 << 20, Whole: true, Restartable: restartable}, &event.Report{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			b, err := st.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			n += b.Len()
			if !given[b] {
				t.Fatal("a buffer of a sorted recording was copied")
			}
		}
		if n != in.Len() {
			t.Errorf("%d events", n)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A spy remembers the buffers it hands out.
type spy struct {
	Input
	given map[*event.Buffer]bool
}

func (s *spy) Next(ctx context.Context) (*event.Buffer, error) {
	b, err := s.Input.Next(ctx)
	if err == nil {
		s.given[b] = true
	}
	return b, err
}

func TestRestartsOnce(t *testing.T) {
	in := jitter(5, 20_000, 100, 50_000, 0.01)
	s := &tape{events: in, batch: 100}
	o := Options{Policy: Sort, Memory: 1 << 20, TempDir: tempDir(t), Learned: &Learned{}, Whole: true, Restartable: true}
	var rep event.Report
	if _, err := drainOnce(t, s, o, &rep); !errors.Is(err, event.ErrRestart) {
		t.Fatalf("a step of 50 ms under a horizon of 10: %v", err)
	}
	step, known := o.Learned.Step()
	if !known || step <= 10_000 || step > 50_000 {
		t.Errorf("learned %d, %v", step, known)
	}
	if _, err := drainOnce(t, s, o, &rep); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	o.Whole, o.Learned = false, &Learned{} // a part shows nothing of the whole: no restart, but a probe
	if _, err := drainOnce(t, s, o, &rep); err != nil || s.probes != 1 {
		t.Errorf("a part: %v, %d probes", err, s.probes)
	}
}

func TestChangedRecording(t *testing.T) {
	o := Options{Policy: Sort, Memory: 1 << 20, Learned: &Learned{}}
	o.Learned.Set(0)
	if _, err := drain(t, &tape{events: times(1, 2, 9, 3), batch: 1}, o, &event.Report{}); !errors.Is(err, errChanged) {
		t.Errorf("disorder in a recording known to be in order: %v", err)
	}
}

// What was decoded before an error comes first, in order; then the error.
func TestInputError(t *testing.T) {
	broken := errors.New("broken")
	in := jitter(6, 5000, 2, 3000, 0.5)
	want, _ := oracle(in)
	for _, memory := range []int64{1, 1 << 20} {
		for _, restartable := range []bool{false, true} {
			o := Options{Policy: Sort, Memory: memory, TempDir: tempDir(t), Learned: &Learned{}, Whole: true, Restartable: restartable}
			got, err := drain(t, &tape{events: in, batch: 100, fail: broken}, o, &event.Report{})
			if !errors.Is(err, broken) {
				t.Fatalf("%v", err)
			}
			if d := eventtest.Diff(got, want); d != "" {
				t.Errorf("memory %d: %s", memory, d)
			}
		}
	}
}

// An abandoned or cancelled sort leaves no input open and no file behind.
func TestAbandoned(t *testing.T) {
	in := jitter(7, 30_000, 2, 1<<40, 1)
	for reads := range 4 {
		dir := tempDir(t)
		s := &tape{events: in, batch: 500}
		ctx, cancel := context.WithCancel(t.Context())
		st, err := Apply(ctx, s.open, Options{Policy: Sort, Memory: 1, TempDir: dir}, &event.Report{})
		if err != nil {
			t.Fatal(err)
		}
		for range reads {
			if _, err := st.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if _, err := st.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d: %v", reads, err)
		}
		if err := st.Close(); err != nil || s.opened != 0 {
			t.Errorf("close: %v, %d inputs open", err, s.opened)
		}
	}
}

// A context that ends while runs are being spilled ends the sort there.
func TestCancelledWhileSpilling(t *testing.T) {
	in := jitter(7, 30_000, 2, 1<<40, 1)
	dir := tempDir(t)
	s := &tape{events: in, batch: 500}
	ctx, cancel := context.WithCancel(t.Context())
	open := func(ctx context.Context, probe bool) (Input, error) {
		r, err := s.open(ctx, probe)
		if probe {
			return r, err
		}
		return &fuse{Input: r, left: 20, blow: cancel}, err
	}
	st, err := Apply(ctx, open, Options{Policy: Sort, Memory: 1, TempDir: dir}, &event.Report{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := st.Close(); err != nil || s.opened != 0 {
		t.Errorf("close: %v, %d inputs open", err, s.opened)
	}
}

// A fuse calls blow after some buffers.
type fuse struct {
	Input
	left int
	blow func()
}

func (f *fuse) Next(ctx context.Context) (*event.Buffer, error) {
	if f.left--; f.left == 0 {
		f.blow()
	}
	return f.Input.Next(ctx)
}

func TestNoRoomToSpill(t *testing.T) {
	s := &tape{events: jitter(7, 30_000, 2, 1<<40, 1), batch: 500}
	o := Options{Policy: Sort, Memory: 1, TempDir: filepath.Join(t.TempDir(), "none")}
	_, err := drain(t, s, o, &event.Report{})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "--temp-dir") {
		t.Errorf("%v", err)
	}
}

// The bound holds in every phase, within a factor of two, whatever the disorder.
func TestMemoryIsBounded(t *testing.T) {
	const memory = 2 << 20
	for _, c := range []struct {
		name        string
		in          event.Batch
		restartable bool
	}{
		{"full shuffle", jitter(8, 500_000, 2, 1<<40, 1), false},
		{"large steps", jitter(8, 500_000, 2, 200_000, 0.01), false},
		{"dense and in order", jitter(8, 500_000, 0, 0, 0), true},
		{"dense and jittered", jitter(8, 500_000, 0, 5000, 0.5), true},
	} {
		o := Options{Policy: Sort, Memory: memory, TempDir: tempDir(t), Learned: &Learned{}, Whole: true, Restartable: c.restartable}
		worst, n := int64(0), 0
		for {
			var err error
			if worst, n, err = worstFootprint(t, &tape{events: c.in, batch: 2000}, o); !errors.Is(err, event.ErrRestart) {
				break
			}
		}
		if n != c.in.Len() || worst > 2*memory {
			t.Errorf("%s: %d events, held %d bytes of %d", c.name, n, worst, memory)
		}
	}
}

func worstFootprint(t *testing.T, s *tape, o Options) (worst int64, n int, err error) {
	t.Helper()
	in, err := Apply(t.Context(), s.open, o, &event.Report{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	for {
		b, err := in.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return worst, n, nil
		}
		if err != nil {
			return worst, n, err
		}
		n += b.Len()
		worst = max(worst, in.(*sorter).footprint())
		b.Release()
	}
}

// footprint adds up what a sorter has allocated.
func (s *sorter) footprint() int64 {
	bytes := 13*s.held + 8*(cap(s.block.keys)+cap(s.block.spare)) + 13*s.block.events.Cap()
	if s.merge != nil {
		for _, h := range s.merge.heads {
			bytes += 13 * h.buf.Cap()
		}
	}
	if s.spill != nil {
		bytes += cap(s.spill.raw)
	}
	return int64(bytes)
}

func TestManyRuns(t *testing.T) {
	in := jitter(9, 300_000, 2, 1<<40, 1)
	want, _ := oracle(in)
	s := &tape{events: in, batch: 2000}
	st, err := Apply(t.Context(), s.open, Options{Policy: Sort, Memory: 1, TempDir: tempDir(t)}, &event.Report{})
	if err != nil {
		t.Fatal(err)
	}
	got := event.NewBuffer(in.Len())
	for {
		b, err := st.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got.AppendBatch(b.Batch())
		b.Release()
	}
	if d := eventtest.Diff(got.Batch(), want); d != "" {
		t.Error(d)
	}
	if runs := len(st.(*sorter).spill.runs); runs < 200 {
		t.Errorf("only %d runs: the test shows little", runs)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

// Runs that hold nothing but one time must come out one after the other.
func TestMergeKeepsTies(t *testing.T) {
	n := 5000
	b := event.NewBuffer(n)
	for i := range n {
		b.Append(int64(10-i%2*5-i/4000), uint16(i), 0, 0)
	}
	testSort(t, b.Batch(), 1, 100)
}

func TestRadixSort(t *testing.T) {
	for _, span := range []int{1, 7, 11, 12, 40, 52} {
		in := jitter(uint64(span), 3000, 5, 0, 0)
		keys := make([]uint64, in.Len())
		for i := range keys {
			keys[i] = uint64(i)*0x9e3779b97f4a7c15>>(64-span)<<12 | uint64(i)
		}
		want := slices.Sorted(slices.Values(keys))
		if got, _ := radixSort(keys, make([]uint64, len(keys)), 12, span); !slices.Equal(got, want) {
			t.Errorf("span of %d bits", span)
		}
	}
}

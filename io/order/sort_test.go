package order

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

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

package parquet

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

func TestPruning(t *testing.T) {
	const n = 5*groupLen + 1000
	rec := eventtest.Recording(9, n, sensor)
	// The last group holds pixels and polarities of a corner only.
	for i := 5 * groupLen; i < n; i++ {
		rec.X()[i], rec.Y()[i], rec.P()[i] = 3, 4, 1
	}
	s := mustOpen(t, write(t, rec, 50_000, format.CreateOptions{}))
	at := func(i int) int64 { return rec.T()[i] }
	box := func(change func(*event.Box)) event.Box {
		b := event.Everything
		change(&b)
		return b
	}
	for _, c := range []struct {
		name    string
		box     event.Box
		skipped int
	}{
		{"everything", event.Everything, 0},
		{"nothing", event.Nothing, 6},
		{"one group in time", box(func(b *event.Box) { b.T0, b.T1 = at(2*groupLen+5000), at(3*groupLen-5000) }), 5},
		{"the first event", box(func(b *event.Box) { b.T1 = at(0) }), 5},
		{"before it", box(func(b *event.Box) { b.T1 = at(0) - 1 }), 6},
		{"after the last", box(func(b *event.Box) { b.T0 = at(n-1) + 1 }), 6},
		{"x", box(func(b *event.Box) { b.X0 = 4 }), 1},
		{"y", box(func(b *event.Box) { b.Y1 = 3 }), 1},
		{"p", box(func(b *event.Box) { b.P1 = 0 }), 1},
		{"off the sensor", box(func(b *event.Box) { b.X0 = 640 }), 6},
	} {
		want := event.Request{Box: c.box, Threads: 2}
		got := eventtest.Drain(t, s, want)
		if got.Len() == 0 {
			got = event.New(nil, nil, nil, nil)
		}
		if d := eventtest.Diff(within(got, c.box), within(rec, c.box)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		st, err := s.Scan(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		if skipped, total := st.(*Stream).Pruned(); skipped != c.skipped || total != 6 {
			t.Errorf("%s: %d of %d groups are skipped, want %d of 6", c.name, skipped, total, c.skipped)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Without trustworthy statistics nothing may be skipped.
func TestNoPruningWithoutStatistics(t *testing.T) {
	groups := []rowGroup{{rows: 5, extent: event.Everything}}
	box := event.Everything
	box.T0, box.T1, box.X0 = 1, 2, 700
	if len(prune(groups, box)) != 1 {
		t.Error("a group without statistics is skipped")
	}
	if inOrder(groups) {
		t.Error("a group without statistics counts as in order")
	}
}

func TestColumns(t *testing.T) {
	rec := eventtest.Recording(2, groupLen+10, sensor)
	s := mustOpen(t, write(t, rec, 99_999, format.CreateOptions{}))
	for _, c := range []event.Columns{event.ColX, event.ColY | event.ColP, event.ColP, event.AllColumns} {
		got := eventtest.Drain(t, s, event.Request{Columns: c, Box: event.Everything})
		if (got.X() != nil) != c.Has(event.ColX) || (got.Y() != nil) != c.Has(event.ColY) || (got.P() != nil) != c.Has(event.ColP) {
			t.Errorf("%v: the batch has other columns", c)
		}
		want := event.New(rec.T(), nil, nil, nil)
		if c.Has(event.ColX) {
			want = event.New(rec.T(), rec.X(), nil, nil)
			got = event.New(got.T(), got.X(), nil, nil)
		} else {
			got = event.New(got.T(), nil, nil, nil)
		}
		if d := eventtest.Diff(got, want); d != "" {
			t.Errorf("%v: %s", c, d)
		}
	}
}

// A scan that is closed or cancelled early leaves no goroutine behind.
func TestEarlyEnd(t *testing.T) {
	s := mustOpen(t, write(t, eventtest.Recording(2, 6*groupLen, sensor), 99_999, format.CreateOptions{}))
	before := runtime.NumGoroutine()
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		st, err := s.Scan(ctx, event.Request{Box: event.Everything, Threads: 1 + i%3})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Next(ctx); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			cancel()
			for err == nil {
				_, err = st.Next(t.Context())
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v after cancelling the scan", err)
			}
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
		if _, err := st.Next(t.Context()); err == nil {
			t.Error("a closed stream yields events")
		}
		cancel()
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines are left, %d before", n, before)
	}
}

func TestConcurrentScans(t *testing.T) {
	rec := eventtest.Recording(2, 3*groupLen, sensor)
	s := mustOpen(t, write(t, rec, 99_999, format.CreateOptions{}))
	done := make(chan int)
	for range 4 {
		go func() { done <- drain(t, s, event.Request{Box: event.Everything, Threads: 2}) }()
	}
	for range 4 {
		if n := <-done; n != rec.Len() {
			t.Errorf("%d of %d events", n, rec.Len())
		}
	}
}

func TestPolicies(t *testing.T) {
	rec := eventtest.Recording(2, 1000, sensor)
	path := write(t, rec, 100, format.CreateOptions{})
	// A larger size only renames the sensor, a smaller one is the off-sensor policy's business.
	src, err := open(t, path, format.Policy{Size: hd})
	if err != nil || src.Geometry() != hd {
		t.Fatalf("%v, geometry %v", err, src.Geometry())
	}
	if _, ok := src.(*Store); !ok {
		t.Error("a larger size leaves the direct way")
	}
	small := event.Geometry{Width: 320, Height: 240}
	src, err = open(t, path, format.Policy{Size: small})
	if err != nil || src.Geometry() != small {
		t.Fatalf("%v, geometry %v", err, src.Geometry())
	}
	box := event.Everything
	box.X1, box.Y1 = 319, 239
	if d := eventtest.Diff(eventtest.Drain(t, src, event.All), within(rec, box)); d != "" {
		t.Error(d)
	}
	src, err = open(t, path, format.Policy{Zero: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := eventtest.Drain(t, src, event.All); got.T()[0] != 0 || got.T()[999] != rec.T()[999]-rec.T()[0] {
		t.Errorf("shifted times run from %d to %d", got.T()[0], got.T()[999])
	}
}

// Cut anywhere, and with bytes changed anywhere, a store gives an error or events, never a panic and never
// endless work.
func TestDamage(t *testing.T) {
	rec := eventtest.Scene(2, 20_000, sensor)
	path := write(t, rec, 5000, format.CreateOptions{})
	whole := read(t, path)
	for _, n := range cuts(len(whole)) {
		if _, err := scanBytes(t, whole[:n]); err == nil {
			t.Errorf("cut to %d of %d bytes, the store is read without an error", n, len(whole))
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	var failed int
	for range 600 {
		b := append([]byte(nil), whole...)
		for range 1 + r.IntN(3) {
			at := r.IntN(len(b))
			if r.IntN(2) == 0 {
				at = len(b) - 1 - r.IntN(min(len(b), 1500)) // the footer
			}
			b[at] ^= 1 << r.IntN(8)
		}
		if _, err := scanBytes(t, b); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no change of bytes was ever noticed")
	}
}

// cuts are lengths to cut n bytes to: all short ones, all near the end, and some between.
func cuts(n int) []int {
	var out []int
	for i := 0; i < n; i++ {
		if i < 16 || i > n-600 || i%997 == 0 {
			out = append(out, i)
		}
	}
	return out
}

package synth_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/synth"
)

var drive = synth.Options{Seed: 1, Events: 150_000, Duration: 300 * time.Millisecond, Size: event.Geometry{Width: 1280, Height: 720}}

func source(t testing.TB, o synth.Options) event.Source {
	t.Helper()
	s, err := synth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The same options give the same events in every scan, whatever the size of the batches; another seed others.
func TestDeterministic(t *testing.T) {
	s := source(t, drive)
	want := eventtest.Drain(t, s, event.All)
	if d := eventtest.Diff(eventtest.Drain(t, s, event.All), want); d != "" {
		t.Errorf("the second scan differs: %s", d)
	}
	for _, batch := range []int{1, 7, 4096, 1 << 20} {
		o := drive
		o.Batch = batch
		if d := eventtest.Diff(eventtest.Drain(t, source(t, o), event.All), want); d != "" {
			t.Errorf("batches of %d differ: %s", batch, d)
		}
	}
	other := drive
	other.Seed = 2
	if eventtest.Diff(eventtest.Drain(t, source(t, other), event.All), want) == "" {
		t.Error("another seed gives the same events")
	}
}

// A digest pins the events: recordings named by their seed in measurements must stay what they are, on every
// machine.
func TestPinned(t *testing.T) {
	const want = "c38e6ed902fbe159af3dcd88ed22c1e7ee3b1ed49c72e1e547206fd16aef24b0"
	if got, _ := eventtest.Digest(eventtest.Drain(t, source(t, drive), event.All)); got != want {
		t.Errorf("seed 1 gives %s, want %s", got, want)
	}
}

// A scene has exactly the events asked for, in order, on the sensor, within its time.
func TestLimits(t *testing.T) {
	for _, o := range []synth.Options{
		drive,
		{Seed: 3, Events: 0, Duration: time.Second, Size: event.Geometry{Width: 4, Height: 4}},
		{Seed: 3, Events: 1, Duration: time.Second, Size: event.Geometry{Width: 1, Height: 1}},
		{Seed: 4, Events: 5000, Duration: 1 * time.Microsecond, Size: event.Geometry{Width: 3, Height: 2}},
		{Seed: 5, Events: 99_999, Duration: 1234567 * time.Microsecond, Size: event.Geometry{Width: 346, Height: 260}, Start: 1 << 42},
		{Seed: 6, Events: 20_000, Duration: time.Minute, Size: event.Geometry{Width: 32768, Height: 32768}},
	} {
		b := eventtest.Drain(t, source(t, o), event.All)
		if int64(b.Len()) != o.Events {
			t.Errorf("%+v: %d events", o, b.Len())
		}
		if !slices.IsSorted(b.T()) {
			t.Errorf("%+v: not in time order", o)
		}
		for i, v := range b.T() {
			if v < o.Start || v >= o.Start+o.Duration.Microseconds() || int(b.X()[i]) >= o.Size.Width ||
				int(b.Y()[i]) >= o.Size.Height || b.P()[i]&^1 != 0 {
				t.Fatalf("%+v: event %d is (%d, %d, %d, %d)", o, i, b.X()[i], b.Y()[i], b.P()[i], v)
			}
		}
	}
}

// The scene is what the package says: about an eighth noise, runs along rows, and two hot pixels at odd x and
// y that pass 256 counts within 5 ms.
func TestScene(t *testing.T) {
	o := drive
	o.Events, o.Duration = 1_000_000, time.Second
	b := eventtest.Drain(t, source(t, o), event.All)
	counts := map[[2]uint16][]int{}
	runs := 1
	for i, v := range b.T() {
		k := [2]uint16{b.X()[i], b.Y()[i]}
		if counts[k] == nil {
			counts[k] = make([]int, 200)
		}
		counts[k][v/5000]++
		if i > 0 && (b.Y()[i] != b.Y()[i-1] || v != b.T()[i-1]) {
			runs++
		}
	}
	wrap := 0
	for k, c := range counts {
		if slices.Max(c) > 256 {
			if k[0]&1 == 0 || k[1]&1 == 0 {
				t.Errorf("pixel %v passes 256 counts but is lost in halving", k)
			}
			wrap++
		}
	}
	if wrap != 2 {
		t.Errorf("%d pixels pass 256 counts in 5 ms, want 2", wrap)
	}
	if mean := float64(b.Len()) / float64(runs); mean < 1.5 || mean > 4 {
		t.Errorf("runs have %.2f events on average", mean)
	}
	var least, most = 1 << 30, 0
	for i := 0; i < 1_000_000; i += 100_000 {
		lo, _ := slices.BinarySearch(b.T(), int64(i))
		hi, _ := slices.BinarySearch(b.T(), int64(i+100_000))
		least, most = min(least, hi-lo), max(most, hi-lo)
	}
	if most < least*5/4 {
		t.Errorf("the rate does not wander: %d to %d events in 100 ms", least, most)
	}
}

func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*synth.Options){
		"no size":      func(o *synth.Options) { o.Size = event.Geometry{} },
		"large size":   func(o *synth.Options) { o.Size.Width = 1 << 17 },
		"events":       func(o *synth.Options) { o.Events = -1 },
		"no time":      func(o *synth.Options) { o.Duration = 0 },
		"start":        func(o *synth.Options) { o.Start = -1 },
		"batch":        func(o *synth.Options) { o.Batch = -1 },
		"endless time": func(o *synth.Options) { o.Duration = 1 << 62 },
	} {
		o := drive
		change(&o)
		if _, err := synth.New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A cancelled scan stops, and a closed stream yields nothing.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	st, err := source(t, drive).Scan(ctx, event.All)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := st.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Next(context.Background()); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("after closing: %v", err)
	}
}

func BenchmarkScan(b *testing.B) {
	o := drive
	o.Events, o.Duration = 10_000_000, 10*time.Second
	s := source(b, o)
	for b.Loop() {
		if _, err := event.Each(b.Context(), s, event.All, func(event.Batch) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(o.Events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mev/s")
}

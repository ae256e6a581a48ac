package rvt

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// at are labels at the given times.
func at(times ...int64) Labels {
	var l Labels
	for i, t := range times {
		l = append(l, Label{T: t, W: 50, H: 50, TrackID: uint32(i)})
	}
	return l
}

// every are times from from to to, step apart.
func every(from, to, step int64) (times []int64) {
	for ; from <= to; from += step {
		times = append(times, from)
	}
	return times
}

// checkGrid reports a grid that does not rise, or a frame that no window ends at.
func checkGrid(t *testing.T, g Grid) {
	t.Helper()
	for i := 1; i < len(g.Ends); i++ {
		if g.Ends[i] <= g.Ends[i-1] {
			t.Fatalf("end %d is %d, after %d", i, g.Ends[i], g.Ends[i-1])
		}
	}
	if len(g.FrameToRepr) != len(g.Times) || len(g.FirstLabel) != len(g.Times) {
		t.Fatalf("%d frames, %d of the map, %d first labels", len(g.Times), len(g.FrameToRepr), len(g.FirstLabel))
	}
	for i, at := range g.Times {
		if g.Ends[g.FrameToRepr[i]] != at {
			t.Errorf("frame %d at %d us is mapped to the window that ends at %d", i, at, g.Ends[g.FrameToRepr[i]])
		}
		last := int64(len(g.Labels))
		if i+1 < len(g.Times) {
			last = g.FirstLabel[i+1]
		}
		if g.FirstLabel[i] >= last {
			t.Errorf("frame %d has no label", i)
		}
		for _, l := range g.Labels[g.FirstLabel[i]:last] {
			if l.T != at {
				t.Errorf("frame %d at %d us has a label at %d", i, at, l.T)
			}
		}
	}
}

func mustGrid(t *testing.T, l Labels, o GridOptions) Grid {
	t.Helper()
	g, err := NewGrid(l, o)
	if err != nil {
		t.Fatal(err)
	}
	checkGrid(t, g)
	return g
}

// The grid goes on through a gap in the labels, and only labelled frames are in the map.
func TestGridThroughGap(t *testing.T) {
	const period = 33_333
	times := append(every(1_000_000, 1_200_000, period), every(1_500_000, 1_700_000, period)...)
	for _, mode := range []GridMode{LikeRVT, Even} {
		g := mustGrid(t, at(times...), GridOptions{Dataset: Gen4, Mode: mode})
		if want := []int64{1_000_000, 1_099_999, 1_199_998, 1_500_000, 1_599_999, 1_699_998}; !slices.Equal(g.Times, want) {
			t.Errorf("%v: frames %v, want %v", mode, g.Times, want)
		}
		if want := []int64{18, 20, 22, 28, 30, 32}; !slices.Equal(g.FrameToRepr, want) || len(g.Ends) != 33 {
			t.Errorf("%v: %d ends, map %v, want %v", mode, len(g.Ends), g.FrameToRepr, want)
		}
		if want := every(100_000, 950_000, 50_000); !slices.Equal(g.Ends[:18], want) {
			t.Errorf("%v: the grid begins %v, want %v", mode, g.Ends[:18], want)
		}
	}
}

// Of labels at 60 Hz every sixth is a frame, give or take 2 ms.
func TestGridOf60Hz(t *testing.T) {
	times := every(100_000, 1_100_000, 16_667)
	g := mustGrid(t, at(times...), GridOptions{Dataset: Gen4})
	var want []int64
	for i := 0; i < len(times); i += 6 {
		want = append(want, times[i])
	}
	if !slices.Equal(g.Times, want) {
		t.Errorf("frames %v, want %v", g.Times, want)
	}
	times[6] += 2_000
	if g = mustGrid(t, at(times...), GridOptions{Dataset: Gen4}); g.Times[1] != times[6] {
		t.Errorf("a label 2 ms late is no frame: %v", g.Times)
	}
	times[6]++
	if g = mustGrid(t, at(times...), GridOptions{Dataset: Gen4}); slices.Contains(g.Times, times[6]) {
		t.Errorf("a label 2.001 ms late is a frame: %v", g.Times)
	}
}

// Between labels of gen1 RVT's windows end every 125 ms; the even grid keeps to 50 ms.
func TestGridOfGen1(t *testing.T) {
	l := at(500_000, 750_000, 1_000_000)
	lead := every(100_000, 450_000, 50_000)
	g := mustGrid(t, l, GridOptions{})
	if want := append(lead, 500_000, 625_000, 750_000, 875_000, 1_000_000); !slices.Equal(g.Ends, want) {
		t.Errorf("as RVT: %v, want %v", g.Ends, want)
	}
	g = mustGrid(t, l, GridOptions{Mode: Even})
	if want := every(100_000, 1_000_000, 50_000); !slices.Equal(g.Ends, want) {
		t.Errorf("even: %v, want %v", g.Ends, want)
	}
}

func TestGridSettings(t *testing.T) {
	l := at(120_000, 500_000, 750_000)
	g := mustGrid(t, l, GridOptions{Align: 400 * time.Millisecond, Step: 25 * time.Millisecond})
	if want := append(every(50_000, 475_000, 25_000), 500_000, 562_500, 625_000, 687_500, 750_000); !slices.Equal(g.Ends, want) {
		t.Errorf("%v, want %v", g.Ends, want)
	}
	g = mustGrid(t, at(250_000, 500_000), GridOptions{Mode: Even, Step: 70 * time.Millisecond})
	if want := []int64{110_000, 180_000, 250_000, 312_500, 375_000, 437_500, 500_000}; !slices.Equal(g.Ends, want) { // round(3.57) = 4 windows
		t.Errorf("%v, want %v", g.Ends, want)
	}
	g = mustGrid(t, at(250_000, 500_000), GridOptions{Mode: Even, Step: time.Second})
	if want := []int64{250_000, 500_000}; !slices.Equal(g.Ends, want) {
		t.Errorf("a step longer than a gap: %v", g.Ends)
	}
	g = mustGrid(t, at(0, 250_000), GridOptions{Align: -1})
	if want := []int64{0, 125_000, 250_000}; !slices.Equal(g.Ends, want) {
		t.Errorf("from time 0: %v", g.Ends)
	}
	for _, o := range []GridOptions{{Step: 30 * time.Millisecond}, {Step: 200 * time.Millisecond}, {Step: -time.Second}, {Step: time.Nanosecond, Mode: Even}} {
		if _, err := NewGrid(l, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

// Every refusal says what was seen; the even grid takes the same labels.
func TestGridRefusals(t *testing.T) {
	slow := every(100_000, 2_000_000, 33_900) // 29.5 Hz
	for _, c := range []struct {
		name string
		l    Labels
		d    Dataset
		rule Rule
		seen string
	}{
		{"rate", at(every(100_000, 2_000_000, 100_000)...), Gen4, RateRule, "10 Hz"},
		{"29.5 Hz", at(slow...), Gen4, RateRule, "29 Hz"},
		{"a single time", at(100_000), Gen4, RateRule, "no rate"},
		{"no step", at(500_000, 501_000, 750_000), Gen1, StepRule, "501000 us"},
		{"near", nearLabels(), Gen4, NearRule, "98 ms"},
	} {
		_, err := NewGrid(c.l, GridOptions{Dataset: c.d})
		var r *RefusalError
		if !errors.As(err, &r) || r.Rule != c.rule || !strings.Contains(strings.ReplaceAll(err.Error(), "98000 us", "98 ms"), c.seen) || !strings.Contains(err.Error(), "--grid 50ms") {
			t.Errorf("%s: %v", c.name, err)
		}
		g, err := NewGrid(c.l, GridOptions{Dataset: c.d, Mode: Even})
		if err != nil {
			t.Errorf("%s: even: %v", c.name, err)
			continue
		}
		checkGrid(t, g)
	}
}

// nearLabels come at 30 Hz by their median, and one of them 98.0 ms after the first.
func nearLabels() Labels {
	times := every(100_000, 1_000_000, 33_000) // base step 99,000 us
	times = append(times, 198_000)
	return at(times...)
}

func TestGridWithoutFrames(t *testing.T) {
	if _, err := NewGrid(nil, GridOptions{}); !errors.Is(err, ErrNoLabels) {
		t.Errorf("no labels: %v", err)
	}
	if _, err := NewGrid(at(50_000, 99_999), GridOptions{}); !errors.Is(err, ErrNoLabels) || !strings.Contains(err.Error(), "the last of 2 lies at 99999 us") {
		t.Errorf("early labels: %v", err)
	}
}

// A file may say anything of time; memory stays bounded.
func TestGridOfAbsurdTimes(t *testing.T) {
	for _, l := range []Labels{at(1_500_000_000_000_000), at(100_000, 100_000+250_000<<32), at(math.MaxInt64), at(100_000, math.MaxInt64)} {
		g, err := NewGrid(l, GridOptions{})
		if err == nil && len(g.Ends) > 100 || err != nil && !errors.Is(err, ErrLongGrid) {
			t.Errorf("labels at %d: %d ends, %v", l[len(l)-1].T, len(g.Ends), err)
		}
	}
	if _, err := NewGrid(at(math.MinInt64, 0, math.MaxInt64), GridOptions{Dataset: Gen4}); err == nil {
		t.Error("times across all of int64 were accepted")
	}
}

// Labels out of order give the grid of those in order.
func TestGridPutsInOrder(t *testing.T) {
	sorted := at(100_000, 350_000, 350_000, 600_000)
	mixed := Labels{sorted[3], sorted[1], sorted[0], sorted[2]}
	a, b := mustGrid(t, sorted, GridOptions{}), mustGrid(t, mixed, GridOptions{})
	if !slices.Equal(a.Ends, b.Ends) || !slices.Equal(a.Labels, b.Labels) || !slices.Equal(a.FirstLabel, []int64{0, 1, 3}) {
		t.Errorf("%+v and %+v", a, b)
	}
	if mixed[0].T != 600_000 {
		t.Error("the labels that were given are in another order now")
	}
}

// Whatever the labels, a grid that is made rises and holds every frame.
func TestGridRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	made := 0
	for range 3000 {
		period := []int64{16_667, 33_333, 100_000, 250_000}[rng.IntN(4)]
		var times []int64
		for at := rng.Int64N(400_000); len(times) < 40; at += period * int64(1+rng.IntN(3)) {
			times = append(times, at+rng.Int64N(1+int64(rng.IntN(3_000))))
		}
		o := GridOptions{Dataset: Dataset(rng.IntN(2)), Mode: GridMode(rng.IntN(2))}
		g, err := NewGrid(at(times...), o)
		var r *RefusalError
		if errors.As(err, &r) && o.Mode == LikeRVT {
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v: %v", o, times, err)
		}
		made++
		checkGrid(t, g)
	}
	if made < 1500 {
		t.Errorf("only %d grids were made", made)
	}
}

func TestEvery(t *testing.T) {
	for _, c := range []struct {
		last int64
		want []int64
	}{{-5, []int64{50_000}}, {0, []int64{50_000}}, {50_000, []int64{50_000}}, {50_001, []int64{50_000, 100_000}}, {149_999, []int64{50_000, 100_000, 150_000}}} {
		if got, err := Every(50*time.Millisecond, c.last); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("to %d: %v, %v, want %v", c.last, got, err, c.want)
		}
	}
	for _, d := range []time.Duration{0, -time.Second, time.Nanosecond, 1500 * time.Nanosecond} {
		if _, err := Every(d, 100); err == nil {
			t.Errorf("every %v was accepted", d)
		}
	}
	for _, last := range []int64{1e15, math.MaxInt64} {
		if _, err := Every(time.Microsecond, last); !errors.Is(err, ErrLongGrid) {
			t.Errorf("to %d: %v", last, err)
		}
	}
	if got, err := Every(time.Second, math.MinInt64); err != nil || len(got) != 1 {
		t.Errorf("to the least time: %v, %v", got, err)
	}
}

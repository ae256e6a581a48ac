package hotpixel

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/filtertest"
)

// naive counts with a map and looks at every pixel for each event.
func naive(f Filter) func(event.Batch) []bool {
	return func(b event.Batch) []bool {
		counts := map[Pixel]int{}
		var first, last int64
		learned := 0
		for i, t := range b.T() {
			if t >= f.from && (t < f.to || f.to == math.MaxInt64) {
				if learned++; learned == 1 {
					first = t
				}
				last = t
				counts[Pixel{b.X()[i], b.Y()[i]}]++
			}
		}
		keep := make([]bool, b.Len())
		for i := range keep {
			keep[i] = !f.naiveHot(counts, Pixel{b.X()[i], b.Y()[i]}, float64(last)-float64(first))
		}
		return keep
	}
}

func (f Filter) naiveHot(counts map[Pixel]int, at Pixel, span float64) bool {
	below, above, n := 0, 0, counts[at]
	var sum, squares float64
	for _, c := range counts {
		sum += float64(c)
		squares += float64(c) * float64(c)
		if c < n {
			below++
		} else {
			above++
		}
	}
	active := float64(len(counts))
	switch f.rule {
	case percentile: // the one at the rank is less: all up to the rank are
		return n > 0 && below > int(math.Floor((active-1)*f.level/100+0.5))
	case sigma:
		mean := sum / active
		return n > 0 && float64(n) > mean+f.level*math.Sqrt(squares/active-mean*mean)+1e-9
	case rate:
		return float64(n)*1e6 > f.level*span
	}
	return slices.Contains(f.mask, at)
}

func TestConformance(t *testing.T) {
	for _, f := range []Filter{
		New(), New(Percentile(95)), New(Percentile(50)), New(Percentile(0)), New(Percentile(100)),
		New(Sigma(2)), New(Sigma(0)), New(Rate(3)), New(Rate(0)), New(Rate(1000)),
		New(Percentile(90), During(100, 200_000)), New(Rate(2), During(math.MinInt64, 0)), New(During(math.MaxInt64-1, math.MaxInt64)),
		New(Mask([]Pixel{{3, 4}, {0, 0}, {15, 11}, {3, 4}})), New(Mask(nil)),
	} {
		t.Run(f.String(), func(t *testing.T) { filtertest.Run(t, f, naive(f)) })
	}
}

// The rank is rounded half up.
func TestPercentileRank(t *testing.T) {
	var b event.Buffer
	for x := range uint16(5) { // pixel x has x+1 events
		for range x + 1 {
			b.Append(int64(b.Len()), x, 0, 0)
		}
	}
	for q, kept := range map[float64]int{0: 1, 12.4: 1, 12.5: 3, 37.4: 3, 37.5: 6, 87.4: 10, 87.5: 15, 100: 15} {
		keep := filtertest.Sift(t, New(Percentile(q)), b.Batch(), filtertest.Size, 4)
		if got := filtertest.Kept(b.Batch(), keep).Len(); got != kept {
			t.Errorf("percentile %g: %d events are kept, not %d", q, got, kept)
		}
	}
}

// The filter drops whole pixels: nobody's fate depends on what stands between, but the counts do, so that the filter
// is no predicate and may not change places with one.
func TestDropsWholePixels(t *testing.T) {
	b := eventtest.Recording(3, 5000, filtertest.Size)
	keep := filtertest.Sift(t, New(Percentile(90)), b, filtertest.Size, 999)
	fate := map[Pixel]bool{}
	for i, k := range keep {
		at := Pixel{b.X()[i], b.Y()[i]}
		if before, known := fate[at]; known && before != k {
			t.Fatalf("pixel %v is hot and is not", at)
		}
		fate[at] = k
	}
	if !slices.Contains(keep, false) {
		t.Error("nothing is hot; the test shows nothing")
	}
}

func TestLearner(t *testing.T) {
	s, err := New(During(5, 10)).Open(filtertest.Size)
	if err != nil {
		t.Fatal(err)
	}
	l := s.(udf.Learner)
	if box := l.Learns(); box.String() != "t=5..9" {
		t.Errorf("learns from %v", box)
	}
	if err := errors.Join(l.Learned(), l.Learned()); err == nil {
		t.Error("learned twice")
	}
	whole, _ := New().Open(filtertest.Size)
	if box := whole.(udf.Learner).Learns(); box != event.Everything {
		t.Errorf("learns from %v", box)
	}
	if s, _ := New(Mask(nil)).Open(filtertest.Size); s != nil {
		if _, ok := s.(udf.Learner); ok {
			t.Error("a mask must learn")
		}
	}
}

func TestMaskOffSensor(t *testing.T) {
	if _, err := New(Mask([]Pixel{{1000, 1000}})).Open(filtertest.Size); err != nil {
		t.Error(err)
	}
	if _, err := New(Mask([]Pixel{{65535, 65535}})).Open(event.Geometry{}); !errors.Is(err, udf.ErrSize) {
		t.Error(err)
	}
}

func TestEntry(t *testing.T) {
	for text, args := range map[string]udf.Args{
		"hot_pixel(percentile=99.9)":                        nil,
		"hot_pixel(percentile=95)":                          {"percentile": "95"},
		"hot_pixel(sigma=3)":                                {"sigma": "3"},
		"hot_pixel(rate=20, from=-1000000us, to=2000000us)": {"rate": "20", "from": "-1s", "to": "2s"},
	} {
		if f, err := Entry.Make(args); err != nil || f.String() != text {
			t.Errorf("%v: %v, %v", args, f, err)
		}
	}
	for _, bad := range []udf.Args{
		{"percentile": "101"}, {"percentile": "x"}, {"sigma": "-1"}, {"rate": "-1"}, {"sigma": "3", "rate": "20"}, {"percentile": "95", "sigma": "3"},
		{"from": "2s", "to": "1s"}, {"from": "soon"}, {"to": "later"},
	} {
		if f, err := Entry.Make(bad); err == nil {
			t.Errorf("%v made %v", bad, f)
		}
	}
	for _, bad := range []Filter{New(Percentile(100.1)), New(Percentile(math.NaN())), New(Sigma(-1)), New(Rate(math.Inf(1)))} {
		if _, err := bad.Open(filtertest.Size); !errors.Is(err, ErrLevel) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := New(During(5, 5)).Open(filtertest.Size); err == nil {
		t.Error("an empty range was opened")
	}
}

func BenchmarkSift(b *testing.B) { filtertest.Bench(b, New()) }

func BenchmarkLearn(b *testing.B) {
	g := event.Geometry{Width: 1280, Height: 720}
	scene := eventtest.Scene(1, 1<<20, g)
	s, err := New().Open(g)
	if err != nil {
		b.Fatal(err)
	}
	l := s.(udf.Learner)
	for b.Loop() {
		if err := l.Learn(scene); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(scene.Len())/b.Elapsed().Seconds()/1e6, "Mevents/s")
	if err := l.Learned(); err != nil {
		b.Fatal(err)
	}
}

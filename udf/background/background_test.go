package background

import (
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf/filtertest"
)

type pixel struct{ x, y int }

// naive asks every pixel of the sensor, with a map and 64-bit times.
func naive(f Filter) func(event.Batch) []bool {
	return func(b event.Batch) []bool {
		last := map[pixel]int64{}
		keep := make([]bool, b.Len())
		for i, t := range b.T() {
			at := pixel{int(b.X()[i]), int(b.Y()[i])}
			n := 0
			for y := max(at.y-1, 0); y <= min(at.y+1, filtertest.Size.Height-1); y++ {
				for x := max(at.x-1, 0); x <= min(at.x+1, filtertest.Size.Width-1); x++ {
					if (x == at.x && y == at.y) || f.Four && x != at.x && y != at.y {
						continue
					}
					fired, ok := last[pixel{x, y}]
					if ok && uint64(t)-uint64(fired) < uint64(f.Window) || f.FromZero && t >= 0 && t < f.Window {
						n++
					}
				}
			}
			last[at] = t
			keep[i] = n >= f.Neighbours
		}
		return keep
	}
}

func TestConformance(t *testing.T) {
	for _, f := range []Filter{
		{Window: 2000, Neighbours: 1}, {Window: 2000, Neighbours: 3}, {Window: 500, Neighbours: 8}, {Window: 1, Neighbours: 1},
		{Window: 1 << 31, Neighbours: 8}, {Window: 2000, Neighbours: 1, Four: true}, {Window: 500, Neighbours: 2, Four: true},
	} {
		t.Run(f.String(), func(t *testing.T) { filtertest.Run(t, f, naive(f)) })
	}
}

// On a sensor of unknown size the border is not known, so time 0 is tried on one that is.
func TestFromZero(t *testing.T) {
	for _, f := range []Filter{
		{Window: 20_000, Neighbours: 1, FromZero: true}, {Window: 20_000, Neighbours: 4, Four: true, FromZero: true}, {Window: 500, Neighbours: 6, FromZero: true},
	} {
		for name, b := range filtertest.Recordings() {
			want := naive(f)(b)
			for _, batch := range []int{1, 7, 65536} {
				for i, k := range filtertest.Sift(t, f, b, filtertest.Size, batch) {
					if k != want[i] {
						t.Fatalf("%v, %s, in batches of %d: event %d is kept: %v", f, name, batch, i, k)
					}
				}
			}
		}
	}
}

// The border of a sensor has fewer neighbours, and a sensor of one pixel none.
func TestOnePixel(t *testing.T) {
	b := event.New([]int64{0, 1, 2}, make([]uint16, 3), make([]uint16, 3), nil)
	for _, f := range []Filter{{Window: 100, Neighbours: 1}, {Window: 100, Neighbours: 1, FromZero: true}} {
		for i, k := range filtertest.Sift(t, f, b, event.Geometry{Width: 1, Height: 1}, 2) {
			if k {
				t.Errorf("%v: event %d is kept by a neighbour that is not there", f, i)
			}
		}
	}
}

// A pixel's support is its neighbours', so a predicate on polarity or place before the filter changes the answer; a
// larger window or fewer neighbours only ever keep more.
func TestMonotone(t *testing.T) {
	b := eventtest.Recording(7, 5000, filtertest.Size)
	strict := filtertest.Sift(t, Filter{Window: 300, Neighbours: 2, Four: true}, b, filtertest.Size, 999)
	for _, f := range []Filter{{Window: 400, Neighbours: 2, Four: true}, {Window: 300, Neighbours: 1, Four: true}, {Window: 300, Neighbours: 2}} {
		more := 0
		for i, k := range filtertest.Sift(t, f, b, filtertest.Size, 999) {
			if strict[i] && !k {
				t.Fatalf("%v drops event %d, which a stricter one keeps", f, i)
			}
			if k && !strict[i] {
				more++
			}
		}
		if more == 0 {
			t.Errorf("%v keeps no more than a stricter one; the test shows nothing", f)
		}
	}
}

func TestEntry(t *testing.T) {
	f, err := Entry.Make(map[string]string{"window": "5ms", "neighbours": "4", "neighbourhood": "4", "start": "zero"})
	if err != nil || f != (Filter{Window: 5000, Neighbours: 4, Four: true, FromZero: true}) {
		t.Errorf("%v, %v", f, err)
	}
	if f, err := Entry.Make(nil); err != nil || f != (Filter{Window: 2000, Neighbours: 1}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []map[string]string{{"window": "0"}, {"window": "1h"}, {"neighbours": "9"}, {"neighbours": "5", "neighbourhood": "4"}} {
		if f, err := Entry.Make(bad); err == nil {
			t.Errorf("%v made %v", bad, f)
		}
	}
	for _, bad := range []Filter{{Window: 0, Neighbours: 1}, {Window: 1<<31 + 1, Neighbours: 1}, {Window: 1, Neighbours: 9}, {Window: 1, Neighbours: 0}} {
		if _, err := bad.Open(filtertest.Size); err == nil {
			t.Errorf("%v was opened", bad)
		}
	}
}

func BenchmarkSift(b *testing.B) {
	for _, f := range []Filter{{Window: 2000, Neighbours: 1}, {Window: 2000, Neighbours: 1, Four: true}} {
		b.Run(f.String(), func(b *testing.B) { filtertest.Bench(b, f) })
	}
}

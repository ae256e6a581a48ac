// Package filtertest is the conformance suite of a filter with memory.
//
// It knows filters and recordings in memory; it refuses to know what any filter is for.
package filtertest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf"
)

// Size is the sensor of the suite's recordings: small, so that pixels fire often.
var Size = event.Geometry{Width: 16, Height: 12}

// Run holds a filter to what every filter promises: the answer depends neither on how the stream is cut into batches
// nor on where time begins, an unknown size of the sensor changes nothing, only the columns it names are read,
// events off the sensor are kept and pass unseen, and no input makes it panic. naive is the same filter said plainly,
// for a whole recording on the sensor: which events it keeps.
func Run(t *testing.T, f udf.Filter, naive func(b event.Batch) []bool) {
	t.Helper()
	for name, b := range Recordings() {
		t.Run(name, func(t *testing.T) {
			want := naive(b)
			for _, g := range []event.Geometry{Size, {}} {
				for _, batch := range []int{1, 7, 65536} {
					if d := differ(b, Sift(t, f, b, g, batch), want); d != "" {
						t.Errorf("%v on a sensor of size %v, in batches of %d: %s", f, g, batch, d)
					}
				}
			}
			if d := differ(b, Sift(t, f, only(b, f.Columns()), Size, 100), want); d != "" {
				t.Errorf("%v reads more than the columns %v, which it names: %s", f, f.Columns(), d)
			}
			if f.Columns()&event.ColX != 0 {
				offSensor(t, f, b, want)
			}
		})
	}
	t.Run("hostile", func(t *testing.T) { hostile(t, f) })
}

// Sift returns which events of b a filter keeps, given in batches of at most so many events. It fails the test on
// an error.
func Sift(t testing.TB, f udf.Filter, b event.Batch, g event.Geometry, batch int) []bool {
	t.Helper()
	keep, err := sift(f, b, g, batch)
	if err != nil {
		t.Fatalf("%v: %v", f, err)
	}
	return keep
}

func sift(f udf.Filter, b event.Batch, g event.Geometry, batch int) ([]bool, error) {
	s, err := f.Open(g)
	if err != nil {
		return nil, err
	}
	if l, ok := s.(udf.Learner); ok {
		if err := cut(b, batch, func(_, _ int, b event.Batch) error { return l.Learn(b) }); err != nil {
			return nil, err
		}
		if err := l.Learned(); err != nil {
			return nil, err
		}
	}
	keep := slices.Repeat([]bool{true}, b.Len())
	return keep, cut(b, batch, func(lo, hi int, b event.Batch) error { return s.Sift(b, keep[lo:hi]) })
}

func cut(b event.Batch, batch int, do func(lo, hi int, b event.Batch) error) error {
	for lo := 0; lo < b.Len(); lo += batch {
		hi := min(lo+batch, b.Len())
		if err := do(lo, hi, b.Slice(lo, hi)); err != nil {
			return err
		}
	}
	return nil
}

// Kept copies the events of b that are kept.
func Kept(b event.Batch, keep []bool) event.Batch {
	out := event.NewBuffer(b.Len())
	for i, k := range keep {
		if k {
			out.Append(b.T()[i], b.X()[i], b.Y()[i], b.P()[i])
		}
	}
	return out.Batch()
}

// Shift returns the events of b so much later.
func Shift(b event.Batch, by int64) event.Batch {
	ts := make([]int64, b.Len())
	for i, t := range b.T() {
		ts[i] = t + by
	}
	return event.New(ts, b.X(), b.Y(), b.P())
}

// Recordings are events in time order on a sensor of the suite's Size, by name: ties, bursts, gaps, times that are
// negative, of an epoch, and all the same.
func Recordings() map[string]event.Batch {
	const n = 3000
	plain := eventtest.Recording(5, n, Size)
	zero := Shift(plain, -plain.T()[0])
	dense := make([]int64, n)
	gaps := make([]int64, n)
	for i, t := range zero.T() {
		dense[i] = int64(i / 40) // many duplicates, both polarities at a time
		gaps[i] = t + int64(i/400)*5_000_000_000
	}
	return map[string]event.Batch{
		"plain":      zero,
		"negative":   Shift(zero, -zero.T()[n/2]),
		"epoch":      Shift(zero, 1_600_000_000_000_000),
		"earliest":   Shift(zero, math.MinInt64),
		"latest":     Shift(zero, math.MaxInt64-zero.T()[n-1]),
		"gaps":       event.New(gaps, zero.X(), zero.Y(), zero.P()),
		"dense":      event.New(dense, zero.X(), zero.Y(), zero.P()),
		"equal":      event.New(make([]int64, n), zero.X(), zero.Y(), zero.P()),
		"one":        zero.Slice(0, 1),
		"scene":      eventtest.Scene(6, n, Size),
		"afterwards": Shift(zero.Slice(n/2, n), 12345),
	}
}

// only leaves out the columns that are not asked for.
func only(b event.Batch, c event.Columns) event.Batch {
	var x, y []uint16
	var p []int8
	if c&event.ColX != 0 {
		x = b.X()
	}
	if c&event.ColY != 0 {
		y = b.Y()
	}
	if c&event.ColP != 0 {
		p = b.P()
	}
	return event.New(b.T(), x, y, p)
}

// offSensor puts an event off the sensor after every third of b. They must be kept, and change nothing.
func offSensor(t *testing.T, f udf.Filter, b event.Batch, want []bool) {
	t.Helper()
	out := event.NewBuffer(2 * b.Len())
	var expect []bool
	w, h := uint16(Size.Width), uint16(Size.Height)
	for i := range b.Len() {
		out.Append(b.T()[i], b.X()[i], b.Y()[i], b.P()[i])
		expect = append(expect, want[i])
		if i%3 == 0 {
			x, y := []uint16{w, 0, w, math.MaxUint16}[i%4], []uint16{0, h, h, math.MaxUint16}[i%4]
			out.Append(b.T()[i], x, y, b.P()[i])
			expect = append(expect, true)
		}
	}
	mixed := out.Batch()
	if d := differ(mixed, Sift(t, f, mixed, Size, 64), expect); d != "" {
		t.Errorf("%v, with events off the sensor: %s", f, d)
	}
}

// hostile feeds what no sound stream holds: it may end in any answer or error but a panic.
func hostile(t *testing.T, f udf.Filter) {
	for _, ts := range [][]int64{
		{math.MinInt64, math.MaxInt64}, {math.MinInt64, -1, 0, math.MaxInt64, math.MaxInt64}, {5, 4, math.MaxInt64, math.MinInt64, 0},
	} {
		n := len(ts)
		b := event.New(ts, make([]uint16, n), make([]uint16, n), make([]int8, n))
		for _, batch := range []int{1, n} {
			if _, err := sift(f, b, Size, batch); err != nil {
				t.Logf("%v: %v: %v", f, ts, err)
			}
		}
	}
	if f.Columns()&event.ColX == 0 {
		return
	}
	far := event.New([]int64{0, 1}, []uint16{0, math.MaxUint16}, []uint16{0, math.MaxUint16}, []int8{0, 1})
	if _, err := sift(f, far, event.Geometry{}, 2); err != nil && !errors.Is(err, udf.ErrSize) {
		t.Errorf("%v: pixels all over: %v, not that the size must be given", f, err)
	}
}

// differ names the first event that is kept in one answer only.
func differ(b event.Batch, got, want []bool) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d answers, not %d", len(got), len(want))
	}
	for i, w := range want {
		if got[i] != w {
			at := ""
			if len(b.X()) > 0 && len(b.Y()) > 0 {
				at = fmt.Sprintf(" at %d,%d", b.X()[i], b.Y()[i])
			}
			return fmt.Sprintf("event %d, t=%d%s: kept is %v, not %v", i, b.T()[i], at, got[i], w)
		}
	}
	return ""
}

// Bench times the sifting of a scene on a sensor of 1280x720, in batches of 65,536 events, and reports events per
// second.
func Bench(b *testing.B, f udf.Filter) {
	g := event.Geometry{Width: 1280, Height: 720}
	const batch = 1 << 16
	scene := eventtest.Scene(1, 16*batch, g)
	s, err := f.Open(g)
	if err != nil {
		b.Fatal(err)
	}
	if l, ok := s.(udf.Learner); ok {
		if err := errors.Join(l.Learn(scene), l.Learned()); err != nil {
			b.Fatal(err)
		}
	}
	yes := slices.Repeat([]bool{true}, batch)
	keep := make([]bool, batch)
	span := scene.T()[scene.Len()-1] + 1
	var events, round int64
	for b.Loop() {
		at := int(events) % scene.Len()
		if at == 0 && round > 0 { // the scene again, later
			b.StopTimer()
			scene = Shift(scene, span)
			b.StartTimer()
		}
		round++
		copy(keep, yes)
		if err := s.Sift(scene.Slice(at, at+batch), keep); err != nil {
			b.Fatal(err)
		}
		events += batch
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

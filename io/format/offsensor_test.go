package format

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

func TestOffSensor(t *testing.T) {
	in := batch([4]int64{1, 2, 1, 5}, [4]int64{1308, 10, 0, 6}, [4]int64{65535, 10, 1, 7}, [4]int64{1279, 719, 0, 8}, [4]int64{0, 720, 0, 9})
	kept := batch([4]int64{1, 2, 1, 5}, [4]int64{1279, 719, 0, 8})
	for _, c := range []struct {
		name   string
		policy Policy
		sensor event.Geometry
		want   event.Batch
		off    event.Tally
	}{
		{"drop", Policy{}, hd, kept, event.Tally{N: 3, First: 1, Lost: 3}},
		{"keep", Policy{OnOffSensor: Keep}, hd, in, event.Tally{N: 3, First: 1}},
		{"unknown", Policy{}, event.Geometry{}, in, event.Tally{}},
		{"size", Policy{Size: hd}, event.Geometry{Width: 2000, Height: 2000}, kept, event.Tally{N: 3, First: 1, Lost: 3}},
	} {
		for _, n := range []int{1, 2, 100} {
			f := &fake{events: in, batch: n}
			got, rep, err := Drain(t.Context(), f.source(c.sensor, c.policy))
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if d := eventtest.Diff(got, c.want); d != "" {
				t.Errorf("%s: %s", c.name, d)
			}
			if rep.Get(event.OffSensor) != c.off || rep.MaxX != 65535 || rep.MaxY != 720 || rep.Events != int64(c.want.Len()) {
				t.Errorf("%s: %+v, max %d, %d", c.name, rep.Get(event.OffSensor), rep.MaxX, rep.MaxY)
			}
			if f.open != 0 {
				t.Errorf("%s: %d decoders left open", c.name, f.open)
			}
		}
	}
	_, rep, err := Drain(t.Context(), (&fake{events: in, batch: 2}).source(hd, Policy{Strict: true}))
	var off *OffSensorError
	if !errors.As(err, &off) || off.Index != 1 || off.X != 1308 || off.Y != 10 || off.Sensor != hd {
		t.Errorf("error: %v", err)
	}
	if !strings.Contains(err.Error(), "--on-offsensor") || !strings.Contains(err.Error(), "--size") {
		t.Errorf("no hint in %q", err)
	}
	if rep.Events != 0 {
		t.Errorf("%d events before the error of their buffer", rep.Events)
	}
}

func TestSizeWins(t *testing.T) {
	src := (&fake{events: batch([4]int64{1, 1, 1, 1}), batch: 1}).source(event.Geometry{Width: 640, Height: 480}, Policy{Size: hd})
	if src.Geometry() != hd || src.Info().Geometry != hd {
		t.Errorf("geometry %v, info %v", src.Geometry(), src.Info().Geometry)
	}
	_, rep, err := Drain(t.Context(), src)
	if err != nil || len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "640x480") {
		t.Errorf("notes %q, %v", rep.Notes, err)
	}
}

func TestOffSensorHint(t *testing.T) {
	sensor := event.Geometry{Width: 346, Height: 260}
	many := func(n int, extra ...[4]int64) event.Batch {
		b := event.NewBuffer(n)
		for i := range n {
			b.Append(int64(i), uint16(i%346), uint16(i%260), 1)
		}
		b.AppendBatch(batch(extra...))
		return b.Batch()
	}
	for _, c := range []struct {
		name string
		in   event.Batch
		p    Policy
		hint string // in the error; "" = none
	}{
		{"inside", many(1000), Policy{}, ""},
		{"a stray one", many(1000, [4]int64{639, 5, 1, 2000}), Policy{}, ""},
		{"exactly 1 %", many(99, [4]int64{639, 5, 1, 2000}), Policy{}, ""},
		{"over 1 %", many(98, [4]int64{639, 5, 1, 2000}), Policy{}, "--size"},
		{"exchanged", batch([4]int64{259, 0, 1, 1}, [4]int64{3, 345, 1, 2}), Policy{}, "--swap-xy"},
		{"exchanged and kept", batch([4]int64{259, 0, 1, 1}, [4]int64{3, 345, 1, 2}), Policy{OnOffSensor: Keep}, "--swap-xy"},
		{"put right", batch([4]int64{259, 0, 1, 1}, [4]int64{3, 345, 1, 2}), Policy{SwapXY: true}, ""},
	} {
		_, rep, err := Drain(t.Context(), (&fake{events: c.in, batch: 50}).source(sensor, c.p))
		if err != nil {
			t.Fatal(err)
		}
		err = OffSensorHint(rep, sensor)
		if (err == nil) != (c.hint == "") || err != nil && !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSwapXY(t *testing.T) {
	f := &fake{events: batch([4]int64{1, 2, 1, 5}, [4]int64{3, 4, 0, 6}), batch: 10}
	src := f.source(hd, Policy{SwapXY: true})
	want := event.All
	want.Box.X0, want.Box.X1 = 4, 4 // y of the file
	got := eventtest.Drain(t, src, want)
	if d := eventtest.Diff(got, batch([4]int64{4, 3, 0, 6})); d != "" {
		t.Error(d)
	}
}

func BenchmarkPlaced(b *testing.B) {
	scene := eventtest.Scene(1, 1<<16, hd)
	buf := event.NewBuffer(scene.Len())
	buf.AppendBatch(scene)
	s := &placed{policy: Drop, sensor: hd, rep: &event.Report{}}
	for b.Loop() {
		if err := s.check(buf, 0); err != nil || buf.Len() != scene.Len() {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(scene.Len()), "ns/event")
}

func TestLargest(t *testing.T) {
	for n := range 20 {
		for at := range n {
			v := make([]uint16, n)
			v[at] = uint16(7 + n)
			if got := largest(v); got != v[at] {
				t.Errorf("%d of %d: %d", at, n, got)
			}
		}
	}
	if largest(nil) != 0 {
		t.Error("nothing has a largest")
	}
}

// The largest number is found wherever it stands, with and without its top bit.
func TestLargestOfAny(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 2000 {
		v := make([]uint16, r.IntN(200))
		most := 1 << (1 + r.IntN(16))
		var want uint16
		for i := range v {
			v[i] = uint16(r.IntN(most))
			want = max(want, v[i])
		}
		if from := min(r.IntN(4), len(v)); from > 0 { // as it may lie in memory
			v = v[from:]
			want = 0
			for _, x := range v {
				want = max(want, x)
			}
		}
		if got := largest(v); got != want {
			t.Fatalf("%d, want %d: %v", got, want, v)
		}
	}
}

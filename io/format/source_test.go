package format

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/order"
)

// A fake format decodes events from memory, a few at a time, with one trigger before each buffer. It skips
// what the request lets it skip, as a format may.
type fake struct {
	events event.Batch
	batch  int
	wants  []event.Request
	open   int
	fail   error
}

func (f *fake) decode(_ context.Context, want event.Request, _ *event.Report) (Decoder, error) {
	f.wants = append(f.wants, want)
	f.open++
	return &fakeDecoder{fake: f, want: want}, nil
}

type fakeDecoder struct {
	*fake
	want event.Request
	at   int
}

func (d *fakeDecoder) Next(context.Context) (*event.Buffer, error) {
	for d.at < d.events.Len() {
		part := d.events.Slice(d.at, min(d.at+d.batch, d.events.Len()))
		d.at += part.Len()
		if d.want.Triggers != nil {
			if err := d.want.Triggers([]event.Trigger{{T: part.T()[0], Channel: 1}}); err != nil {
				return nil, err
			}
		}
		b := event.NewBuffer(part.Len())
		for i, t := range part.T() {
			x, y, p, box := part.X()[i], part.Y()[i], part.P()[i], d.want.Box
			if t >= box.T0 && t <= box.T1 && x >= box.X0 && x <= box.X1 && y >= box.Y0 && y <= box.Y1 && p >= box.P0 && p <= box.P1 {
				b.Append(t, x, y, p)
			}
		}
		d.trim(b)
		if b.Len() > 0 {
			return b, nil
		}
	}
	if d.fail != nil {
		return nil, d.fail
	}
	return nil, io.EOF
}

// trim leaves out the columns that were not asked for.
func (d *fakeDecoder) trim(b *event.Buffer) {
	if !d.want.Columns.Has(event.ColX) {
		b.X = b.X[:0]
	}
	if !d.want.Columns.Has(event.ColY) {
		b.Y = b.Y[:0]
	}
	if !d.want.Columns.Has(event.ColP) {
		b.P = b.P[:0]
	}
}

func (d *fakeDecoder) Close() error { d.open--; return nil }

func (f *fake) source(g event.Geometry, p Policy) event.Source {
	return NewSource(Recording{Info: event.Info{Name: "fake.raw", Format: "fake", Geometry: g, Events: -1}, Policy: p, Decode: f.decode})
}

// batch makes events from (x, y, p, t).
func batch(rows ...[4]int64) event.Batch {
	b := event.NewBuffer(len(rows))
	for _, r := range rows {
		b.Append(r[3], uint16(r[0]), uint16(r[1]), int8(r[2]))
	}
	return b.Batch()
}

var hd = event.Geometry{Width: 1280, Height: 720}

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

func TestOrderPolicies(t *testing.T) {
	in := batch([4]int64{1, 1, 1, 1_000_000}, [4]int64{2, 2, 0, 2_000_000}, [4]int64{3, 3, 1, 1_000_001}, [4]int64{4, 4, 0, 2_000_005})
	for _, c := range []struct {
		policy Choice
		t      []int64
		x      []uint16
		lost   bool
	}{
		{Sort, []int64{1_000_000, 1_000_001, 2_000_000, 2_000_005}, []uint16{1, 3, 2, 4}, false},
		{Clamp, []int64{1_000_000, 2_000_000, 2_000_000, 2_000_005}, []uint16{1, 2, 3, 4}, false},
		{Drop, []int64{1_000_000, 2_000_000, 2_000_005}, []uint16{1, 2, 4}, true},
	} {
		for _, n := range []int{1, 3, 10} {
			got, rep, err := Drain(t.Context(), (&fake{events: in, batch: n}).source(hd, Policy{OnUnsorted: c.policy}))
			if err != nil || !slices.Equal(got.T(), c.t) || !slices.Equal(got.X(), c.x) {
				t.Errorf("%s: %v %v %v", c.policy, got.T(), got.X(), err)
			}
			if u := rep.Get(event.Unsorted); u.N != 1 || u.First != 2 || rep.Lost() != c.lost {
				t.Errorf("%s: %+v", c.policy, u)
			}
		}
	}
	_, _, err := Drain(t.Context(), (&fake{events: in, batch: 3}).source(hd, Policy{Strict: true}))
	var u *order.UnsortedError
	if !errors.As(err, &u) || u.Index != 2 || u.Step != 999_999 {
		t.Errorf("strict: %v", err)
	}
}

func TestZero(t *testing.T) {
	in := batch([4]int64{9, 9, 1, 700}, [4]int64{1, 1, 1, 500}, [4]int64{2, 2, 1, 900}, [4]int64{5000, 2, 1, 100})
	plain, _, err := Drain(t.Context(), (&fake{events: in, batch: 2}).source(hd, Policy{}))
	if err != nil {
		t.Fatal(err)
	}
	src := (&fake{events: in, batch: 2}).source(hd, Policy{Zero: true})
	part := event.All
	part.Box.T0, part.Box.X1 = 200, 2 // the recording's first event lies outside
	for scan := range 2 {             // before the shift is known, and after
		got := eventtest.Drain(t, src, part)
		i := slices.Index(got.T(), 400)
		if i < 0 || got.X()[i] != 2 {
			t.Errorf("scan %d: times %v, want 400 among them", scan, got.T())
		}
	}
	got, rep, err := Drain(t.Context(), src)
	if err != nil || rep.Shift != 500 || got.Len() != plain.Len() {
		t.Fatalf("shift %d, %d events, %v", rep.Shift, got.Len(), err)
	}
	for i, v := range got.T() {
		if plain.T()[i]-v != rep.Shift {
			t.Errorf("event %d: %d is not %d less than %d", i, v, rep.Shift, plain.T()[i])
		}
	}
}

func TestZeroShiftsTriggers(t *testing.T) {
	in := batch([4]int64{1, 1, 1, 700}, [4]int64{1, 1, 1, 500}, [4]int64{2, 2, 1, 900_000})
	src := (&fake{events: in, batch: 1}).source(hd, Policy{Zero: true})
	for scan := range 2 {
		var got []int64
		want := event.All
		want.Triggers = func(tr []event.Trigger) error {
			for _, v := range tr {
				got = append(got, v.T)
			}
			return nil
		}
		eventtest.Drain(t, src, want)
		if !slices.Equal(got, []int64{200, 0, 899_500}) {
			t.Errorf("scan %d: triggers at %v", scan, got)
		}
	}
	// Without events there is nothing to subtract.
	var held shift
	var got []event.Trigger
	held.init(&start{}, func(tr []event.Trigger) error { got = append(got, tr...); return nil })
	if err := errors.Join(held.triggers([]event.Trigger{{T: 7}}), held.flush()); err != nil || len(got) != 1 || got[0].T != 7 {
		t.Errorf("%v, %v", got, err)
	}
}

// What a decoder may leave out must not change what the policies make of the rest.
func TestDecodedRequest(t *testing.T) {
	part := event.Request{Box: event.Box{T0: 5, T1: 9, X0: 1, X1: 2, Y0: 3, Y1: 4, P0: 1, P1: 1}, Columns: event.ColP}
	for _, c := range []struct {
		name   string
		p      Policy
		sensor event.Geometry
		box    event.Box
		cols   event.Columns
	}{
		{"sort", Policy{}, hd, part.Box, event.AllColumns},
		{"unknown size", Policy{}, event.Geometry{}, part.Box, event.ColP},
		{"keep", Policy{OnOffSensor: Keep}, hd, part.Box, event.ColP},
		{"clamp", Policy{OnUnsorted: Clamp}, hd, event.Everything, event.AllColumns},
		{"drop", Policy{OnUnsorted: Drop}, hd, event.Everything, event.AllColumns},
		{"strict", Policy{Strict: true}, hd, event.Everything, event.AllColumns},
		{"zero", Policy{Zero: true}, hd, event.Everything, event.AllColumns},
		{"swap", Policy{SwapXY: true}, hd, event.Box{T0: 5, T1: 9, X0: 3, X1: 4, Y0: 1, Y1: 2, P0: 1, P1: 1}, event.AllColumns},
	} {
		got := (&fake{}).source(c.sensor, c.p).(*source).decoded(part)
		if got.Box != c.box || got.Columns != c.cols {
			t.Errorf("%s: %+v %v", c.name, got.Box, got.Columns)
		}
	}
}

func TestColumns(t *testing.T) {
	in := eventtest.Recording(1, 5000, hd)
	mixed := event.NewBuffer(in.Len()) // out of order, so that every path copies columns
	mixed.AppendBatch(in)
	slices.Reverse(mixed.T)
	for _, cols := range []event.Columns{0, event.ColX, event.ColP, event.ColY | event.ColP} {
		for _, p := range []Choice{Sort, Clamp, Drop} {
			for _, mem := range []int64{0, 1} {
				f := &fake{events: mixed.Batch(), batch: 300}
				src := f.source(event.Geometry{}, Policy{OnUnsorted: p, Memory: mem, TempDir: t.TempDir()})
				all := eventtest.Drain(t, src, event.All)
				some := eventtest.Drain(t, src, event.Request{Box: event.Everything, Columns: cols})
				pick := func(c event.Columns, has bool) bool { return has == cols.Has(c) }
				if !pick(event.ColX, some.X() != nil) || !pick(event.ColY, some.Y() != nil) || !pick(event.ColP, some.P() != nil) {
					t.Errorf("%v %s: columns %v %v %v", cols, p, some.X() != nil, some.Y() != nil, some.P() != nil)
				}
				if !slices.Equal(some.T(), all.T()) || some.X() != nil && !slices.Equal(some.X(), all.X()) ||
					some.Y() != nil && !slices.Equal(some.Y(), all.Y()) || some.P() != nil && !slices.Equal(some.P(), all.P()) {
					t.Errorf("%v %s: other events than with all columns", cols, p)
				}
			}
		}
	}
}

func TestStreamEnds(t *testing.T) {
	broken := &SyntaxError{"fake", 0x1a2b, "bad word"}
	f := &fake{events: eventtest.Recording(2, 100, hd), batch: 10, fail: broken}
	src := f.source(hd, Policy{})
	st, err := src.Scan(t.Context(), event.All)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = st.Next(t.Context())
	}
	_, again := st.Next(t.Context())
	if !errors.Is(err, broken) || !errors.Is(again, broken) || st.Report().Events != 100 {
		t.Errorf("%v, %v after %d events", err, again, st.Report().Events)
	}
	if err := errors.Join(st.Close(), st.Close()); err != nil || f.open != 0 {
		t.Errorf("close: %v, %d decoders open", err, f.open)
	}

	ctx, cancel := context.WithCancel(t.Context())
	f.fail = nil
	if st, err = src.Scan(ctx, event.All); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err = st.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := st.Close(); err != nil || f.open != 0 {
		t.Errorf("close: %v, %d decoders open", err, f.open)
	}
	fresh := f.source(hd, Policy{})
	if _, err = fresh.Scan(ctx, event.All); !errors.Is(err, context.Canceled) {
		t.Error("a cancelled scan that must probe started")
	}
	if f.open != 0 {
		t.Errorf("%d decoders left open", f.open)
	}
}

func TestAddSaturated(t *testing.T) {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	for _, c := range [][3]int64{{1, 2, 3}, {hi, -5, hi}, {lo, 5, lo}, {hi - 1, 5, hi}, {lo + 1, -5, lo}, {-3, 1, -2}} {
		if got := addSaturated(c[0], c[1]); got != c[2] {
			t.Errorf("%d + %d = %d, want %d", c[0], c[1], got, c[2])
		}
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

package format

import (
	"context"
	"errors"
	"io"
	"slices"
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
	broken := &SyntaxError{Format: "fake", Offset: 0x1a2b, Msg: "bad word"}
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

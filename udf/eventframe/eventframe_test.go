package eventframe

import (
	"context"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// plain is the definition: a slice for each event by a division.
func plain(f Frame, g event.Geometry, b event.Batch, w event.Window) []int64 {
	out := make([]int64, f.Layout(g).Shape.Len())
	from, to := f.Timebase.Span(b.T(), w)
	for i, t := range b.T() {
		x, y, p := int(b.X()[i]), int(b.Y()[i]), int(b.P()[i])
		if x >= g.Width || y >= g.Height {
			continue
		}
		var bin int
		if f.Variant == Tonic {
			length := (to - from) / int64(f.Bins)
			if length == 0 || (t-from)/length >= int64(f.Bins) {
				continue
			}
			bin = int((t - from) / length)
		} else {
			hi, lo := bits.Mul64(uint64(t-from), uint64(f.Bins))
			q, _ := bits.Div64(hi, lo, uint64(max(to-from, 1)))
			bin = min(int(q), f.Bins-1)
		}
		if f.Signed {
			out[(bin*g.Height+y)*g.Width+x] += int64(2*p - 1)
		} else {
			out[((bin*2+p)*g.Height+y)*g.Width+x]++
		}
	}
	limit := int64(f.limit())
	for i, n := range out {
		out[i] = max(min(n, limit), -limit)
	}
	return out
}

// The frames are those of the definition, for windows of one encoder.
func TestPlainRule(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for seed := range uint64(60) {
		g := event.Geometry{Width: 1 + r.IntN(30), Height: 1 + r.IntN(30)}
		b := eventtest.Recording(seed, 3000, event.Geometry{Width: g.Width + 1, Height: g.Height + 1})
		f := Frame{Bins: 1 + r.IntN(12), Variant: Variant(r.IntN(2)), Signed: r.IntN(2) == 0, Mode: Mode(r.IntN(2)), Cutoff: r.IntN(3), Timebase: udf.Timebase(r.IntN(2))}
		e, err := f.Open(g, cpu.Device)
		if err != nil {
			t.Fatal(err)
		}
		off := int64(0)
		for range 5 {
			lo := r.IntN(b.Len())
			w := event.Window{Lo: lo, Hi: lo + 1 + r.IntN(b.Len()-lo)}
			w.Start, w.End = b.T()[w.Lo]-5, b.T()[w.Hi-1]+7
			block := []tensor.Block{{Data: make([]byte, f.Layout(g).Bytes())}}
			if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: []event.Window{w}}, block); err != nil {
				t.Fatal(err)
			}
			part := b.Slice(w.Lo, w.Hi)
			for i, x := range part.X() {
				if int(x) >= g.Width || int(part.Y()[i]) >= g.Height {
					off++
				}
			}
			for i, want := range plain(f, g, part, w) {
				if got := int64(int32(binary.LittleEndian.Uint32(block[0].Data[4*i:]))); got != want {
					t.Fatalf("%v on %v: value %d is %d, want %d", f, g, i, got, want)
				}
			}
		}
		if e.OffSensor() != off {
			t.Errorf("%v: %d events off the sensor, want %d", f, e.OffSensor(), off)
		}
	}
}

// Of a window without a slice of a microsecond nothing is left as in tonic, and the encoder says so.
func TestNotes(t *testing.T) {
	g := event.Geometry{Width: 4, Height: 4}
	b := event.New([]int64{5, 9}, []uint16{1, 1}, []uint16{1, 1}, []int8{1, 1})
	for f, want := range map[Frame]int{{Bins: 5, Variant: Tonic}: 1, {Bins: 4, Variant: Tonic}: 0, {Bins: 5}: 0} {
		e, err := f.Open(g, cpu.Device)
		if err != nil {
			t.Fatal(err)
		}
		block := []tensor.Block{{Data: make([]byte, f.Layout(g).Bytes())}}
		for range 3 {
			if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: []event.Window{{Hi: 2}}}, block); err != nil {
				t.Fatal(err)
			}
		}
		notes := e.(udf.Noter).Notes()
		if len(notes) != want || want > 0 && !strings.Contains(notes[0], "3 windows") {
			t.Errorf("%v: notes %q", f, notes)
		}
	}
}

func TestEntry(t *testing.T) {
	for call, want := range map[string]string{
		"e": "event_frame(bins=1)", "e:bins=3,variant=tonic,signed=true,mode=binary": "event_frame(bins=3, variant=tonic, signed=true, mode=binary)",
		"e:cutoff=4,timebase=window": "event_frame(bins=1, cutoff=4, timebase=window)",
		"e:cutoff=0":                 "", "e:bins=0": "", "e:mode=sum": "", "e:signed=1": "", "e:variant=evlib": "",
	} {
		_, args, err := udf.ParseCall(call)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Entry.Make(args)
		if (err == nil) != (want != "") || err == nil && r.String() != want {
			t.Errorf("%s: %v, %v", call, r, err)
		}
	}
	for _, f := range []Frame{{}, {Bins: 1, Cutoff: -1}, {Bins: 1, Mode: 9}} {
		if _, err := f.Open(event.Geometry{Width: 1, Height: 1}, cpu.Device); err == nil {
			t.Errorf("%+v was accepted", f)
		}
	}
}

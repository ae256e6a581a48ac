package timesurface

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/decay"
)

// plain is the definition: the last event of each pixel, and an exponential.
func plain(s Surface, g event.Geometry, b event.Batch, end int64) []float64 {
	out := make([]float64, 2*g.Width*g.Height)
	for i, t := range b.T() {
		x, y, p := int(b.X()[i]), int(b.Y()[i]), int(b.P()[i])
		if x >= g.Width || y >= g.Height {
			continue
		}
		v := math.Exp(-float64(end-t) / float64(s.Tau))
		if s.Decay == decay.Linear {
			v = max(1-float64(end-t)/float64(s.Tau), 0)
		}
		out[(p*g.Height+y)*g.Width+x] = v
	}
	return out
}

// The surface is that of the definition with both memories, for windows that lie apart, too.
func TestPlainRule(t *testing.T) {
	g := event.Geometry{Width: 19, Height: 13}
	b := eventtest.Recording(11, 4000, event.Geometry{Width: 20, Height: 14})
	for _, s := range []Surface{{Tau: 50_000}, {Tau: 1}, {Tau: 300, Decay: decay.Linear}, {Tau: decay.MaxTau}} {
		for _, s.Memory = range []udf.Memory{udf.WindowOnly, udf.Recording} {
			e, err := s.Open(g, cpu.Device)
			if err != nil {
				t.Fatal(err)
			}
			since := 0
			for i := range 12 {
				w := event.Window{Index: i, Lo: 300 * i, Hi: 300*i + 200, Since: since}
				w.End, since = b.T()[w.Hi-1]+int64(i), w.Hi
				block := []tensor.Block{{Data: make([]byte, s.Layout(g).Bytes())}}
				if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: []event.Window{w}}, block); err != nil {
					t.Fatal(err)
				}
				seen := b.Slice(w.Lo, w.Hi)
				if s.Memory == udf.Recording {
					seen = b.Slice(0, w.Hi)
				}
				for k, want := range plain(s, g, seen, w.End) {
					got := math.Float32frombits(binary.LittleEndian.Uint32(block[0].Data[4*k:]))
					if math.Abs(float64(got)-want) > want/(1<<23)+math.SmallestNonzeroFloat32 {
						t.Fatalf("%v, window %d: value %d is %v, want %v", s, i, k, got, want)
					}
				}
			}
		}
	}
}

func TestEntry(t *testing.T) {
	for call, want := range map[string]string{
		"s": "time_surface(tau=50ms)", "s:tau=100,decay=linear": "time_surface(tau=100µs, decay=linear)", "s:memory=recording,tau=1h": "time_surface(tau=1h0m0s, memory=recording)",
		"s:tau=0": "", "s:tau=61m": "", "s:decay=log": "", "s:memory=all": "",
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
	if _, err := (Surface{Tau: 5, Memory: 3}).Open(event.Geometry{Width: 1, Height: 1}, cpu.Device); err == nil {
		t.Error("a memory without a name was accepted")
	}
}

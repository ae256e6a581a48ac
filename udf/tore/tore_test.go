package tore

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
)

// plain is the definition: for each pixel, polarity and depth a walk back through the events.
func plain(v Volume, g event.Geometry, b event.Batch, end int64) (out []float32) {
	for p := range int8(2) {
		for k := range v.K {
			for cell := range g.Width * g.Height {
				left, d := k, float64(v.Max)
				for i := b.Len() - 1; i >= 0; i-- {
					if b.P()[i] == p && int(b.Y()[i]) == cell/g.Width && int(b.X()[i]) == cell%g.Width {
						if left--; left < 0 {
							d = min(float64(end-b.T()[i]), d)
							break
						}
					}
				}
				out = append(out, float32(max(math.Log(d+1)-math.Log(float64(v.Min)+1), 0)))
			}
		}
	}
	return out
}

// Both memories give the definition's values.
func TestPlainRule(t *testing.T) {
	g := event.Geometry{Width: 9, Height: 7}
	b := eventtest.Recording(2, 1500, g)
	for _, v := range []Volume{{K: 3, Min: 150, Max: 5_000_000}, {K: 8, Min: 0, Max: 100_000}, {K: 1, Min: 10, Max: 1 << 40}} {
		for _, v.Memory = range []udf.Memory{udf.WindowOnly, udf.Recording} {
			e, err := v.Open(g, cpu.Device)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range []event.Window{{Lo: 0, Hi: 400}, {Lo: 300, Hi: 700, Since: 400}, {Lo: 1100, Hi: 1500, Since: 700}} {
				w.End = b.T()[w.Hi-1] + 20
				block := []tensor.Block{{Data: make([]byte, v.Layout(g).Bytes())}}
				if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: []event.Window{w}}, block); err != nil {
					t.Fatal(err)
				}
				seen := b.Slice(w.Lo, w.Hi)
				if v.Memory == udf.Recording {
					seen = b.Slice(0, w.Hi)
				}
				for k, want := range plain(v, g, seen, w.End) {
					if got := math.Float32frombits(binary.LittleEndian.Uint32(block[0].Data[4*k:])); got != want {
						t.Fatalf("%v, window %d: value %d is %v, want %v", v, i, k, got, want)
					}
				}
			}
		}
	}
}

func TestEntry(t *testing.T) {
	for call, want := range map[string]string{
		"t": "tore(k=8, min=150µs, max=5s)", "t:k=3,max=1s,memory=window": "tore(k=3, min=150µs, max=1s, memory=window)",
		"t:k=0": "", "t:k=65": "", "t:min=-1": "", "t:min=2s,max=1s": "", "t:memory=none": "",
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
}

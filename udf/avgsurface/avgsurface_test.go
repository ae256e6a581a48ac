package avgsurface

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

// plain is the definition: every pair of events.
func plain(s Surface, g event.Geometry, b event.Batch) []float64 {
	side := 2*s.Radius + 1
	columns, rows := s.cells(g)
	sums, n := make([]float64, columns*rows*2*side*side), make([]float64, columns*rows*2)
	t, x, y, p := b.T(), b.X(), b.Y(), b.P()
	group := func(i int) int { return 2*(int(y[i])/s.Cell*columns+int(x[i])/s.Cell) + int(p[i]) }
	for i := range t {
		n[group(i)]++
		for j := range i + 1 {
			dx, dy := int(x[j])-int(x[i])+s.Radius, int(y[j])-int(y[i])+s.Radius
			if group(j) != group(i) || t[i]-t[j] > s.Span || dx < 0 || dy < 0 || dx >= side || dy >= side {
				continue
			}
			v := math.Exp(-float64(t[i]-t[j]) / float64(s.Tau))
			if s.Decay == decay.Linear {
				v = max(1-float64(t[i]-t[j])/float64(3*s.Tau), 0)
			}
			sums[(group(i)*side+dy)*side+dx] += v
		}
	}
	for i := range sums {
		sums[i] /= max(n[i/side/side], 1)
	}
	return sums
}

// The surface is that of the definition, also where cells are cut off by the sensor's edge.
func TestPlainRule(t *testing.T) {
	g := event.Geometry{Width: 23, Height: 17}
	b := eventtest.Recording(4, 2500, g)
	for _, s := range []Surface{{Cell: 10, Radius: 3, Span: 100_000, Tau: 50_000}, {Cell: 4, Radius: 0, Span: 5_000, Tau: 100}, {Cell: 7, Radius: 9, Span: 50_000, Tau: 9_000, Decay: decay.Linear}} {
		e, err := s.Open(g, cpu.Device)
		if err != nil {
			t.Fatal(err)
		}
		block := []tensor.Block{{Data: make([]byte, s.Layout(g).Bytes())}}
		for _, w := range []event.Window{{Hi: b.Len()}, {Lo: 500, Hi: 700}, {Lo: 5, Hi: 5}} { // one encoder for all
			if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: []event.Window{w}}, block); err != nil {
				t.Fatal(err)
			}
			for i, want := range plain(s, g, b.Slice(w.Lo, w.Hi)) {
				if got := float64(math.Float32frombits(binary.LittleEndian.Uint32(block[0].Data[4*i:]))); math.Abs(got-want) > 1e-6*math.Abs(want) {
					t.Fatalf("%v: value %d is %v, want %v", s, i, got, want)
				}
			}
		}
	}
}

func TestEntry(t *testing.T) {
	for call, want := range map[string]string{
		"a": "averaged_time_surface(cell=10, radius=3, span=100ms, tau=50ms)", "a:decay=linear,cell=4": "averaged_time_surface(cell=4, radius=3, span=100ms, tau=50ms, decay=linear)",
		"a:cell=0": "", "a:radius=128": "", "a:tau=0": "", "a:tau=2h": "", "a:span=-1": "", "a:decay=lin": "",
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
	if _, err := (Surface{Cell: 0, Tau: 1}).Open(event.Geometry{Width: 1, Height: 1}, cpu.Device); err == nil {
		t.Error("cells of no pixel were accepted")
	}
}

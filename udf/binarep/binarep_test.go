package binarep

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// Bits go from the first slice, the most significant, to the last; a second event in a slice changes nothing.
func TestValues(t *testing.T) {
	g := event.Geometry{Width: 1, Height: 1}
	b := event.New([]int64{0, 1, 25, 40, 79, 80}, make([]uint16, 6), make([]uint16, 6), []int8{1, 1, 0, 1, 1, 1})
	for f, want := range map[Frames][]float64{
		{Frames: 1, Bits: 8}:                         {0b00100000 / 255.0, 0b10001001 / 255.0},
		{Frames: 2, Bits: 4}:                         {0b0010 / 15.0, 0b1000 / 15.0, 0, 0b1001 / 15.0},
		{Frames: 1, Bits: 1}:                         {1, 1},
		{Frames: 1, Bits: 4, Timebase: udf.OfWindow}: {0b1000 / 15.0, 0b1110 / 15.0}, // 0 to 160: slices of 40
		{Frames: 1, Bits: 3, Whole: true}:            {0b100 / 7.0, 0b110 / 7.0},     // slices of 26: 78 and later are dropped
		{Frames: 1, Bits: 24, Whole: true}:           {float64(1<<15) / (1<<24 - 1), float64(1<<23+1<<10) / (1<<24 - 1)},
	} {
		e, err := f.Open(g, cpu.Device)
		if err != nil {
			t.Fatal(err)
		}
		block := []tensor.Block{{Data: make([]byte, f.Layout(g).Bytes())}}
		w := event.Window{Start: 0, End: 160, Hi: 6}
		if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: []event.Window{w}}, block); err != nil {
			t.Fatal(err)
		}
		for i, v := range want {
			if got := math.Float32frombits(binary.LittleEndian.Uint32(block[0].Data[4*i:])); got != float32(v) {
				t.Errorf("%v: value %d is %v, want %v", f, i, got, float32(v))
			}
		}
	}
}

func TestEntry(t *testing.T) {
	for call, want := range map[string]string{
		"b": "bina_rep(frames=1, bits=8)", "b:frames=3,bits=24,variant=tonic": "bina_rep(frames=3, bits=24, variant=tonic)", "b:timebase=window": "bina_rep(frames=1, bits=8, timebase=window)",
		"b:bits=25": "", "b:frames=0": "", "b:variant=x": "",
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

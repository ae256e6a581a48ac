package sae

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// The last event at a pixel counts, in its window or up to its end; Never stands where there was none.
func TestValues(t *testing.T) {
	g := event.Geometry{Width: 2, Height: 1}
	b := event.New([]int64{-9, 0, 4, 4, 30, 40}, []uint16{0, 0, 1, 7, 0, 1}, make([]uint16, 6), []int8{1, 0, 1, 1, 0, 1})
	windows := []event.Window{{Lo: 0, Hi: 4}, {Lo: 5, Hi: 6, Since: 4}, {Lo: 6, Hi: 6, Since: 6}}
	for s, want := range map[Times]string{
		{Never: -1}:                        "[[0 -1 -9 4] [-1 -1 -1 40] [-1 -1 -1 -1]]",
		{Never: math.MinInt64}:             fmt.Sprintf("[[0 %d -9 4] [%[1]d %[1]d %[1]d 40] [%[1]d %[1]d %[1]d %[1]d]]", math.MinInt64),
		{Never: 5, Memory: udf.Recording}:  "[[0 5 -9 4] [30 5 -9 40] [30 5 -9 40]]",
		{Never: -1, Memory: udf.Recording}: "[[0 -1 -9 4] [30 -1 -9 40] [30 -1 -9 40]]",
	} {
		e, err := s.Open(g, cpu.Device)
		if err != nil {
			t.Fatal(err)
		}
		var got [][]int64
		for _, w := range windows {
			block := []tensor.Block{{Data: make([]byte, 32)}}
			if err := e.Encode(context.Background(), event.Windowed{Events: b, Windows: []event.Window{w}}, block); err != nil {
				t.Fatal(err)
			}
			var one []int64
			for i := range 4 {
				one = append(one, int64(binary.LittleEndian.Uint64(block[0].Data[8*i:])))
			}
			got = append(got, one)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%v: %v, want %s", s, got, want)
		}
		if e.OffSensor() != 1 {
			t.Errorf("%v: %d events off the sensor, want 1", s, e.OffSensor())
		}
	}
}

func TestEntry(t *testing.T) {
	for call, want := range map[string]string{
		"s": "sae()", "s:never=0": "sae(never=0)", "s:memory=recording": "sae(memory=recording)", "s:never=-9223372036854775808,memory=recording": "sae(never=-9223372036854775808, memory=recording)",
		"s:never=x": "", "s:never=1.5": "", "s:memory=all": "",
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

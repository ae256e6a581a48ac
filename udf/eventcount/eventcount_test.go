package eventcount

import (
	"bytes"
	"context"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
)

// Events of either polarity count, also where polarities were not read; those off the sensor are counted apart.
func TestCount(t *testing.T) {
	g := event.Geometry{Width: 2, Height: 2}
	x, y := []uint16{0, 1, 1, 2, 0, 1}, []uint16{0, 1, 1, 0, 2, 1}
	for _, p := range [][]int8{nil, {0, 1, 0, 1, 0, 1}} {
		e, err := Count{}.Open(g, cpu.Device)
		if err != nil {
			t.Fatal(err)
		}
		w := event.Windowed{Events: event.New(make([]int64, 6), x, y, p), Windows: []event.Window{{Hi: 6}, {Lo: 2, Hi: 3}}}
		blocks := []tensor.Block{{Data: bytes.Repeat([]byte{7}, 16)}, {Data: bytes.Repeat([]byte{7}, 16)}}
		if err := e.Encode(context.Background(), w, blocks); err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]byte{{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}} {
			if !bytes.Equal(blocks[i].Data, want) {
				t.Errorf("window %d: %v, want %v", i, blocks[i].Data, want)
			}
		}
		if e.OffSensor() != 2 {
			t.Errorf("%d events off the sensor, want 2", e.OffSensor())
		}
	}
}

package builtins

import (
	"context"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// What says that windows without events make zeros makes zeros when it is asked to, whatever the block held before.
func TestBlanksAreZero(t *testing.T) {
	g := event.Geometry{Width: 6, Height: 4}
	seen := 0
	for _, e := range All {
		r, err := e.Make(nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := r.(udf.Blanker); !ok || !b.Blank() {
			continue
		}
		seen++
		enc, err := r.Open(g, cpu.Device)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		layout := r.Layout(g)
		data := make([]byte, layout.Bytes())
		for i := range data {
			data[i] = 7
		}
		w := event.Windowed{Events: event.NewBuffer(0).Batch(), Windows: []event.Window{{Start: 100, End: 200}}}
		if err := enc.Encode(context.Background(), w, []tensor.Block{{Shape: layout.Shape, DType: layout.DType, Data: data}}); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		for i, v := range data {
			if v != 0 {
				t.Fatalf("%s: byte %d of an empty window is %d", e.Name, i, v)
			}
		}
		_ = enc.Close()
	}
	if seen < 6 {
		t.Errorf("%d representations say it", seen)
	}
}

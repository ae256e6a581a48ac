package builtins

import (
	"context"
	"sort"
	"testing"

	"github.com/evq-project/evq/accel/cpu"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/tensor"
	"github.com/evq-project/evq/udf"
)

// BenchmarkEncode makes blocks of a scene on one core: in windows of 50 ms, and of all of it at once.
func BenchmarkEncode(b *testing.B) {
	const events = 4_000_000
	g := event.Geometry{Width: 1280, Height: 720}
	batch := eventtest.Scene(5, events, g)
	whole := event.Windowed{Events: batch, Windows: []event.Window{{Hi: events, Start: batch.T()[0], End: batch.T()[events-1]}}}
	for _, call := range []string{
		"voxel_grid", "voxel_grid:signed=false", "voxel_grid:normalize=e2vid", "event_frame", "event_frame:bins=10", "event_frame:signed=true,cutoff=3",
		"event_count", "time_surface", "time_surface:memory=recording", "averaged_time_surface", "sae", "bina_rep", "tore", "tore:memory=window",
		"stacked_histogram", "mixed_density",
	} {
		name, args, err := udf.ParseCall(call)
		if err != nil {
			b.Fatal(err)
		}
		entry, _ := Lookup(name)
		rep, err := entry.Make(args)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(call+"/50ms", func(b *testing.B) { benchmark(b, rep, g, windows(batch, 50_000)) })
		b.Run(call+"/whole", func(b *testing.B) { benchmark(b, rep, g, whole) })
	}
}

// windows cuts a batch into windows of so many microseconds.
func windows(b event.Batch, length int64) event.Windowed {
	w, t := event.Windowed{Events: b}, b.T()
	for lo, start := 0, t[0]; lo < len(t); start += length {
		hi := lo + sort.Search(len(t)-lo, func(i int) bool { return t[lo+i] >= start+length })
		w.Windows = append(w.Windows, event.Window{Index: len(w.Windows), Start: start, End: start + length, Lo: lo, Hi: hi, Since: lo})
		lo = hi
	}
	return w
}

func benchmark(b *testing.B, rep udf.Representation, g event.Geometry, w event.Windowed) {
	e, err := rep.Open(g, cpu.Device)
	if err != nil {
		b.Fatal(err)
	}
	block := []tensor.Block{{Data: make([]byte, rep.Layout(g).Bytes())}}
	b.ReportAllocs()
	for b.Loop() {
		for i := range w.Windows {
			one := event.Windowed{Events: w.Events, Windows: w.Windows[i : i+1]}
			if err := e.Encode(context.Background(), one, block); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(w.Events.Len())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mev/s")
	b.ReportMetric(float64(len(w.Windows)), "windows")
}

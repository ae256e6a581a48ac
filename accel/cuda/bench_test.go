package cuda

import (
	"context"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
	"github.com/evq-project/evq/accel/cpu"
)

// benchmarkWindows counts 5.1 million events in so many windows at once, and finds their segments. It reports the time of
// the processor as well, which other programs on the machine change less.
func benchmarkWindows(b *testing.B, d accel.Device, windows int) {
	g := accel.Grid{Bins: 10, Width: 1280, Height: 720, Downsample: 2, Cutoff: 10, Wrap: true}
	rec := acceltest.Recording{Seed: 42, Events: 5_100_000, Windows: windows}
	t, job := rec.Columns(g)
	k, err := d.Open(g)
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	dst := make([]uint8, windows*g.Len())
	b.SetBytes(int64(len(job.X)))
	if _, err := k.Scatter(context.Background(), rec.Cut(t, job, g), dst); err != nil { // the first touches the memory
		b.Fatal(err)
	}
	began := acceltest.ProcessorTime()
	for b.Loop() {
		job = rec.Cut(t, job, g)
		if _, err := k.Scatter(context.Background(), job, dst); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((acceltest.ProcessorTime()-began).Nanoseconds())/1e6/float64(b.N), "cpu-ms/op")
}

// The time around a device that takes none, and the processor's for the same job.
func BenchmarkOverhead128(b *testing.B) { idle(b, 128) }
func BenchmarkOverhead12(b *testing.B)  { idle(b, 12) }
func BenchmarkCPU128(b *testing.B)      { benchmarkWindows(b, cpu.Device, 128) }
func BenchmarkCPU12(b *testing.B)       { benchmarkWindows(b, cpu.Device, 12) }

func idle(b *testing.B, windows int) {
	f := newFake(b)
	f.do("fakeIdle", 1)
	benchmarkWindows(b, f.device(), windows)
}

// A call of the driver.
func BenchmarkCall(b *testing.B) {
	f := newFake(b)
	d, err := openDriver(f.path)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = d.call(cuInit, 0)
	}
}

package cpu

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/acceltest"
)

// recording is 5.1 million events on 1280x720 along 24 moving edges, one in eight of them anywhere.
type recording struct {
	t    []int64
	x, y []uint16
	p    []int8
}

func moving(n int, duration int64) recording {
	const w, h = 1280, 720
	r := rand.New(rand.NewPCG(42, 1))
	e := recording{make([]int64, n), make([]uint16, n), make([]uint16, n), make([]int8, n)}
	for i := range n {
		e.t[i] = r.Int64N(duration)
	}
	slices.Sort(e.t)
	for i := range n {
		if r.IntN(8) == 0 {
			e.x[i], e.y[i] = uint16(r.IntN(w)), uint16(r.IntN(h))
		} else {
			edge := r.IntN(24)
			at := float64(edge)*w/24 + float64(e.t[i])*0.0004 + r.NormFloat64()*3
			e.x[i], e.y[i] = uint16((int(at)%w+w)%w), uint16((r.IntN(h/2)+edge*37)%h)
		}
		e.p[i] = int8(r.IntN(2))
	}
	return e
}

// processor reports the time of the processor when it is called again, which other programs on the machine change less.
func processor(b *testing.B) (done func()) {
	began := acceltest.ProcessorTime()
	return func() {
		b.ReportMetric(float64((acceltest.ProcessorTime()-began).Nanoseconds())/1e6/float64(b.N), "cpu-ms/op")
	}
}

// benchmarkStream counts 5.1 million events in windows of 50 ms into one block that is used again, as a
// stream does; the time includes finding the segments.
func benchmarkStream(b *testing.B, windows int, change func(*accel.Grid)) {
	e := moving(5_100_000, int64(windows)*50_000)
	g := accel.Grid{Bins: 10, Width: 1280, Height: 720, Downsample: 2, Cutoff: 10, Wrap: true}
	change(&g)
	k, err := Device.Open(g)
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	dst := make([]uint8, g.Len())
	var segments []accel.Segment
	b.SetBytes(int64(len(e.t)))
	defer processor(b)()
	for b.Loop() {
		for w := range windows {
			end := int64(w+1) * 50_000
			lo, _ := slices.BinarySearch(e.t, end-50_000)
			hi, _ := slices.BinarySearch(e.t, end+1)
			if lo == hi {
				continue
			}
			segments = accel.Torch32.Segments(segments[:0], e.t, 0, lo, hi, e.t[lo], e.t[hi-1], g.Bins)
			job := accel.Job{X: e.x, Y: e.y, P: e.p, Segments: segments, Windows: 1}
			if _, err := k.Scatter(context.Background(), job, dst); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkClear128 clears one block as often as the sparse case fills it, which is what that case is held to.
func BenchmarkClear128(b *testing.B) {
	g := accel.Grid{Bins: 10, Width: 1280, Height: 720, Downsample: 2, Cutoff: 10}
	dst := make([]uint8, g.Len())
	defer processor(b)()
	for b.Loop() {
		for range 128 {
			clear(dst)
		}
	}
}

// BenchmarkAtOnce128 counts the sparse case's windows into a block each, and BenchmarkClearAtOnce128 clears those blocks.
func BenchmarkAtOnce128(b *testing.B) {
	e := moving(5_100_000, 128*50_000)
	g := accel.Grid{Bins: 10, Width: 1280, Height: 720, Downsample: 2, Cutoff: 10, Wrap: true}
	k, err := Device.Open(g)
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	dst := make([]uint8, 128*g.Len())
	clear(dst)
	job := accel.Job{X: e.x, Y: e.y, P: e.p, Windows: 128}
	defer processor(b)()
	for b.Loop() {
		job.Segments = job.Segments[:0]
		for w := range 128 {
			lo, _ := slices.BinarySearch(e.t, int64(w)*50_000)
			hi, _ := slices.BinarySearch(e.t, int64(w+1)*50_000)
			job.Segments = accel.Torch32.Segments(job.Segments, e.t, w, lo, hi, e.t[lo], e.t[hi-1], g.Bins)
		}
		if _, err := k.Scatter(context.Background(), job, dst); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkClearAtOnce128(b *testing.B) {
	g := accel.Grid{Bins: 10, Width: 1280, Height: 720, Downsample: 2, Cutoff: 10}
	dst := make([]uint8, 128*g.Len())
	defer processor(b)()
	for b.Loop() {
		for w := range 128 { // one by one, as blocks of a pool are
			clear(dst[w*g.Len():][:g.Len()])
		}
	}
}

func BenchmarkSparse(b *testing.B) { benchmarkStream(b, 128, func(*accel.Grid) {}) }
func BenchmarkDense(b *testing.B)  { benchmarkStream(b, 12, func(*accel.Grid) {}) }
func BenchmarkSparseSaturate(b *testing.B) {
	benchmarkStream(b, 128, func(g *accel.Grid) { g.Wrap = false })
}
func BenchmarkDenseSaturate(b *testing.B) {
	benchmarkStream(b, 12, func(g *accel.Grid) { g.Wrap = false })
}
func BenchmarkDenseFull(b *testing.B) {
	benchmarkStream(b, 12, func(g *accel.Grid) { g.Downsample = 1 })
}
func BenchmarkDenseOffSensor(b *testing.B) {
	benchmarkStream(b, 12, func(g *accel.Grid) { g.Width = 1279 })
}

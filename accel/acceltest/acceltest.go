// Package acceltest is the conformance suite of a device: one answer from every one of them, byte for byte,
// and the same answer as an obvious count of its own.
package acceltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evq-project/evq/accel"
)

// Run tests a device, or skips with the reason where this machine cannot run it.
func Run(t *testing.T, d accel.Device) {
	if err := d.Probe(); err != nil {
		t.Skipf("%s: %v", d.Name(), err)
	}
	t.Run("cases", func(t *testing.T) {
		for _, c := range Cases() {
			t.Run(c.Name, func(t *testing.T) { Check(t, d, c) })
		}
	})
	t.Run("random", func(t *testing.T) {
		for seed := range uint64(300) {
			Check(t, d, Random(seed))
		}
	})
	t.Run("errors", func(t *testing.T) { refusals(t, d) })
	t.Run("cancelled", func(t *testing.T) { cancelled(t, d) })
}

// A Case is a job and its grid.
type Case struct {
	Name string
	Grid accel.Grid
	Job  accel.Job
}

// Check runs a case twice on one kernel, into dirty memory, and compares with Want.
func Check(t testing.TB, d accel.Device, c Case) {
	t.Helper()
	k, err := d.Open(c.Grid)
	if err != nil {
		t.Fatalf("%s: opening %+v: %v", c.Name, c.Grid, err)
	}
	want, wantOff := Want(c.Grid, c.Job)
	checkKernel(t, c.Name, k, c.Job, wantOff, len(want), func(got []uint8) {
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: %+v: %s = %d, want %d", c.Name, c.Grid, cell(c.Grid, i), got[i], want[i])
			}
		}
	})
}

// checkKernel runs a job twice on a kernel, into size bytes of dirty memory, hands the result to compare each time, and
// closes the kernel.
func checkKernel(t testing.TB, name string, k accel.Kernel, job accel.Job, wantOff int64, size int, compare func(got []uint8)) {
	t.Helper()
	defer func() {
		if err := k.Close(); err != nil {
			t.Errorf("%s: closing: %v", name, err)
		}
	}()
	got := bytes.Repeat([]byte{0xa5}, size)
	for range 2 {
		off, err := k.Scatter(context.Background(), job, got)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if off != wantOff {
			t.Errorf("%s: %d events off the sensor, want %d", name, off, wantOff)
		}
		compare(got)
	}
}

// cell names a count.
func cell(g accel.Grid, i int) string {
	plane := g.Rows() * g.Columns()
	return fmt.Sprintf("window %d channel %d y %d x %d", i/g.Len(), i%g.Len()/plane, i%plane/g.Columns(), i%g.Columns())
}

// Want counts a job in the obvious way: full resolution in wide counters, then wrap, clip and downsample, in
// the order RVT does it. It returns also how many events are left out.
func Want(g accel.Grid, job accel.Job) (out []uint8, offSensor int64) {
	for w := range job.Windows {
		full := make([]uint64, g.Channels()*g.Height*g.Width)
		for _, s := range job.Segments {
			if int(s.Window) != w {
				continue
			}
			for i := s.Start; i < s.Start+s.Len; i++ {
				x, y, p := int(job.X[i]), int(job.Y[i]), int(job.P[i])
				at := ((p*g.Bins+int(s.Bin))*g.Height+y)*g.Width + x
				if at >= len(full) || !g.Flat && (x >= g.Width || y >= g.Height) {
					offSensor++
					continue
				}
				full[at]++
			}
		}
		for c := range g.Channels() {
			for y := range g.Rows() {
				for x := range g.Columns() {
					fy, fx := y, x
					if g.Downsample == 2 {
						fy, fx = 2*y+1, 2*x+1
					}
					n := full[(c*g.Height+fy)*g.Width+fx]
					if g.Wrap {
						n &= 255
					}
					out = append(out, uint8(min(n, uint64(g.Cutoff))))
				}
			}
		}
	}
	return out, offSensor
}

// refusals are calls that every device must answer with an error, and never with a panic.
func refusals(t *testing.T, d accel.Device) {
	if _, err := d.Open(accel.Grid{Bins: 0, Width: 4, Height: 4, Downsample: 1, Cutoff: 10}); err == nil {
		t.Error("a grid without bins was accepted")
	}
	g := accel.Grid{Bins: 2, Width: 4, Height: 4, Downsample: 1, Cutoff: 10}
	one := func(p int8, segments ...accel.Segment) accel.Job {
		return accel.Job{X: []uint16{1}, Y: []uint16{1}, P: []int8{p}, Segments: segments, Windows: 1}
	}
	short := one(1, accel.Segment{Len: 1})
	short.Y = nil
	for name, c := range map[string]struct {
		job  accel.Job
		room int
	}{
		"polarity 2":        {one(2, accel.Segment{Len: 1}), g.Len()},
		"polarity -1":       {one(-1, accel.Segment{Len: 1}), g.Len()},
		"a bin too many":    {one(1, accel.Segment{Bin: 2, Len: 1}), g.Len()},
		"a window too many": {one(1, accel.Segment{Window: 1, Len: 1}), g.Len()},
		"beyond the events": {one(1, accel.Segment{Start: 1, Len: 1}), g.Len()},
		"unequal columns":   {short, g.Len()},
		"too little room":   {one(1, accel.Segment{Len: 1}), g.Len() - 1},
		"too much room":     {one(1, accel.Segment{Len: 1}), 2 * g.Len()},
	} {
		k, err := d.Open(g)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Scatter(context.Background(), c.job, make([]uint8, c.room)); err == nil {
			t.Errorf("%s was accepted", name)
		}
		// A refusal must not spoil what comes after it.
		dst := make([]uint8, g.Len())
		if _, err := k.Scatter(context.Background(), one(1, accel.Segment{Len: 1}), dst); err != nil || dst[2*16+5] != 1 {
			t.Errorf("after %s: count %d, error %v", name, dst[2*16+5], err)
		}
		_ = k.Close()
	}
}

// cancelled expects the context's error.
func cancelled(t *testing.T, d accel.Device) {
	c := sharedEvents()
	k, err := d.Open(c.Grid)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = k.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := k.Scatter(ctx, c.Job, make([]uint8, c.Job.Windows*c.Grid.Len())); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled count ended with %v", err)
	}
}

// Random makes a case from a seed: any grid, tied to what differs between implementations (odd sizes, pixels
// hit hundreds of times, strays, overlapping and empty windows, segments out of order).
func Random(seed uint64) Case {
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(of ...int) int { return of[r.IntN(len(of))] }
	g := accel.Grid{
		Bins: pick(1, 2, 3, 10, 17), Width: 2 + r.IntN(40), Height: 2 + r.IntN(30),
		Downsample: 1 + r.IntN(2), Cutoff: pick(1, 2, 10, 254, 255, 1+r.IntN(255)),
		Wrap: r.IntN(2) == 0, Flat: r.IntN(3) == 0,
	}
	n := pick(0, 1, 7, 100, 1023, 1024, 1025, 5000)
	job := accel.Job{X: make([]uint16, n), Y: make([]uint16, n), P: make([]int8, n), Windows: r.IntN(5)}
	hot, stray := r.IntN(3) == 0, r.IntN(2) == 0
	hx, hy := r.IntN(g.Width)|1, r.IntN(g.Height)|1
	for i := range n {
		x, y := r.IntN(g.Width), r.IntN(g.Height)
		if hot && r.IntN(4) > 0 {
			x, y = min(hx, g.Width-1), min(hy, g.Height-1)
		}
		if stray && r.IntN(50) == 0 {
			switch r.IntN(4) {
			case 0:
				x = g.Width
			case 1:
				y = g.Height
			case 2:
				x, y = g.Width+r.IntN(9), g.Height+r.IntN(9)
			case 3:
				x, y = pick(1<<15, 1<<15-1, 65535, x), pick(1<<15, 65535, y)
			}
		}
		job.X[i], job.Y[i], job.P[i] = uint16(x), uint16(y), int8(r.IntN(2))
	}
	for w := range job.Windows {
		if r.IntN(4) == 0 {
			continue // an empty window
		}
		at := r.IntN(n + 1)
		for b := range g.Bins {
			l := r.IntN(min(n-at, 2*n/g.Bins+1) + 1)
			if l > 0 || r.IntN(2) == 0 {
				job.Segments = append(job.Segments, accel.Segment{Window: uint32(w), Bin: uint32(b), Start: uint32(at), Len: uint32(l)})
			}
			at += l
		}
	}
	if r.IntN(4) == 0 {
		r.Shuffle(len(job.Segments), func(i, j int) {
			job.Segments[i], job.Segments[j] = job.Segments[j], job.Segments[i]
		})
	}
	return Case{Name: fmt.Sprintf("seed %d", seed), Grid: g, Job: job}
}

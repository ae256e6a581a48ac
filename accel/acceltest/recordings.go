package acceltest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/evq-project/evq/accel"
)

// A Recording is made from a seed: events in time order all over the sensor, cut into windows of equal length that
// overlap.
type Recording struct {
	Seed    uint64
	Events  int
	Windows int
	Overlap int  // how many windows an event lies in; 0 for one
	Hot     int  // pixels that get half of all events, or 0
	AtOnce  bool // all events have one time
}

// Job returns the recording's windows, the bins divided by RVT's rule. Every seventh window is empty.
func (r Recording) Job(g accel.Grid) accel.Job {
	t, job := r.Columns(g)
	return r.Cut(t, job, g)
}

// Columns returns the recording's events and their times, without any window.
func (r Recording) Columns(g accel.Grid) (t []int64, job accel.Job) {
	rnd := rand.New(rand.NewPCG(r.Seed, 11))
	t = make([]int64, r.Events)
	if !r.AtOnce {
		for i := range t {
			t[i] = rnd.Int64N(second)
		}
		slices.Sort(t)
	}
	job = accel.Job{X: make([]uint16, r.Events), Y: make([]uint16, r.Events), P: make([]int8, r.Events)}
	for i := range t {
		at := rnd.IntN(g.Width * g.Height)
		if r.Hot > 0 && i%2 == 0 {
			at = rnd.IntN(r.Hot) * (g.Width * g.Height / r.Hot)
			at = min(at|1, g.Width*g.Height-1)
		}
		job.X[i], job.Y[i], job.P[i] = uint16(at%g.Width), uint16(at/g.Width), int8(rnd.IntN(2))
	}
	return t, job
}

const second = 1_000_000

// Cut cuts columns into the recording's windows; the segments take the place of the job's.
func (r Recording) Cut(t []int64, job accel.Job, g accel.Grid) accel.Job {
	job.Windows, job.Segments = r.Windows, job.Segments[:0]
	step := int64(second / max(r.Windows, 1))
	for w := range r.Windows {
		from := int64(w) * step
		to := from + step*int64(max(r.Overlap, 1))
		lo := sort.Search(len(t), func(i int) bool { return t[i] >= from })
		hi := sort.Search(len(t), func(i int) bool { return t[i] >= to })
		if lo < hi && w%7 != 6 {
			job.Segments = accel.Torch32.Segments(job.Segments, t, w, lo, hi, t[lo], t[hi-1], g.Bins)
		}
	}
	return job
}

// recordings are of many sizes and kinds.
func recordings() (cases []Case) {
	sizes := [][2]int{{1, 1}, {2, 3}, {17, 13}, {304, 240}, {346, 260}, {640, 480}, {1280, 720}}
	for i, size := range sizes {
		for j, r := range []Recording{
			{Events: 3000, Windows: 3},
			{Events: 3000, Windows: 8, Overlap: 3},
			{Events: 3000, Windows: 2, AtOnce: true},
			{Events: 5000, Windows: 1, Hot: 3},
		} {
			g := accel.Grid{Bins: 1 + (i+j)%3, Width: size[0], Height: size[1], Downsample: 1 + (i+j)%2, Cutoff: 10, Wrap: j%2 == 0}
			if size[0] == 1 {
				g.Downsample = 1
			}
			r.Seed = uint64(10*i + j)
			cases = append(cases, Case{fmt.Sprintf("%dx%d, recording %+v", size[0], size[1], r), g, r.Job(g)})
		}
	}
	// One pixel in a hundred past 256 counts, and one pixel of two past 65,536.
	for _, wrap := range []bool{false, true} {
		g := accel.Grid{Bins: 1, Width: 20, Height: 15, Downsample: 1, Cutoff: 200, Wrap: wrap}
		r := Recording{Seed: 77, Events: 6000, Windows: 1, Hot: 3}
		cases = append(cases, Case{fmt.Sprintf("1 %% hot pixels, wrap %v", wrap), g, r.Job(g)})
		g.Width, g.Height, g.Downsample = 2, 2, 2
		r.Events, r.Hot = 70_000, 1
		cases = append(cases, Case{fmt.Sprintf("a pixel past 65,536, wrap %v", wrap), g, r.Job(g)})
	}
	return cases
}

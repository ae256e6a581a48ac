package check

import (
	"math/rand/v2"
	"sort"

	"github.com/evq-project/evq/accel"
)

// Data is events in time order, cut into windows of equal length.
type Data struct {
	Name    string
	T       []int64 // microseconds
	X, Y    []uint16
	P       []int8
	Windows [][2]int // of each, its first event and the one after its last
}

// windowLength is the length of a window in microseconds.
const windowLength = 50_000

// makeData makes events along 24 moving edges, one in eight of them anywhere, and of every hundred so many on two pixels:
// in each bin 260 on the first, which is where wrapping and saturating part, and what is left on the second.
func makeData(name string, o Options, windows, hot int) Data {
	r := rand.New(rand.NewPCG(42, 1))
	n, w, h := o.Events, o.Width, o.Height
	d := Data{Name: name, T: make([]int64, n), X: make([]uint16, n), Y: make([]uint16, n), P: make([]int8, n)}
	duration := int64(windows) * windowLength
	bin, inBin := -1, 0 // the hot events of a bin
	for i := range n {
		t := int64(float64(duration) * float64(i) / float64(n))
		x, y := r.IntN(w), r.IntN(h)
		if r.IntN(8) > 0 {
			edge := r.IntN(24)
			x = (edge*w/24 + int(t/2500) + int(r.NormFloat64()*3) + 8*w) % w
			y = (r.IntN(max(h/2, 1)) + edge*37) % h
		}
		p := r.IntN(2)
		if i%100 < hot {
			x, y, p = min(w/2|1, w-1), min(h/2|1, h-1), 1
			if b := i * windows * bins / n; b != bin {
				bin, inBin = b, 0
			}
			if inBin++; inBin > 260 {
				x = 1
			}
		}
		d.T[i], d.X[i], d.Y[i], d.P[i] = t, uint16(x), uint16(y), int8(p)
	}
	lo := 0
	for k := range windows {
		end := int64(k+1) * windowLength
		hi := lo + sort.Search(n-lo, func(i int) bool { return d.T[lo+i] >= end })
		d.Windows = append(d.Windows, [2]int{lo, hi})
		lo = hi
	}
	return d
}

// jobs cuts the data into jobs of at most so many windows.
func (d Data) jobs(bins, most int) (jobs []accel.Job) {
	for first := 0; first < len(d.Windows); first += most {
		part := d.Windows[first:min(first+most, len(d.Windows))]
		job := accel.Job{X: d.X, Y: d.Y, P: d.P, Windows: len(part)}
		for w, at := range part {
			if lo, hi := at[0], at[1]; lo < hi {
				job.Segments = accel.Torch32.Segments(job.Segments, d.T, w, lo, hi, d.T[lo], d.T[hi-1], bins)
			}
		}
		jobs = append(jobs, job)
	}
	return jobs
}

// counted returns how many events count at a resolution.
func (d Data) counted(downsample int) (n int64) {
	if downsample == 1 {
		return int64(len(d.X))
	}
	for i, x := range d.X {
		n += int64(x & d.Y[i] & 1)
	}
	return n
}

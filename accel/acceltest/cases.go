package acceltest

import (
	"fmt"

	"github.com/evq-project/evq/accel"
)

// Cases returns the edges that have names.
func Cases() []Case {
	cases := hotPixels()
	cases = append(cases, strays()...)
	cases = append(cases, manyHotCells(), sharedEvents(), twiceTheSameBin())
	cases = append(cases, recordings()...)
	for _, size := range [][2]int{{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 3}, {5, 4}, {4, 5}, {7, 5}} {
		for ds := 1; ds <= min(2, size[0], size[1]); ds++ {
			g := accel.Grid{Bins: 3, Width: size[0], Height: size[1], Downsample: ds, Cutoff: 10}
			cases = append(cases, Case{fmt.Sprintf("every pixel of %dx%d by %d", size[0], size[1], ds), g, everyPixel(g)})
		}
	}
	g := accel.Grid{Bins: 4, Width: 6, Height: 4, Downsample: 1, Cutoff: 10}
	return append(cases, Case{"no windows", g, accel.Job{}}, Case{"empty windows", g, accel.Job{Windows: 3}})
}

// hotPixels puts n events on one pixel: the counts around which wrapping and saturating part.
func hotPixels() (cases []Case) {
	for _, n := range []int{1, 9, 10, 11, 254, 255, 256, 257, 265, 266, 267, 300, 511, 512, 513, 1024, 65535, 65536, 65537, 65800} {
		for _, cutoff := range []int{1, 10, 255} {
			for _, wrap := range []bool{false, true} {
				g := accel.Grid{Bins: 2, Width: 6, Height: 6, Downsample: 2, Cutoff: cutoff, Wrap: wrap}
				job := accel.Job{X: make([]uint16, n), Y: make([]uint16, n), P: make([]int8, n), Windows: 2,
					Segments: []accel.Segment{{Window: 1, Bin: 1, Len: uint32(n)}}}
				for i := range n {
					job.X[i], job.Y[i], job.P[i] = 3, 5, 1
				}
				cases = append(cases, Case{fmt.Sprintf("%d events on a pixel, cutoff %d, wrap %v", n, cutoff, wrap), g, job})
			}
		}
	}
	return cases
}

// strays puts events just off the sensor, and far off it, into the first and the last bin of each polarity.
func strays() (cases []Case) {
	for _, flat := range []bool{false, true} {
		for ds := 1; ds <= 2; ds++ {
			for _, width := range []int{6, 7} {
				g := accel.Grid{Bins: 2, Width: width, Height: 5, Downsample: ds, Cutoff: 10, Flat: flat}
				var job accel.Job
				for bin := range g.Bins {
					start := len(job.X)
					for _, x := range []int{0, 1, width - 1, width, width + 1, 2 * width, 32767, 32768, 65535} {
						for _, y := range []int{0, 1, 3, 4, 5, 6, 9, 32768, 65535} {
							for p := range 2 {
								job.X, job.Y, job.P = append(job.X, uint16(x)), append(job.Y, uint16(y)), append(job.P, int8(p))
							}
						}
					}
					job.Segments = append(job.Segments, accel.Segment{Bin: uint32(bin), Start: uint32(start), Len: uint32(len(job.X) - start)})
				}
				job.Windows = 1
				cases = append(cases, Case{fmt.Sprintf("strays, width %d by %d, flat %v", width, ds, flat), g, job})
			}
		}
	}
	return cases
}

// manyHotCells takes so many cells past the cutoff that no short list holds them.
func manyHotCells() Case {
	g := accel.Grid{Bins: 1, Width: 128, Height: 128, Downsample: 1, Cutoff: 2, Wrap: true}
	var job accel.Job
	for range 5 {
		j := everyPixel(g)
		job.X, job.Y, job.P = append(job.X, j.X...), append(job.Y, j.Y...), append(job.P, j.P...)
	}
	job.Windows, job.Segments = 1, []accel.Segment{{Len: uint32(len(job.X))}}
	return Case{"many hot cells", g, job}
}

// sharedEvents has windows that overlap.
func sharedEvents() Case {
	g := accel.Grid{Bins: 2, Width: 8, Height: 6, Downsample: 1, Cutoff: 10}
	job := everyPixel(g)
	job.Windows = 3
	job.Segments = []accel.Segment{segment(0, 0, 0, 20), segment(0, 1, 20, 20), segment(1, 0, 10, 20), segment(1, 1, 30, 18), segment(2, 0, 0, 48), segment(2, 1, 0, 48)}
	return Case{"shared events", g, job}
}

// twiceTheSameBin has two segments of one bin with another bin's between them.
func twiceTheSameBin() Case {
	g := accel.Grid{Bins: 2, Width: 8, Height: 6, Downsample: 1, Cutoff: 10}
	job := everyPixel(g)
	job.Windows = 1
	job.Segments = []accel.Segment{segment(0, 1, 0, 20), segment(0, 0, 5, 30), segment(0, 1, 10, 30)}
	return Case{"the same bin twice", g, job}
}

// everyPixel has one event on each pixel and polarity, in as many segments as there are bins.
func everyPixel(g accel.Grid) accel.Job {
	job := accel.Job{Windows: 1}
	for y := range g.Height {
		for x := range g.Width {
			for p := range 2 {
				job.X, job.Y, job.P = append(job.X, uint16(x)), append(job.Y, uint16(y)), append(job.P, int8(p))
			}
		}
	}
	at := 0
	for b := range g.Bins {
		end := len(job.X) * (b + 1) / g.Bins
		job.Segments = append(job.Segments, accel.Segment{Bin: uint32(b), Start: uint32(at), Len: uint32(end - at)})
		at = end
	}
	return job
}

func segment(window, bin, start, length uint32) accel.Segment {
	return accel.Segment{Window: window, Bin: bin, Start: start, Len: length}
}

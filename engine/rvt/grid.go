package rvt

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/evq-project/evq/io/npy"
)

// A Grid says when the windows of a sequence end, and which of them end at a frame.
type Grid struct {
	Frames
	Ends        []int64 // of the windows, microseconds, rising
	FrameToRepr []int64 // for each frame, the index of the window that ends at it (objframe_idx_2_repr_idx)
}

// maxEnds bounds a grid: 9 days in steps of 50 ms, and far more than a recording with labels has.
const maxEnds = 1 << 24

// ErrLongGrid reports a grid of more ends than evq makes.
var ErrLongGrid = errors.New("the grid is too long")

// NewGrid derives the frames from filtered labels, as FindFrames does, and the ends of windows from the frames:
// before the first frame steps back from it to above 0, of which the earliest is left out; from each frame to
// the next the windows divide the time evenly, in float64, and their ends are cut to whole microseconds.
//
// Source: uzh-rpg/RVT, scripts/genx/preprocess_dataset.py, labels_and_ev_repr_timestamps.
func NewGrid(labels Labels, o GridOptions) (Grid, error) {
	f, err := FindFrames(labels, o)
	if err != nil {
		return Grid{}, err
	}
	step, _, err := o.times()
	if err != nil {
		return Grid{}, err
	}
	if err := f.bounded(step); err != nil {
		return Grid{}, err
	}
	g := Grid{Frames: f, Ends: before(f.Times[0], step)}
	for i, t := range f.Times {
		g.FrameToRepr = append(g.FrameToRepr, int64(len(g.Ends)))
		g.Ends = append(g.Ends, t)
		if i < len(f.steps) {
			g.Ends = between(g.Ends, t, f.Times[i+1], f.steps[i])
		}
	}
	return g, nil
}

// bounded refuses frames whose grid no recording can fill: their times are no microseconds of its clock.
func (f Frames) bounded(step int64) error {
	n := f.Times[0] / step
	for i := 0; n <= maxEnds; i++ {
		if i == len(f.steps) {
			return nil
		}
		n += f.steps[i]
	}
	return longGrid(f.Times[len(f.Times)-1], step)
}

func longGrid(last, step int64) error {
	return fmt.Errorf("rvt: %w: up to %d us it has more than %d steps of %d us; give times in microseconds from the start of the recording",
		ErrLongGrid, last, maxEnds, step)
}

// before returns the ends before the first frame, without the earliest.
func before(first, step int64) []int64 {
	n := (first - 1) / step // ends in (0, first)
	var ends []int64
	for i := n - 1; i >= 1; i-- {
		ends = append(ends, first-i*step)
	}
	return ends
}

// between appends the n-1 ends that divide the time between two frames into n windows.
func between(ends []int64, start, end, n int64) []int64 {
	step := float64(end-start) / float64(n)
	for i := int64(1); i < n; i++ {
		along := float64(float64(i) * step) // the conversion keeps the product from being fused
		ends = append(ends, int64(along+float64(start)))
	}
	return ends
}

// Every returns the ends d, 2d, ... up to the first that is not before last, in microseconds: a grid for a
// recording without labels whose last event is at last.
func Every(d time.Duration, last int64) ([]int64, error) {
	step := d.Microseconds()
	if step < 1 || d%time.Microsecond != 0 {
		return nil, fmt.Errorf("rvt: windows every %v; whole microseconds are needed", d)
	}
	n := (max(last, 1)-1)/step + 1
	if n > maxEnds {
		return nil, longGrid(last, step)
	}
	ends := make([]int64, n)
	for i := range ends {
		ends[i] = int64(i+1) * step
	}
	return ends, nil
}

// WriteGrid writes the grid into a folder that exists, that of a representation: timestamps_us.npy with the ends
// and objframe_idx_2_repr_idx.npy. Each file appears when it is complete; one that exists is refused without
// force.
func WriteGrid(dir string, g Grid, force bool) error {
	return errors.Join(
		npy.WriteInts(filepath.Join(dir, "timestamps_us.npy"), g.Ends, overwrite(force)...),
		npy.WriteInts(filepath.Join(dir, "objframe_idx_2_repr_idx.npy"), g.FrameToRepr, overwrite(force)...))
}

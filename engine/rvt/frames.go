package rvt

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A GridMode says how the ends of windows follow from the times of frames.
type GridMode uint8

const (
	// LikeRVT is the grid of RVT's script. Between labels of gen1 its windows end every 125 ms.
	LikeRVT GridMode = iota
	// Even is a grid whose windows end every step, or as near to that as whole numbers between frames allow.
	Even
)

// String returns the word users type.
func (m GridMode) String() string { return [...]string{"rvt", "50ms"}[m] }

// ParseGridMode returns the mode of that name.
func ParseGridMode(name string) (GridMode, error) {
	return word(name, "a grid", LikeRVT, Even)
}

// GridOptions say how frames and windows are derived from labels.
type GridOptions struct {
	Dataset Dataset
	Mode    GridMode
	// Step is the time from the end of one window to the next; 0 stands for 50 ms. LikeRVT needs a divisor of
	// 100 ms.
	Step time.Duration
	// Align is the time from which on there are frames; 0 stands for 100 ms, and what is negative for time 0.
	Align time.Duration
}

const (
	defaultStep  = 50 * time.Millisecond
	defaultAlign = 100 * time.Millisecond
	// frameStep is what RVT takes to lie between two frames when it counts the windows of a base step.
	frameStep = 100_000
	// jitter is how far, in microseconds, a frame may lie from a multiple of the base step.
	jitter = 2_000
	// nearest is the time, in microseconds, beyond which RVT accepts the next frame.
	nearest = 98_000
)

// A Rule is one that RVT refuses labels by.
type Rule uint8

const (
	// RateRule wants labels of gen4 at 30 or 60 Hz.
	RateRule Rule = iota
	// StepRule wants at least one base step between two frames.
	StepRule
	// NearRule wants more than 98 ms between two frames.
	NearRule
)

// A RefusalError reports labels of which RVT's script makes no grid. The mode Even accepts them.
type RefusalError struct {
	Rule Rule
	Seen string
}

// Error says what was seen, and what to do.
func (r *RefusalError) Error() string {
	return fmt.Sprintf("rvt: %s; use --grid 50ms, which takes labels of any rate", r.Seen)
}

// Frames are the times at which a sequence has labels to train on, and those labels.
type Frames struct {
	Times      []int64 // microseconds, rising
	Labels     Labels  // of the frames, frame after frame
	FirstLabel []int64 // for each frame, the index of its first label (objframe_idx_2_label_idx)

	steps []int64 // from each frame but the last to the next, in windows
}

// FindFrames chooses the frames among the times of filtered labels: the first at Align or later, and each that
// lies a multiple of the base step behind the frame before it, give or take 2 ms. The base step is 250 ms for
// gen1; for gen4 it is 3 or 6 times the median time between labels at 30 or 60 Hz, and 100 ms in the mode Even.
// Labels out of order are put in order.
//
// No label from Align on is ErrNoLabels; what RVT's script stops at is a *RefusalError.
//
// Source: uzh-rpg/RVT, scripts/genx/preprocess_dataset.py, labels_and_ev_repr_timestamps.
func FindFrames(labels Labels, o GridOptions) (Frames, error) {
	step, align, err := o.times()
	if err != nil {
		return Frames{}, err
	}
	if len(labels) == 0 {
		return Frames{}, fmt.Errorf("rvt: %w", ErrNoLabels)
	}
	labels = labels.inOrder()
	times := labelTimes(labels)
	first, _ := slices.BinarySearch(times, align)
	if first == len(times) {
		return Frames{}, fmt.Errorf("rvt: %w from %d us on: the last of %d lies at %d us", ErrNoLabels, align, len(labels), times[first-1])
	}
	base, err := o.base(times)
	if err != nil {
		return Frames{}, err
	}
	f := Frames{Times: times[first : first+1 : first+1]}
	for _, t := range times[first+1:] {
		if err := f.add(t, base, step, o.Mode); err != nil {
			return Frames{}, err
		}
	}
	f.take(labels)
	return f, nil
}

// times returns the step and the alignment in microseconds.
func (o GridOptions) times() (step, align int64, err error) {
	if o.Step == 0 {
		o.Step = defaultStep
	}
	if o.Align == 0 {
		o.Align = defaultAlign
	}
	step, align = o.Step.Microseconds(), max(o.Align.Microseconds(), 0)
	switch {
	case step < 1 || o.Step%time.Microsecond != 0:
		return 0, 0, fmt.Errorf("rvt: a step of %v; whole microseconds are needed", o.Step)
	case o.Mode == LikeRVT && frameStep%step != 0:
		return 0, 0, fmt.Errorf("rvt: a step of %v; RVT's grid needs a divisor of 100ms, and --grid 50ms takes any", o.Step)
	}
	return step, align, nil
}

// labelTimes returns the times of labels in order, each once.
func labelTimes(labels Labels) []int64 {
	times := make([]int64, len(labels))
	for i, l := range labels {
		times[i] = l.T
	}
	return slices.Compact(times)
}

// base returns the time in microseconds of which the distances of frames are multiples.
func (o GridOptions) base(times []int64) (int64, error) {
	switch {
	case o.Dataset == Gen1:
		return 250_000, nil
	case o.Mode == Even:
		return frameStep, nil
	case len(times) < 2:
		return 0, &RefusalError{RateRule, fmt.Sprintf("gen4 labels come at 30 or 60 Hz, and these, all at %d us, have no rate", times[0])}
	}
	between := make([]int64, len(times)-1)
	for i := range between {
		between[i] = times[i+1] - times[i]
	}
	median := medianOf(between)
	switch hz := math.RoundToEven(1e6 / median); hz {
	case 30:
		return int64(3 * median), nil
	case 60:
		return int64(6 * median), nil
	default:
		return 0, &RefusalError{RateRule, fmt.Sprintf("gen4 labels come at 30 or 60 Hz, and these at %v Hz, with a median of %v us between them", hz, median)}
	}
}

// medianOf returns the median, of an even number of values the mean of the two in the middle. It sorts them.
func medianOf(values []int64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return float64(values[n/2])
	}
	return (float64(values[n/2-1]) + float64(values[n/2])) / 2
}

// add appends the time t where it is that of a frame.
func (f *Frames) add(t, base, step int64, mode GridMode) error {
	last := f.Times[len(f.Times)-1]
	gap := t - last
	k := int64(math.RoundToEven(float64(gap) / float64(base)))
	if off := gap - k*base; off > jitter || off < -jitter {
		return nil
	}
	switch {
	case mode == Even && k == 0: // so near to the frame that it has no window of its own
		return nil
	case k == 0:
		return &RefusalError{StepRule, fmt.Sprintf("labels at %d us follow the frame at %d us after %d us, which is no step of %d us", t, last, gap, base)}
	case gap <= nearest && mode == LikeRVT:
		return &RefusalError{NearRule, fmt.Sprintf("the frame at %d us follows the one at %d us after %d us, and RVT wants more than %d us", t, last, gap, nearest)}
	}
	windows := k * (frameStep / step)
	if mode == Even {
		windows = max(int64(math.RoundToEven(float64(gap)/float64(step))), 1)
	}
	f.Times, f.steps = append(f.Times, t), append(f.steps, windows)
	return nil
}

// take collects the labels at the frames' times. Both are in order.
func (f *Frames) take(labels Labels) {
	i := 0
	for _, t := range f.Times {
		for labels[i].T < t {
			i++
		}
		f.FirstLabel = append(f.FirstLabel, int64(len(f.Labels)))
		for ; i < len(labels) && labels[i].T == t; i++ {
			f.Labels = append(f.Labels, labels[i])
		}
	}
}

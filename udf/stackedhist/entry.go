package stackedhist

import (
	"fmt"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/udf"
)

const source = "RVT (Gehrig and Scaramuzza 2023), uzh-rpg/RVT data/utils/representations.py, StackedHistogram"

// Entry makes the histogram available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "event counts by polarity and time bin at every pixel, OFF planes first: (2*bins, H, W) uint8",
	Source: source,
	Params: params(defaults),
	New:    fromArgs,
}

// RVTPreset is the histogram as RVT's preprocessing makes it, read in the only order that reproduces it.
var RVTPreset = udf.Entry{
	Name:   "rvt",
	Doc:    "the stacked histogram as RVT's preprocessing makes it, at half the resolution, with counts that wrap at 256",
	Source: source,
	Params: params(preset),
	New:    fromArgs,
	Policy: map[string]string{"on-unsorted": "clamp", "on-offsensor": "keep"},
}

// params is the parameter table with the values of h for defaults.
func params(h Histogram) []udf.Param {
	return []udf.Param{
		{Name: "bins", Default: fmt.Sprint(h.Bins), Doc: "time bins of a window"},
		{Name: "cutoff", Default: fmt.Sprint(h.Cutoff), Doc: "the largest count that is kept, 1 to 255, or none"},
		{Name: "downsample", Default: fmt.Sprint(h.Downsample), Choices: []string{"1", "2"},
			Doc: "2 halves the resolution: only events with odd x and odd y count"},
		{Name: "overflow", Default: h.Overflow.String(), Choices: []string{Saturating.String(), Wrapping.String()},
			Doc: "what becomes of counts beyond 255: they stay at the cutoff, or wrap at 256 as in RVT"},
		{Name: "rounding", Default: h.Rounding.String(), Choices: []string{accel.Torch32.String(), accel.Exact.String()},
			Doc: "how a time becomes a bin: in single precision as in RVT, or in integers"},
		{Name: "timebase", Default: h.Timebase.String(), Choices: []string{OfEvents.String(), OfWindow.String()},
			Doc: "what the bins divide: the time from first to last event, or the window"},
		{Name: "offsensor", Default: h.OffSensor.String(), Choices: []string{Drop.String(), FlatIndex.String()},
			Doc: "events off the sensor are dropped, or placed by RVT's unchecked flat index"},
	}
}

// fromArgs makes a histogram of arguments that udf.Entry.Make has checked against the choices.
func fromArgs(a udf.Args) (udf.Representation, error) {
	h := Histogram{
		Overflow: word(a["overflow"], Saturating, Wrapping), Rounding: word(a["rounding"], accel.Torch32, accel.Exact),
		Timebase: word(a["timebase"], OfEvents, OfWindow), OffSensor: word(a["offsensor"], Drop, FlatIndex),
	}
	var err error
	if h.Bins, err = a.Int("bins", 1, 1<<12); err != nil {
		return nil, err
	}
	if h.Downsample, err = a.Int("downsample", 1, 2); err != nil {
		return nil, err
	}
	if a["cutoff"] != "none" {
		if h.Cutoff, err = a.Int("cutoff", 1, 255); err != nil {
			return nil, fmt.Errorf("%w, or none", err)
		}
	}
	return h, nil
}

// word returns the value whose name was given, and the first where none was.
func word[T fmt.Stringer](given string, first, second T) T {
	if given == second.String() {
		return second
	}
	return first
}

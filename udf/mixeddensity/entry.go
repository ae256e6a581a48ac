package mixeddensity

import (
	"fmt"
	"math"

	"github.com/evq-project/evq/udf"
)

// Entry makes the stack available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "sums of polarity in time bins that halve towards the window's end, each with all before it: (bins, H, W) int8",
	Source: "RVT (Gehrig and Scaramuzza 2023), uzh-rpg/RVT data/utils/representations.py, MixedDensityEventStack",
	Params: []udf.Param{
		{Name: "bins", Default: "10", Doc: "time bins of a window, 1 to 32"},
		{Name: "cutoff", Default: "none", Doc: "the largest magnitude that is kept, 1 to 127, or none"},
		{Name: "downsample", Default: "1", Choices: []string{"1", "2"},
			Doc: "2 halves the resolution: only events with odd x and odd y count"},
	},
	New: fromArgs,
}

// fromArgs makes a stack of arguments that udf.Entry.Make has checked against the choices.
func fromArgs(a udf.Args) (udf.Representation, error) {
	var s Stack
	var err error
	if s.Bins, err = a.Int("bins", 1, maxBins); err != nil {
		return nil, err
	}
	if s.Downsample, err = a.Int("downsample", 1, 2); err != nil {
		return nil, err
	}
	if a["cutoff"] != "none" {
		if s.Cutoff, err = a.Int("cutoff", 1, math.MaxInt8); err != nil {
			return nil, fmt.Errorf("%w, or none", err)
		}
	}
	return s, nil
}

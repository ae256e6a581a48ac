package eventframe

import (
	"math"

	"github.com/evq-project/evq/udf"
)

// Entry makes the frames available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "event counts in slices of the window: (bins, 2, H, W) uint32, OFF first, or ON less OFF with signed=true: (bins, H, W) int32",
	Source: "Maqueda et al. 2018 (Event-based Vision meets Deep Learning on Steering Prediction); variant tonic: tonic 1.7, functional.to_frame_numpy",
	Params: []udf.Param{
		{Name: "bins", Default: "1", Doc: "slices of a window, 1 to 4096"},
		udf.WordParam("variant", "exact: every event counts; tonic: slices of whole microseconds, what is left over is dropped", Exact, Tonic),
		{Name: "signed", Default: "false", Choices: []string{"false", "true"}, Doc: "true: one plane a slice, in which OFF counts -1"},
		udf.WordParam("mode", "binary: 1 where there is an event (signed: the sign of the sum)", Count, Binary),
		{Name: "cutoff", Default: "none", Doc: "the largest magnitude that is kept, or none"},
		udf.TimebaseParam(),
	},
	New: fromArgs,
}

// fromArgs makes a frame of arguments that udf.Entry.Make has checked against the choices.
func fromArgs(a udf.Args) (udf.Representation, error) {
	f := Frame{Variant: udf.Word(a, "variant", Exact, Tonic), Signed: a["signed"] == "true", Mode: udf.Word(a, "mode", Count, Binary),
		Timebase: a.Timebase()}
	var err error
	if f.Bins, err = a.Int("bins", 1, maxBins); err != nil {
		return nil, err
	}
	if f.Cutoff, err = a.OrNone("cutoff", math.MaxInt32); err != nil {
		return nil, err
	}
	return f, nil
}

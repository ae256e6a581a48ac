package voxelgrid

import "github.com/evq-project/evq/udf"

// maxBins is far beyond any use; it keeps a bin exact in arithmetic of any kind.
const maxBins = 1 << 12

// Entry makes the grid available by name.
var Entry = udf.Entry{
	Name:   name,
	Doc:    "polarities shared out between the two nearest time bins: (bins, H, W) float32, or (2*bins, H, W), OFF first, with signed=false",
	Source: "Zhu et al. 2019 (Unsupervised Event-based Learning of Optical Flow, Depth, and Egomotion); variant b-1 and e2vid: Rebecq et al. 2019 (E2VID)",
	Params: []udf.Param{
		{Name: "bins", Default: "5", Doc: "time bins of a window, 1 to 4096"},
		udf.WordParam("variant", "zhu: bins lie at 0, 1/B and so on of the window; b-1: the last bin lies at its end", Zhu, BMinus1),
		udf.WordParam("normalize", "e2vid: the values that are not 0 get mean 0 and deviation 1", None, E2VID),
		{Name: "signed", Default: "true", Choices: []string{"true", "false"}, Doc: "OFF counts -1; false: the polarities have planes of their own"},
		udf.TimebaseParam(),
	},
	New: fromArgs,
}

// fromArgs makes a grid of arguments that udf.Entry.Make has checked against the choices.
func fromArgs(a udf.Args) (udf.Representation, error) {
	bins, err := a.Int("bins", 1, maxBins)
	if err != nil {
		return nil, err
	}
	return Grid{Bins: bins, Variant: udf.Word(a, "variant", Zhu, BMinus1), Normalize: udf.Word(a, "normalize", None, E2VID),
		Unsigned: a["signed"] == "false", Timebase: a.Timebase()}, nil
}

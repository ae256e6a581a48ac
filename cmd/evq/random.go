package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf"
)

// randomFlag reads the arguments of --add-random.
type randomFlag udf.EntryOf[*plan.AddRandom]

var randomArgs = randomFlag{
	Name: "add-random",
	Params: []udf.Param{
		{Name: "n", Default: "", Doc: "how many events"},
		{Name: "seed", Default: "1", Doc: "which events"},
		{Name: "region", Default: "", Doc: "the pixels X0/Y0/X1/Y1, both corners inside"},
	},
	New: newRandom,
}

func (r randomFlag) parse(s string) (*plan.AddRandom, error) {
	_, args, err := udf.ParseCall("add-random:" + s)
	if err != nil {
		return nil, err
	}
	return udf.EntryOf[*plan.AddRandom](r).Make(args)
}

func newRandom(a udf.Args) (*plan.AddRandom, error) {
	n, err := parseCount(a["n"])
	if err != nil {
		return nil, fmt.Errorf("n: %w", err)
	}
	seed, err := a.Int("seed", 0, math.MaxInt)
	if err != nil {
		return nil, err
	}
	out := &plan.AddRandom{N: n, Seed: uint64(seed)}
	if text := a["region"]; text != "" {
		r, err := parseRect(strings.ReplaceAll(text, "/", ","))
		if err != nil {
			return nil, fmt.Errorf("region is X0/Y0/X1/Y1, not %q", text)
		}
		out.Region = &plan.Rect{X0: uint16(r.x0), Y0: uint16(r.y0), X1: uint16(r.x1), Y1: uint16(r.y1)}
	}
	return out, nil
}

func addRandom(f engine.Frame, r *plan.AddRandom) engine.Frame {
	if at := r.Region; at != nil {
		return f.AddRandomIn(r.N, r.Seed, at.X0, at.Y0, at.X1, at.Y1)
	}
	return f.AddRandom(r.N, r.Seed)
}

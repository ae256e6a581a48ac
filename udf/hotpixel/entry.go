package hotpixel

import (
	"errors"
	"fmt"
	"math"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// usual is the percentile that holds where no rule is asked for.
const usual = 99.9

// Entry makes the filter available by name.
var Entry = udf.FilterEntry{
	Name:   name,
	Doc:    "drops pixels that fire far more often than the others; reads the recording twice",
	Source: "percentile: evlib, filter_hot_pixels; rate: tonic, identify_hot_pixel",
	Params: []udf.Param{
		{Name: "percentile", Default: fmt.Sprint(usual), Doc: "of the pixels that fired, those with more events than this percentile are hot"},
		{Name: "sigma", Default: "none", Doc: "instead: those with more than the mean and so many standard deviations"},
		{Name: "rate", Default: "none", Doc: "instead: those with more than so many events per second"},
		{Name: "from", Default: "none", Doc: "learn from events at this time and later"},
		{Name: "to", Default: "none", Doc: "learn from events before this time"},
	},
	New: fromArgs,
}

func fromArgs(a udf.Args) (udf.Filter, error) {
	rules, err := rules(a)
	if err != nil {
		return nil, err
	}
	from, err := instant(a, "from", math.MinInt64)
	if err != nil {
		return nil, err
	}
	to, err := instant(a, "to", math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if from >= to {
		return nil, errors.New("from is a time before to; exchange them")
	}
	return New(append(rules, During(from, to))...), nil
}

// rules returns the rule that is asked for; a percentile other than the usual is one.
func rules(a udf.Args) ([]Option, error) {
	var chosen []Option
	if s := a["sigma"]; s != "none" {
		k, err := a.Float("sigma", 0, 1e6)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, Sigma(k))
	}
	if s := a["rate"]; s != "none" {
		hz, err := a.Float("rate", 0, 1e9)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, Rate(hz))
	}
	q, err := a.Float("percentile", 0, 100)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 || q != usual {
		chosen = append(chosen, Percentile(q))
	}
	if len(chosen) > 1 {
		return nil, errors.New("percentile, sigma and rate exclude each other; give one")
	}
	return chosen, nil
}

// instant reads a time, which may be negative.
func instant(a udf.Args, param string, none int64) (int64, error) {
	if a[param] == "none" {
		return none, nil
	}
	t, err := event.ParseMicros(a[param], "us")
	if err != nil {
		return 0, fmt.Errorf("%s: %w", param, err)
	}
	return t, nil
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/udf"
)

// A windowSource is what --window-by names: the edges of a trigger, or the times of labels.
type windowSource struct {
	labels  string // the file, or
	channel int16
	edge    string
}

// edges are the edges of a trigger that begin windows.
var edgeWords = []string{"rising", "falling", "any"}

func parseWindowSource(s string) (w windowSource, err error) {
	kind, file, _ := strings.Cut(s, ":")
	switch kind {
	case "labels":
		if w.labels = file; file == "" {
			err = fmt.Errorf("%q names no file; write labels:FILE.npy", s)
		}
		return w, err
	case "trigger":
		_, args, err := udf.ParseCall(s)
		if err != nil {
			return w, err
		}
		return triggerSource.Make(args)
	}
	return w, unknown("source of windows", kind, []string{"trigger", "labels"})
}

// triggerSource reads the arguments of trigger.
var triggerSource = udf.EntryOf[windowSource]{
	Name: "trigger",
	Params: []udf.Param{
		{Name: "channel", Default: "0", Doc: "the channel of the trigger"},
		{Name: "edge", Default: "rising", Choices: edgeWords, Doc: "which edges begin a window"},
	},
	New: func(a udf.Args) (windowSource, error) {
		n, err := a.Int("channel", 0, 1<<15-1)
		return windowSource{channel: int16(n), edge: a["edge"]}, err
	},
}

// make returns the windows.
func (w windowSource) make(ctx context.Context, rec *engine.Recording, text string, span time.Duration) (by engine.Windowing, grid []int64, err error) {
	if w.labels != "" {
		labels, err := rvt.ReadLabels(w.labels)
		if err != nil {
			return by, nil, err
		}
		times := labelTimes(labels)
		if len(times) == 0 {
			return by, nil, fmt.Errorf("%s holds no label, so that there are no windows", w.labels)
		}
		return engine.Ends(times, span), times, nil
	}
	edges, err := rec.TriggerTimes(ctx, w.channel, w.edge != "falling", w.edge != "rising")
	if err != nil {
		return by, nil, err
	}
	if len(edges) == 0 {
		return by, nil, fmt.Errorf("the recording has no %s edge of trigger channel %d; evq head --triggers prints what it has", w.edge, w.channel)
	}
	starts, ends := edges[:len(edges)-1], edges[1:]
	if span > 0 {
		starts, ends = edges, make([]int64, len(edges))
		for i, e := range edges {
			ends[i] = e + span.Microseconds()
		}
	}
	return engine.Intervals(starts, ends, text), nil, nil
}

// labelTimes returns the times at which there are labels, in order.
func labelTimes(labels rvt.Labels) []int64 {
	times := make([]int64, len(labels))
	for i, l := range labels {
		times[i] = l.T
	}
	slices.Sort(times)
	return slices.Compact(times)
}

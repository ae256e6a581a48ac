package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/plan"
)

// Windowing is the flags that say how events are cut into windows.
type windowing struct {
	cmd      *cobra.Command
	length   time.Duration
	hop      time.Duration
	origin   string
	originAt int64
	ends     string
	span     time.Duration
	count    int64
	step     int64
	complete bool
	source   windowSource
	bySource string
}

func (w *windowing) flags(cmd *cobra.Command) {
	w.cmd = cmd
	valueFlag(cmd, &w.length, parseDuration, "window", "", "half-open windows [a, a+`D`), such as 50ms, one after the other")
	valueFlag(cmd, &w.hop, parseDuration, "hop", "", "with --window: a window begins every `D` (default its length)")
	add(cmd, &value{text: "0", kind: "T", set: w.setOrigin}, "origin", "",
		"with --window: a window begins at `T` of the recording's clock, or at its first event: 0, first, or a time")
	f := cmd.Flags()
	f.StringVar(&w.ends, "ends", "", "windows that end at the times of `GRID.npy` (integers, µs), closed at both ends as RVT's; needs --span or --count")
	_ = cmd.MarkFlagFilename("ends", "npy")
	valueFlag(cmd, &w.span, parseDuration, "span", "", "with --ends: the windows' length `D`")
	valueFlag(cmd, &w.count, parseCount, "count", "", "windows of `N` events, such as 50k; with --ends: of the last N up to each end")
	valueFlag(cmd, &w.step, parseCount, "step", "", "with --count: a window begins every `N` events (default as many as it has)")
	add(cmd, &value{kind: "SOURCE", set: func(s string) (err error) {
		w.bySource = s
		w.source, err = parseWindowSource(s)
		return err
	}}, "window-by", "", "windows by `SOURCE`: trigger:channel=0,edge=rising, from each edge to the next, or with --span of that length from it; "+
		"labels:FILE.npy, which end at the labels' times and have the length of --span")
	f.BoolVar(&w.complete, "complete", false, "with --count: leave out a last window with fewer events")
}

func (w *windowing) setOrigin(s string) error {
	w.origin = s
	if s == "first" {
		return nil
	}
	at, err := parseInstant(s)
	if err == nil && at.relative {
		err = fmt.Errorf("%q: write first for the first event, or a time of the recording's clock", s)
	}
	w.originAt = at.us
	return err
}

// of lists what belongs to each kind of windows.
var windowKinds = []struct {
	flag  string
	parts []string
}{
	{"window", []string{"hop", "origin"}},
	{"ends", []string{"span"}},
	{"count", []string{"step", "complete"}},
	{"window-by", []string{"span"}},
}

// check finds flags that do not go together.
func (w *windowing) check() error {
	chosen := ""
	for _, k := range windowKinds {
		if w.given(k.flag) && !(k.flag == "count" && chosen == "ends") { // the length of RVT's windows may be a count
			if chosen != "" {
				return usage("--%s and --%s are two kinds of windows; give one", chosen, k.flag)
			}
			chosen = k.flag
		}
	}
	for _, k := range windowKinds {
		for _, part := range k.parts {
			if w.given(part) && chosen != k.flag && !(part == "span" && (chosen == "ends" || chosen == "window-by")) {
				return usage("--%s goes with --%s", part, k.flag)
			}
		}
	}
	if w.source.labels != "" && !w.given("span") {
		return usage("--window-by labels needs --span, the length of the windows that end at the labels' times, such as --span 50ms")
	}
	switch span, count := w.given("span"), w.given("count"); {
	case chosen != "ends" || span != count:
	case span:
		return usage("--span and --count each say how long windows are; give one")
	default:
		return usage("--ends needs --span, the length of the windows, such as --span 50ms, or --count, how many events they have")
	}
	return nil
}

func (w *windowing) given(flag string) bool { return w.cmd.Flags().Changed(flag) }

// make returns the windows, and the grid where there is one. between is the range of times that was asked for,
// if any.
func (w *windowing) make(ctx context.Context, rec *engine.Recording, between *plan.TimeRange) (by engine.Windowing, grid []int64, err error) {
	switch {
	case w.given("window-by"):
		return w.source.make(ctx, rec, w.bySource, w.span)
	case w.given("window"):
		by = engine.Every(w.length)
		if w.given("hop") {
			by = by.Hop(w.hop)
		}
		if w.origin == "first" {
			by = by.OriginFirst()
		} else {
			by = by.Origin(w.originAt)
		}
		if between != nil {
			by = by.Between(between.From, between.To)
		}
	case w.given("ends"):
		if grid, err = npy.Grid(w.ends); err != nil {
			return by, nil, err
		}
		if by = engine.Ends(grid, w.span); w.given("count") {
			by = engine.EndsCount(grid, w.count)
		}
	case w.given("count"):
		by = engine.Count(w.count, w.step)
		if w.given("step") && w.step == 0 {
			return by, nil, usage("--step is 1 event at least")
		}
		if w.complete {
			by = by.Complete()
		}
	default:
		by = engine.WholeRecording()
	}
	return by, grid, nil
}

package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/accel/devices"
	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/plan/optimize"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// An input is the flags that say what is asked of a recording, up to its windows.
type input struct {
	app     *app
	reading reading
	filters filters
	windows windowing
	device  string
	rules   []optimize.Rule

	rec     *engine.Recording
	grid    []int64
	frame   engine.Frame
	by      engine.Windowing
	options []engine.Option
}

func (q *input) flags(cmd *cobra.Command) {
	q.rules = optimize.Default
	q.windows.flags(cmd)
	q.filters.flags(cmd)
	q.reading.flags(cmd)
	cmd.Flags().StringVar(&q.reading.cache, "cache", "", "convert the recording once, to a store in `DIR` that later runs read (default $EVQ_CACHE; empty for none)")
	_ = cmd.MarkFlagDirname("cache")
	deviceFlag(cmd, &q.device)
	valueFlag(cmd, &q.rules, parseRules, "rules", "", "the optimiser's rules: none, or `-NAME,...` to leave out some")
	complete(cmd, "rules", ruleWords())
}

// A tensorQuery is the flags of a query for blocks, and what it is made of.
type tensorQuery struct {
	input
	reprs   []string
	tensors engine.Tensors
}

func (q *tensorQuery) flags(cmd *cobra.Command) {
	names := reprNames()
	add(cmd, &value{kind: "NAME", set: func(s string) error { q.reprs = append(q.reprs, s); return nil }}, "repr", "",
		"the representation, `NAME[:key=value,...]`, which may be given several times: "+strings.Join(names, ", "))
	complete(cmd, "repr", names)
	q.input.flags(cmd)
}

func reprNames() []string {
	names := make([]string, len(builtins.All))
	for i, e := range builtins.All {
		names[i] = e.Name
	}
	return names
}

// deviceFlag declares --device: a name, or one with a number such as cuda:1.
func deviceFlag(cmd *cobra.Command, to *string) {
	words := append([]string{accel.Auto}, deviceNames()...)
	*to = accel.Auto
	add(cmd, &value{text: accel.Auto, kind: "NAME", set: func(s string) error {
		*to = s
		name, _, _ := strings.Cut(s, ":")
		return oneOf(name, words)
	}}, "device", "", "count on `NAME` ("+strings.Join(words, ", ")+"; cuda:1 is the second)")
	complete(cmd, "device", words)
}

func deviceNames() []string {
	names := make([]string, len(devices.All))
	for i, d := range devices.All {
		names[i] = d.Name()
	}
	return names
}

func ruleWords() []string {
	words := []string{"none"}
	for _, n := range optimize.Names(optimize.Default) {
		words = append(words, "-"+n)
	}
	return words
}

// parseRules reads none, or -NAME,-NAME.
func parseRules(s string) ([]optimize.Rule, error) {
	if s == "none" {
		return nil, nil
	}
	rules := optimize.Default
	for part := range strings.SplitSeq(s, ",") {
		name, ok := strings.CutPrefix(strings.TrimSpace(part), "-")
		if !ok {
			return nil, fmt.Errorf("%q: write none, or -NAME,-NAME for the rules to leave out", s)
		}
		out, err := optimize.Without(rules, name)
		if err != nil {
			names := optimize.Names(optimize.Default)
			if n := formats.Nearest(name, names); n != "" {
				return nil, fmt.Errorf("there is no rule %q; did you mean -%s?", name, n)
			}
			return nil, fmt.Errorf("there is no rule %q; there are %s", name, strings.Join(names, ", "))
		}
		rules = out
	}
	return rules, nil
}

// parseReprs makes what --repr names, and the decode policies it is defined with.
func parseReprs(texts []string) (reps []udf.Representation, policies map[string]string, err error) {
	if len(texts) == 0 {
		return nil, nil, usage("--repr says what to count, such as --repr rvt; there are %s", strings.Join(reprNames(), ", "))
	}
	policies = map[string]string{}
	for _, text := range texts {
		rep, err := engine.Represent(text)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("--repr %w", err)}
		}
		reps = append(reps, rep)
		entry, err := engine.RepresentationEntry(text)
		if err != nil {
			return nil, nil, err
		}
		for k, v := range entry.Policy {
			if was, ok := policies[k]; ok && was != v {
				return nil, nil, usage("--repr %s is defined with --%s %s, another with %s; run one after the other", text, k, v, was)
			}
			policies[k] = v
		}
		if _, args, _ := udf.ParseCall(text); args["offsensor"] == "rvt-flat" {
			policies["on-offsensor"] = "keep" // or there would be nothing to place
		}
	}
	return reps, policies, nil
}

// open checks the flags, opens the recording and makes the query.
func (q *tensorQuery) open(ctx context.Context, path string, m *meter) error {
	reps, policies, err := parseReprs(q.reprs)
	if err != nil {
		return err
	}
	if err := q.input.open(ctx, path, m, policies); err != nil {
		return err
	}
	q.tensors = q.frame.Window(q.by).Represent(reps...)
	return nil
}

// open checks the flags, opens the recording and makes the query up to its windows.
func (q *input) open(ctx context.Context, path string, m *meter, policies map[string]string) (err error) {
	if err := q.windows.check(); err != nil {
		return err
	}
	q.reading.prefer(policies)
	if q.reading.cache == "" {
		q.reading.cache = q.app.env("EVQ_CACHE")
	}
	if q.rec, err = q.app.open(path, &q.reading, m); err != nil {
		return err
	}
	return q.opened(ctx, path, m, policies)
}

// openMerged opens several recordings as one.
func (q *input) openMerged(ctx context.Context, paths []string, m *meter) error {
	if err := q.windows.check(); err != nil {
		return err
	}
	var all []*engine.Recording
	for _, p := range paths {
		rec, err := q.app.open(p, &q.reading, m)
		if err != nil {
			_ = engine.Merge(all...).Close()
			return err
		}
		all = append(all, rec)
	}
	q.rec = engine.Merge(all...)
	return q.opened(ctx, strings.Join(paths, " + "), m, nil)
}

// readAll is what reading a recording counted: of a cached one, what converting it did.
func (q *input) readAll(rep *event.Report) *event.Report {
	if q.rec.Cached() {
		return q.rec.Info().Report
	}
	return rep
}

// opened makes the query over the recording that was opened.
func (q *input) opened(ctx context.Context, path string, m *meter, policies map[string]string) error {
	q.app.warnOfStore(path, q.rec.Info(), policies)
	q.options = append(q.app.options(m), engine.Device(q.device), engine.Rules(q.rules...))
	return q.build(ctx)
}

// warnOfStore says where a store was converted under another policy than a representation is defined with, and
// that made a difference: it cannot be undone by reading.
func (a *app) warnOfStore(path string, info event.Info, policies map[string]string) {
	if info.Report == nil {
		return
	}
	for _, p := range []struct {
		policy, fact string
		counter      event.Counter
	}{{"on-unsorted", "evq.on_unsorted", event.Unsorted}, {"on-offsensor", "evq.on_offsensor", event.OffSensor}} {
		want, made, n := policies[p.policy], info.Field(p.fact), info.Report.N(p.counter)
		if want != "" && made != "" && made != want && n > 0 {
			a.warn(fmt.Sprintf("%s: the store was converted with --%s %s, which changed %s; the representation is defined with %s: convert again with --%s %s",
				path, p.policy, made, counted(n, "event"), want, p.policy, want))
		}
	}
}

// build makes the lazy query: filters and windows.
func (q *input) build(ctx context.Context) (err error) {
	if q.frame, err = q.filters.frame(ctx, q.rec, q.options); err != nil {
		return err
	}
	if q.by, q.grid, err = q.windows.make(ctx, q.rec, nil); err != nil {
		return err
	}
	if !q.windows.given("window") {
		return nil
	}
	between, ok, err := q.filters.span(ctx, q.rec, q.options)
	if err != nil || !ok {
		return err
	}
	q.by, _, err = q.windows.make(ctx, q.rec, &between)
	return err
}

func (q *input) close() {
	if q.rec != nil {
		_ = q.rec.Close()
	}
}

// beyond says which windows of the grid reach over the recording, whose first and last event lie at the given
// times; "" where none does.
func (q *input) beyond(first, last int64) string {
	if len(q.grid) == 0 {
		return ""
	}
	before, after := 0, 0
	span := q.windows.span.Microseconds()
	for _, end := range q.grid {
		if end > last {
			after++
		}
		if start := end - span; start < first && end > math.MinInt64+span {
			before++
		}
	}
	var parts []string
	if before > 0 {
		parts = append(parts, fmt.Sprintf("%s before its first event at %d µs", beginText(before), first))
	}
	if after > 0 {
		parts = append(parts, fmt.Sprintf("%s after its last event at %d µs", endText(after), last))
	}
	return strings.Join(parts, " and ")
}

func beginText(n int) string {
	if n == 1 {
		return "1 window begins"
	}
	return fmt.Sprintf("%d windows begin", n)
}

func endText(n int) string {
	if n == 1 {
		return "1 window ends"
	}
	return fmt.Sprintf("%d windows end", n)
}

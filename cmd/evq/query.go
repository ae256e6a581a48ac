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

// A query is the flags of a query for blocks, and what it is made of.
type query struct {
	app     *app
	reading reading
	filters filters
	windows windowing
	repr    string
	device  string
	rules   []optimize.Rule

	rec     *engine.Recording
	grid    []int64
	tensors engine.Tensors
	options []engine.Option
}

func (q *query) flags(cmd *cobra.Command) {
	q.rules = optimize.Default
	names := reprNames()
	add(cmd, &value{kind: "NAME", set: func(s string) error { q.repr = s; return nil }}, "repr", "",
		"the representation, `NAME[:key=value,...]`: "+strings.Join(names, ", "))
	complete(cmd, "repr", names)
	q.windows.flags(cmd)
	q.filters.flags(cmd)
	q.reading.flags(cmd)
	enumFlag(cmd, &q.device, "device", accel.Auto, "count on `NAME`", append([]string{accel.Auto}, deviceNames()...)...)
	valueFlag(cmd, &q.rules, parseRules, "rules", "", "the optimiser's rules: none, or `-NAME,...` to leave out some")
	complete(cmd, "rules", ruleWords())
}

func reprNames() []string {
	names := make([]string, len(builtins.All))
	for i, e := range builtins.All {
		names[i] = e.Name
	}
	return names
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

// parseRepr makes what --repr names, and the decode policies it is defined with.
func parseRepr(text string) (udf.Representation, map[string]string, error) {
	if text == "" {
		return nil, nil, usage("--repr says what to count, such as --repr rvt; there are %s", strings.Join(reprNames(), ", "))
	}
	name, args, err := udf.ParseCall(text)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("--repr %w", err)}
	}
	entry, ok := builtins.Lookup(name)
	if !ok {
		return nil, nil, unknown("representation", name, reprNames())
	}
	rep, err := entry.Make(args)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("--repr %w%s", err, paramHint(entry, args))}
	}
	policies := entry.Policy
	if args["offsensor"] == "rvt-flat" && policies == nil {
		policies = map[string]string{"on-offsensor": "keep"} // or there would be nothing to place
	}
	return rep, policies, nil
}

// paramHint offers the nearest parameter for one that an entry does not have.
func paramHint(e udf.Entry, args udf.Args) string {
	var names []string
	known := map[string]bool{}
	for _, p := range e.Params {
		names = append(names, p.Name)
		known[p.Name] = true
	}
	for k := range args {
		if n := formats.Nearest(k, names); !known[k] && n != "" {
			return fmt.Sprintf("; did you mean %s?", n)
		}
	}
	return ""
}

// open checks the flags, opens the recording and makes the query.
func (q *query) open(ctx context.Context, path string, m *meter) (err error) {
	if err := q.windows.check(); err != nil {
		return err
	}
	rep, policies, err := parseRepr(q.repr)
	if err != nil {
		return err
	}
	q.reading.prefer(policies)
	if q.rec, err = q.app.open(path, &q.reading, m); err != nil {
		return err
	}
	q.app.warnOfStore(path, q.rec.Info(), policies)
	q.options = append(q.app.options(m), engine.Device(q.device), engine.Rules(q.rules...))
	return q.build(ctx, rep)
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

// build makes the lazy query: filters, windows, representation.
func (q *query) build(ctx context.Context, rep udf.Representation) error {
	preds, err := q.filters.preds(ctx, q.rec, q.options)
	if err != nil {
		return err
	}
	by, grid, err := q.windows.make(nil)
	if err != nil {
		return err
	}
	if q.windows.given("window") {
		switch between, ok, err := q.filters.span(ctx, q.rec, preds, q.options); {
		case err != nil:
			return err
		case ok:
			if by, _, err = q.windows.make(&between); err != nil {
				return err
			}
		}
	}
	q.grid = grid
	q.tensors = apply(q.rec.Frame(), preds).Window(by).Represent(rep)
	return nil
}

func (q *query) close() {
	if q.rec != nil {
		_ = q.rec.Close()
	}
}

// beyond says which windows of the grid reach over the recording, whose first and last event lie at the given
// times; "" where none does.
func (q *query) beyond(first, last int64) string {
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

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/builtins"
)

// A step is one filter or transform. Exactly one of the fields below text is set.
type step struct {
	text      string
	time      *timeRange
	pred      exprs.Expr
	memory    udf.Filter
	transform exprs.Transform
	random    *plan.AddRandom
}

// Filters are the filters and transforms in the order they were written.
type filters struct{ list []step }

func (f *filters) flags(cmd *cobra.Command) {
	f.predicateFlags(cmd)
	names := filterNames()
	add(cmd, &value{kind: "NAME", set: func(s string) error {
		by, err := engine.Filter(s)
		f.list = append(f.list, step{text: "filter " + s, memory: by})
		return err
	}}, "filter", "", "apply a filter with memory, `NAME[:key=value,...]`: "+strings.Join(names, ", "))
	complete(cmd, "filter", names)
	for _, t := range exprs.Transforms {
		f.transformFlag(cmd, t)
	}
	add(cmd, &value{kind: "n=N", set: func(s string) error {
		r, err := randomArgs.parse(s)
		f.list = append(f.list, step{text: "add-random " + s, random: r})
		return err
	}}, "add-random", "", "add events at random, `n=N[,seed=S,region=X0/Y0/X1/Y1]`: uniform in time, over the sensor or a region, and in polarity")
}

func (f *filters) predicateFlags(cmd *cobra.Command) {
	add(cmd, &value{kind: "A..B", set: func(s string) error {
		r, err := parseTimeRange(s)
		f.list = append(f.list, step{text: "time " + s, time: &r})
		return err
	}}, "time", "", "keep A <= t < B of `A..B`, such as 1s..2.5s or plain µs; +1s counts from the first event; either side may be missing")
	add(cmd, &value{kind: "X0,Y0,X1,Y1", set: func(s string) error {
		r, err := parseRect(s)
		f.list = append(f.list, step{text: "roi " + s, pred: exprs.InRect(r.x0, r.y0, r.x1, r.y1)})
		return err
	}}, "roi", "", "keep the pixels of the rectangle `X0,Y0,X1,Y1`, both corners inside")
	words := []string{"on", "off"}
	add(cmd, &value{kind: "on|off", set: func(s string) error {
		p := int64(0)
		if s == "on" {
			p = 1
		}
		f.list = append(f.list, step{text: "polarity " + s, pred: exprs.P.Eq(p)})
		return oneOf(s, words)
	}}, "polarity", "", "keep the events of one polarity, `on|off`")
	complete(cmd, "polarity", words)
	add(cmd, &value{kind: "EXPR", set: func(s string) error {
		pred, err := engine.Predicate(s)
		f.list = append(f.list, step{text: "where " + s, pred: pred})
		return err
	}}, "where", "", "keep the events for which `EXPR` holds, such as 'x < 640 and (p = on or y between 10 and 20)'")
}

// transformFlag declares the flag of one transform.
func (f *filters) transformFlag(cmd *cobra.Command, t exprs.TransformEntry) {
	set := func(s string) error {
		if t.Param == "" {
			s = ""
		}
		by, err := t.New(s)
		f.list = append(f.list, step{text: strings.TrimSpace(t.Name + " " + s), transform: by})
		return err
	}
	doc := t.Doc
	if t.Param != "" {
		doc += ", `" + t.Param + "`"
	}
	add(cmd, &value{kind: t.Param, set: set}, t.Name, "", doc)
	if t.Param == "" {
		cmd.Flags().Lookup(t.Name).NoOptDefVal = "true"
	}
}

func filterNames() []string {
	names := make([]string, len(builtins.Filters))
	for i, e := range builtins.Filters {
		names[i] = e.Name
	}
	return names
}

// String lists the filters as they were written.
func (f *filters) String() string {
	texts := make([]string, len(f.list))
	for i, one := range f.list {
		texts[i] = one.text
	}
	return strings.Join(texts, ", ")
}

// frame puts the filters on a recording, with times on its clock.
func (f *filters) frame(ctx context.Context, rec *engine.Recording, opts []engine.Option) (engine.Frame, error) {
	out := rec.Frame()
	preds, err := f.preds(ctx, rec, opts)
	if err != nil {
		return out, err
	}
	for i, one := range f.list {
		switch {
		case one.memory != nil:
			out = out.Apply(one.memory)
		case one.transform != nil:
			out = out.Map(one.transform)
		case one.random != nil:
			out = addRandom(out, one.random)
		default:
			out = out.Filter(preds[i])
		}
	}
	return out, nil
}

// preds returns the predicates in order, with times on the recording's clock; nil stands for what is none.
func (f *filters) preds(ctx context.Context, rec *engine.Recording, opts []engine.Option) ([]exprs.Expr, error) {
	var first int64
	for _, one := range f.list {
		if one.time != nil && one.time.relative() {
			t, _, err := firstTime(ctx, rec, opts)
			if err != nil {
				return nil, err
			}
			first = t
			break
		}
	}
	out := make([]exprs.Expr, len(f.list))
	for i, one := range f.list {
		out[i] = one.pred
		if one.time != nil {
			out[i] = one.time.pred(first)
		}
	}
	return out, nil
}

// timed reports whether a filter asks for a time.
func (f *filters) timed() bool {
	for _, one := range f.list {
		if one.time != nil {
			return true
		}
	}
	return false
}

// span returns the half-open range of times that all the filters together ask for, after the transforms; where a
// side is open, the recording's own first or last event bounds it. ok is false where no time was asked for, or where
// nothing can bound it; a range without any time is wrong use.
func (f *filters) span(ctx context.Context, rec *engine.Recording, opts []engine.Option) (r plan.TimeRange, ok bool, err error) {
	if !f.timed() {
		return r, false, nil
	}
	box, err := f.times(ctx, rec, event.Everything, opts)
	if err != nil {
		return r, false, err
	}
	if box.Empty() {
		return r, false, usage("the ranges of --time have no time in common, so that there are no windows")
	}
	if open := event.Everything; box.T0 == open.T0 || box.T1 == open.T1 {
		first, last, some, err := extremes(ctx, rec, opts)
		if err != nil || !some {
			return r, false, err
		}
		open.T0, open.T1 = first, last
		if box, err = f.times(ctx, rec, open, opts); err != nil || box.Empty() {
			return r, false, err // without an event in it
		}
	}
	return plan.TimeRange{From: box.T0, To: max(box.T1, box.T1+1)}, true, nil // the last time there is stays
}

// times returns where the times of a box lie after the filters and transforms.
func (f *filters) times(ctx context.Context, rec *engine.Recording, box event.Box, opts []engine.Option) (event.Box, error) {
	preds, err := f.preds(ctx, rec, opts)
	if err != nil {
		return box, err
	}
	g := rec.Geometry()
	for i, one := range f.list {
		switch {
		case one.time != nil:
			box = box.Intersect(preds[i].Box())
		case one.transform != nil:
			by, err := one.transform.Project(g)
			if err != nil {
				return box, usageError{err}
			}
			g = by.Geometry
			if !box.Empty() {
				box.T0, box.T1 = by.T.Range(box)
			}
		}
	}
	return box, nil
}

// firstTime returns the time of the first event.
func firstTime(ctx context.Context, rec *engine.Recording, opts []engine.Option) (t int64, ok bool, err error) {
	if info := rec.Info(); info.Stats && info.Events > 0 {
		return info.Extent.T0, true, nil
	}
	b, err := rec.Frame().Limit(1).Collect(ctx, opts...)
	if err != nil || b.Len() == 0 {
		return 0, false, err
	}
	return b.T()[0], true, nil
}

// extremes returns the times of the first and the last event; only decoding tells them of some recordings.
func extremes(ctx context.Context, rec *engine.Recording, opts []engine.Option) (first, last int64, ok bool, err error) {
	if info := rec.Info(); info.Stats {
		return info.Extent.T0, info.Extent.T1, info.Events > 0, nil
	}
	err = rec.Frame().Each(ctx, func(b event.Batch) error {
		if !ok {
			first, ok = b.T()[0], true
		}
		last = b.T()[b.Len()-1]
		return nil
	}, opts...)
	return first, last, ok, err
}

// relative reports whether a side counts from the first event.
func (r timeRange) relative() bool { return r.from.relative || r.to.relative }

// pred returns the range as a predicate.
func (r timeRange) pred(first int64) exprs.Expr {
	lo, hi := event.Everything.T0, event.Everything.T1
	if r.hasFrom {
		lo = r.from.on(first)
	}
	if r.hasTo {
		to := r.to.on(first)
		if to == event.Everything.T0 {
			return exprs.False
		}
		hi = to - 1
	}
	if lo > hi {
		return exprs.False
	}
	return exprs.T.Between(lo, hi)
}

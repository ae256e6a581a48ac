package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/plan"
)

// A filter is one --time, --roi or --polarity.
type filter struct {
	text string
	time *timeRange
	pred exprs.Expr // of the others
}

// Filters are the filters in the order they were written.
type filters struct{ list []filter }

func (f *filters) flags(cmd *cobra.Command) {
	add(cmd, &value{kind: "A..B", set: func(s string) error {
		r, err := parseTimeRange(s)
		f.list = append(f.list, filter{text: "time " + s, time: &r})
		return err
	}}, "time", "", "keep A <= t < B of `A..B`, such as 1s..2.5s or plain µs; +1s counts from the first event; either side may be missing")
	add(cmd, &value{kind: "X0,Y0,X1,Y1", set: func(s string) error {
		r, err := parseRect(s)
		f.list = append(f.list, filter{text: "roi " + s, pred: exprs.InRect(r.x0, r.y0, r.x1, r.y1)})
		return err
	}}, "roi", "", "keep the pixels of the rectangle `X0,Y0,X1,Y1`, both corners inside")
	words := []string{"on", "off"}
	add(cmd, &value{kind: "on|off", set: func(s string) error {
		p := int64(0)
		if s == "on" {
			p = 1
		}
		f.list = append(f.list, filter{text: "polarity " + s, pred: exprs.P.Eq(p)})
		return oneOf(s, words)
	}}, "polarity", "", "keep the events of one polarity, `on|off`")
	complete(cmd, "polarity", words)
}

// String lists the filters as they were written.
func (f *filters) String() string {
	texts := make([]string, len(f.list))
	for i, one := range f.list {
		texts[i] = one.text
	}
	return strings.Join(texts, ", ")
}

// preds returns the predicates in order, with times on the recording's clock.
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

// apply adds the filters to a frame, one after the other.
func apply(f engine.Frame, preds []exprs.Expr) engine.Frame {
	for _, p := range preds {
		f = f.Filter(p)
	}
	return f
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

// span returns the half-open range of times that all the filters together ask for; where a side is open, the
// recording's own first or last event bounds it. ok is false where no time was asked for, or where nothing can
// bound it; a range without any time is wrong use.
func (f *filters) span(ctx context.Context, rec *engine.Recording, preds []exprs.Expr, opts []engine.Option) (r plan.TimeRange, ok bool, err error) {
	if !f.timed() {
		return r, false, nil
	}
	box := event.Everything
	for i, one := range f.list {
		if one.time != nil {
			box = box.Intersect(preds[i].Box())
		}
	}
	if box.Empty() {
		return r, false, usage("the ranges of --time have no time in common, so that there are no windows")
	}
	if box.T0 == event.Everything.T0 || box.T1 == event.Everything.T1 {
		first, last, some, err := extremes(ctx, rec, opts)
		if err != nil || !some {
			return r, false, err
		}
		if box.T0 == event.Everything.T0 {
			box.T0 = first
		}
		if box.T1 == event.Everything.T1 {
			box.T1 = last
		}
		if box.Empty() {
			return r, false, nil // without an event in it
		}
	}
	return plan.TimeRange{From: box.T0, To: max(box.T1, box.T1+1)}, true, nil // the last time there is stays
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

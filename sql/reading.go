package sql

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/npy"
)

// readingNames, selectingNames and windowingNames are the arguments that functions share; they mean what the flags
// of the command mean.
var (
	readingNames   = []string{"format", "size", "on_unsorted", "on_offsensor", "on_unknown", "strict", "zero", "swap_xy", "polarity_encoding", "time_unit", "layout", "salvage"}
	selectingNames = []string{"time", "roi", "polarity", "where", "filter"}
	windowingNames = []string{"window", "hop", "origin", "count", "step", "complete", "ends", "span"}
)

// reading takes the arguments that say how a recording is read. prefer are policies that replace the defaults.
func (s *Session) reading(a *arguments, prefer map[string]string) ([]engine.Option, error) {
	p := s.options.Policy
	for _, c := range []struct {
		name string
		to   *format.Choice
		of   []format.Choice
	}{
		{"on_unsorted", &p.OnUnsorted, format.OrderChoices},
		{"on_offsensor", &p.OnOffSensor, format.OffSensorChoices},
		{"on_unknown", &p.OnUnknown, format.UnknownChoices},
	} {
		word := a.text(c.name)
		if word == "" && *c.to == "" {
			word = prefer[strings.ReplaceAll(c.name, "_", "-")]
		}
		if word == "" {
			continue
		}
		var err error
		if *c.to, err = format.ParseChoice(c.name, word, c.of); err != nil {
			return nil, fmt.Errorf("%s: %w", a.function, err)
		}
	}
	for name, to := range map[string]*bool{"strict": &p.Strict, "zero": &p.Zero, "swap_xy": &p.SwapXY, "salvage": &p.Salvage} {
		yes, err := a.truth(name)
		if err != nil {
			return nil, err
		}
		if a.has(name) {
			*to = yes
		}
	}
	if a.has("size") {
		var err error
		if p.Size, err = parseSize(a.text("size")); err != nil {
			return nil, a.wrong("size", err)
		}
	}
	for name, to := range map[string]*string{"polarity_encoding": &p.Polarity, "time_unit": &p.TimeUnit, "layout": &p.Layout} {
		if a.has(name) {
			*to = a.text(name)
		}
	}
	opts := append(slices.Clone(s.options.Engine), engine.Policies(p))
	if a.has("format") {
		opts = append(opts, engine.Format(a.text("format")))
	}
	return append(opts, engine.Threads(s.options.Threads), engine.Memory(s.shares.engine)), nil
}

// parseSize reads WIDTHxHEIGHT, or WIDTH,HEIGHT of a list.
func parseSize(text string) (event.Geometry, error) {
	w, h, ok := strings.Cut(strings.ReplaceAll(strings.ToLower(text), ",", "x"), "x")
	width, err1 := strconv.ParseUint(strings.TrimSpace(w), 10, 17)
	height, err2 := strconv.ParseUint(strings.TrimSpace(h), 10, 17)
	if !ok || err1 != nil || err2 != nil || width < 1 || height < 1 || width > 1<<16 || height > 1<<16 {
		return event.Geometry{}, fmt.Errorf("%q is no size; write 'WIDTHxHEIGHT' in pixels, such as '1280x720'", text)
	}
	return event.Geometry{Width: int(width), Height: int(height)}, nil
}

// selecting takes the arguments that say which events are kept, and returns the change to a frame.
func (s *Session) selecting(ctx context.Context, a *arguments) (func(*engine.Recording) (engine.Frame, error), error) {
	var preds []exprs.Expr
	var times *span
	if a.has("time") {
		t, err := parseSpan(a.text("time"))
		if err != nil {
			return nil, a.wrong("time", err)
		}
		times = &t
	}
	if a.has("roi") {
		p, err := parseROI(a.text("roi"))
		if err != nil {
			return nil, a.wrong("roi", err)
		}
		preds = append(preds, p)
	}
	if a.has("polarity") {
		switch a.text("polarity") {
		case "on", "1", "true":
			preds = append(preds, exprs.P.Eq(1))
		case "off", "0", "false":
			preds = append(preds, exprs.P.Eq(0))
		default:
			return nil, fmt.Errorf("%s: polarity is on or off, not %q", a.function, a.text("polarity"))
		}
	}
	if err := s.masks(a); err != nil {
		return nil, err
	}
	if a.has("where") {
		p, err := engine.Predicate(a.text("where"), s.naming()...)
		if err != nil {
			return nil, a.wrong("where", err)
		}
		preds = append(preds, p)
	}
	filters := a.texts("filter")
	return func(rec *engine.Recording) (engine.Frame, error) {
		f := rec.Frame()
		if times != nil {
			p, err := times.pred(ctx, rec)
			if err != nil {
				return f, err
			}
			f = f.Filter(p)
		}
		if len(preds) > 0 {
			f = f.Filter(preds...)
		}
		for _, text := range filters {
			by, err := engine.Filter(text, s.naming()...)
			if err != nil {
				return f, a.wrong("filter", err)
			}
			f = f.Apply(by)
		}
		return f, nil
	}, nil
}

// parseROI reads X0,Y0,X1,Y1, both corners inside.
func parseROI(text string) (exprs.Expr, error) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", :;", r) })
	v := make([]int64, 4)
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || len(parts) != 4 {
			return nil, fmt.Errorf("%q is no rectangle; write [X0, Y0, X1, Y1], both corners inside, such as [0, 0, 639, 359]", text)
		}
		v[i] = int64(n)
	}
	if len(parts) != 4 || v[0] > v[2] || v[1] > v[3] {
		return nil, fmt.Errorf("%q is no rectangle; write [X0, Y0, X1, Y1], the upper left corner first, such as [0, 0, 639, 359]", text)
	}
	return exprs.And(exprs.X.Between(v[0], v[2]), exprs.Y.Between(v[1], v[3])), nil
}

// A span is a half-open range of times; a side with a plus counts from the first event, one that is missing is open.
type span struct {
	from, to       int64
	hasFrom, hasTo bool
	fromRel, toRel bool
}

func parseSpan(text string) (span, error) {
	from, to, ok := strings.Cut(text, "..")
	if !ok {
		if from, to, ok = strings.Cut(text, ","); !ok {
			return span{}, fmt.Errorf("%q is no range; write 'A..B', such as '1s..2.5s', where either side may be missing", text)
		}
	}
	var s span
	var err error
	if s.hasFrom = from != ""; s.hasFrom {
		s.fromRel = strings.HasPrefix(strings.TrimSpace(from), "+")
		if s.from, err = event.ParseMicros(from, "us"); err != nil {
			return s, err
		}
	}
	if s.hasTo = to != ""; s.hasTo {
		s.toRel = strings.HasPrefix(strings.TrimSpace(to), "+")
		if s.to, err = event.ParseMicros(to, "us"); err != nil {
			return s, err
		}
	}
	if s.hasFrom && s.hasTo && s.fromRel == s.toRel && s.from > s.to {
		return s, fmt.Errorf("%q ends before it starts", text)
	}
	return s, nil
}

// pred returns the range as a predicate on the recording's clock.
func (s span) pred(ctx context.Context, rec *engine.Recording) (exprs.Expr, error) {
	lo, hi := event.Everything.T0, event.Everything.T1
	var first int64
	if s.fromRel || s.toRel {
		if info := rec.Info(); info.Stats && info.Events > 0 {
			first = info.Extent.T0
		} else if b, err := rec.Frame().Limit(1).Collect(ctx); err != nil {
			return nil, err
		} else if b.Len() > 0 {
			first = b.T()[0]
		}
	}
	on := func(t int64, relative bool) int64 {
		if !relative {
			return t
		}
		if t > 0 && first > math.MaxInt64-t {
			return math.MaxInt64
		}
		return first + t
	}
	if s.hasFrom {
		lo = on(s.from, s.fromRel)
	}
	if s.hasTo {
		to := on(s.to, s.toRel)
		if to == math.MinInt64 {
			return exprs.False, nil
		}
		hi = to - 1
	}
	if lo > hi {
		return exprs.False, nil
	}
	return exprs.T.Between(lo, hi), nil
}

// windowing takes the arguments that cut a recording into windows; without any, it is one window.
func (s *Session) windowing(a *arguments) (engine.Windowing, error) {
	whole := engine.WholeRecording()
	kinds := 0
	for _, k := range []string{"window", "count", "ends"} {
		if a.has(k) {
			kinds++
		}
	}
	ends := a.has("ends")
	if kinds > 1 && !(ends && kinds == 2 && a.has("count")) {
		return whole, fmt.Errorf("%s: window, count and ends are three kinds of windows; give one", a.function)
	}
	micros := func(name string) (time.Duration, error) {
		v, err := event.ParseMicros(a.text(name), "us")
		if err == nil && (v < 1 || v > math.MaxInt64/1000) {
			err = fmt.Errorf("%q is no length; write '50ms', or microseconds", a.text(name))
		}
		if err != nil {
			return 0, a.wrong(name, err)
		}
		return time.Duration(v) * time.Microsecond, nil
	}
	number := func(name string) (int64, error) {
		v, err := strconv.ParseInt(a.text(name), 10, 64)
		if err != nil || v < 1 {
			return 0, fmt.Errorf("%s: %s is a number of events from 1 on, not %q", a.function, name, a.text(name))
		}
		return v, nil
	}
	switch {
	case ends:
		return s.ends(a, micros, number)
	case a.has("window"):
		return every(a, micros)
	case a.has("count"):
		n, err := number("count")
		if err != nil {
			return whole, err
		}
		step := n
		if a.has("step") {
			if step, err = number("step"); err != nil {
				return whole, err
			}
		}
		by := engine.Count(n, step)
		if complete, err := a.truth("complete"); err != nil {
			return whole, err
		} else if complete {
			by = by.Complete()
		}
		return by, nil
	}
	for _, k := range []string{"hop", "origin", "step", "complete", "span"} {
		if a.has(k) {
			return whole, fmt.Errorf("%s: %s says more of windows that were not asked for; give window, count or ends", a.function, k)
		}
	}
	return whole, nil
}

func every(a *arguments, micros func(string) (time.Duration, error)) (engine.Windowing, error) {
	length, err := micros("window")
	if err != nil {
		return engine.Windowing{}, err
	}
	by := engine.Every(length)
	if a.has("hop") {
		hop, err := micros("hop")
		if err != nil {
			return by, err
		}
		by = by.Hop(hop)
	}
	switch text := a.text("origin"); text {
	case "":
	case "first":
		by = by.OriginFirst()
	default:
		t, err := event.ParseMicros(text, "us")
		if err != nil {
			return by, a.wrong("origin", err)
		}
		by = by.Origin(t)
	}
	return by, nil
}

// ends reads RVT's windows, which end at given times: a list, or the name of a .npy.
func (s *Session) ends(a *arguments, micros func(string) (time.Duration, error), number func(string) (int64, error)) (by engine.Windowing, err error) {
	var grid []int64
	switch v := a.given["ends"].(type) {
	case string:
		if err := s.allow.check(v); err != nil {
			return by, err
		}
		if grid, err = npy.Grid(v); err != nil {
			return by, a.wrong("ends", err)
		}
	case []any:
		for _, one := range v {
			t, ok := one.(int64)
			if !ok {
				return by, fmt.Errorf("%s: ends is a list of microseconds, or a .npy of them; it holds %v", a.function, one)
			}
			grid = append(grid, t)
		}
	default:
		return by, fmt.Errorf("%s: ends is a list of microseconds, or a .npy of them", a.function)
	}
	switch {
	case a.has("span") == a.has("count"):
		return by, fmt.Errorf("%s: ends needs span, the length of the windows, or count, how many events they have", a.function)
	case a.has("span"):
		d, err := micros("span")
		return engine.Ends(grid, d), err
	}
	n, err := number("count")
	return engine.EndsCount(grid, n), err
}

// masks refuses the names of files within filters and predicates where only some files may be touched.
func (s *Session) masks(a *arguments) error {
	if s.allow == nil {
		return nil
	}
	for _, text := range append(a.texts("filter"), a.text("where")) {
		if strings.Contains(strings.ToLower(text), "mask") {
			return fmt.Errorf("%s: %w: %q would read a mask from a file; this session may touch only some files", a.function, ErrRefused, text)
		}
	}
	return nil
}

// naming are the options by which text names functions.
func (s *Session) naming() []engine.Option {
	var out []engine.Option
	for _, e := range s.options.Functions.Representations {
		out = append(out, engine.WithRepresentation(e))
	}
	for _, e := range s.options.Functions.Filters {
		out = append(out, engine.WithFilter(e))
	}
	return out
}

// files returns the files that paths name, in order. A name that exists wins over glob characters in it.
func (s *Session) files(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		found := []string{p}
		if _, err := os.Lstat(p); err != nil && strings.ContainsAny(p, "*?[") {
			// Whether there are files outside of what may be touched is not told either.
			if err := s.allow.checkPattern(p); err != nil {
				return nil, err
			}
			if found, err = filepath.Glob(p); err != nil {
				return nil, fmt.Errorf("%q: %w", p, err)
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("no file matches %q", p)
			}
		}
		for _, f := range found {
			if err := s.allow.check(f); err != nil {
				return nil, err
			}
		}
		out = append(out, found...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the list of recordings is empty; name one")
	}
	return out, nil
}

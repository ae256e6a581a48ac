package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
)

// A reading is the flags that say how a recording is read.
type reading struct {
	format      string
	size        event.Geometry
	onUnsorted  format.Choice
	onOffSensor format.Choice
	onUnknown   format.Choice
	strict      bool
	zero        bool
	swapXY      bool
	polarity    string
	timeUnit    string
	timeStep    time.Duration
	columns     []string
	layout      string
	stream      int
	streamGiven bool
	datasets    map[string]string
	salvage     bool
	join        bool
	cache       string   // folder of stores, empty for none
	parts       []string // of a joined recording, after the first

	given []string // the policies that the user set, by their flags' names
}

func (r *reading) flags(cmd *cobra.Command) {
	names := formatNames()
	add(cmd, &value{kind: "NAME", set: func(s string) error { r.format = s; return oneOf(s, names) }}, "format", "",
		"read the recording as `NAME` instead of recognising it")
	complete(cmd, "format", names)
	valueFlag(cmd, &r.size, parseSize, "size", "", "sensor size `WxH` in pixels; wins over the recording's own")
	r.policy(cmd, &r.onUnsorted, "on-unsorted", "`WHAT` becomes of events before an earlier one", format.OrderChoices)
	r.policy(cmd, &r.onOffSensor, "on-offsensor", "`WHAT` becomes of events off the sensor", format.OffSensorChoices)
	r.policy(cmd, &r.onUnknown, "on-unknown", "`WHAT` becomes of words of unknown type", format.UnknownChoices)
	enumFlag(cmd, &r.polarity, "polarity-encoding", "auto", "how polarity is stored, `ENCODING`", "auto", "01", "pm1", "nonzero")
	enumFlag(cmd, &r.timeUnit, "time-unit", "auto", "of times in formats that do not fix it, `UNIT`", "auto", "s", "ms", "us", "ns")
	valueFlag(cmd, &r.timeStep, parseDuration, "time-step", "", "from one event to the next, `D`, in formats without times")
	valueFlag(cmd, &r.columns, parseColumns, "columns", "", "the order of columns, `t,x,y,p`, in text that does not say it")
	valueFlag(cmd, &r.datasets, parseDatasets, "h5-map", "", "the datasets of an HDF5 file or archive, `t=NAME,x=NAME,...`")
	f := cmd.Flags()
	f.StringVar(&r.layout, "layout", "", "of a format that has several, `NAME`, such as dvs128 or davis for AEDAT 2")
	add(cmd, &value{kind: "N", set: func(s string) (err error) {
		r.stream, err = strconv.Atoi(s)
		r.streamGiven = true
		return err
	}}, "stream", "", "which of several event streams, `N`")
	f.BoolVar(&r.salvage, "salvage", false, "skip damage, name each bad range, and keep the rest")
	f.BoolVar(&r.strict, "strict", false, "every policy is error, and a cut tail too")
	f.BoolVar(&r.zero, "zero", false, "subtract the first time; the shift is recorded")
	f.BoolVar(&r.swapXY, "swap-xy", false, "the recording has x and y exchanged")
}

// policy declares a flag for a decode policy. It stays empty where it is not given, so that a preset may decide.
func (r *reading) policy(cmd *cobra.Command, to *format.Choice, name, doc string, of []format.Choice) {
	words := make([]string, len(of))
	for i, c := range of {
		words[i] = string(c)
	}
	add(cmd, &value{kind: name, set: func(s string) error {
		*to = format.Choice(s)
		r.given = append(r.given, name)
		return oneOf(s, words)
	}}, name, "", fmt.Sprintf("%s: %s (default %s)", doc, strings.Join(words, ", "), words[0]))
	complete(cmd, name, words)
}

// prefer lets the policies that a representation is defined with replace the defaults, never what was given.
func (r *reading) prefer(policies map[string]string) {
	for name, word := range policies {
		if slices.Contains(r.given, name) {
			continue
		}
		switch name {
		case "on-unsorted":
			r.onUnsorted = format.Choice(word)
		case "on-offsensor":
			r.onOffSensor = format.Choice(word)
		case "on-unknown":
			r.onUnknown = format.Choice(word)
		}
	}
}

// policies returns the decode policies with their defaults filled in.
func (r *reading) policies() format.Policy {
	return format.Policy{
		OnUnsorted: r.onUnsorted, OnOffSensor: r.onOffSensor, OnUnknown: r.onUnknown,
		Strict: r.strict, Size: r.size, Zero: r.zero, SwapXY: r.swapXY, Polarity: r.polarity,
		TimeUnit: r.timeUnit, TimeStep: r.timeStep, Columns: r.columns, Layout: r.layout,
		Stream: r.stream, StreamGiven: r.streamGiven, DatasetMap: r.datasets, Salvage: r.salvage,
	}
}

// parseColumns reads an order of columns, each of t, x, y, p once; "-" is a column to pass over.
func parseColumns(s string) ([]string, error) {
	cols := strings.Split(s, ",")
	seen := map[string]bool{}
	for i, c := range cols {
		cols[i] = strings.TrimSpace(c)
		if c = cols[i]; c == "-" {
			continue
		}
		if !slices.Contains(fieldNames, c) || seen[c] {
			return nil, fmt.Errorf("%q: write each of t, x, y, p once, and - for a column to pass over", s)
		}
		seen[c] = true
	}
	if len(seen) != len(fieldNames) {
		return nil, fmt.Errorf("%q: write each of t, x, y, p once, and - for a column to pass over", s)
	}
	return cols, nil
}

var fieldNames = []string{"t", "x", "y", "p"}

// parseDatasets reads t=NAME,x=NAME,...
func parseDatasets(s string) (map[string]string, error) {
	out := map[string]string{}
	for part := range strings.SplitSeq(s, ",") {
		k, v, ok := strings.Cut(part, "=")
		if k = strings.TrimSpace(k); !ok || !slices.Contains(fieldNames, k) || v == "" || out[k] != "" {
			return nil, fmt.Errorf("%q: write t=NAME,x=NAME,y=NAME,p=NAME, each once", s)
		}
		out[k] = strings.TrimSpace(v)
	}
	return out, nil
}

// open opens a recording; what it reads shows in the meter.
func (a *app) open(path string, r *reading, m *meter) (*engine.Recording, error) {
	p := r.policies()
	p.OnRead = m.readAt
	rec, err := engine.Open(path, engine.Format(r.format), engine.Join(r.parts...), engine.Policies(p), engine.Threads(a.threads),
		engine.Memory(a.memory), engine.Logger(a.log), engine.Cache(r.cache))
	if err == nil {
		m.size = sizeOf(rec)
	}
	return rec, err
}

// options are what every query is run with.
func (a *app) options(m *meter) []engine.Option {
	return []engine.Option{
		engine.Threads(a.threads), engine.Memory(a.memory), engine.Logger(a.log),
		engine.Progress(func(done, _ int64) { m.events.Store(done) }),
	}
}

func formatNames() []string {
	names := make([]string, len(formats.All))
	for i, f := range formats.All {
		names[i] = f.Name
	}
	return names
}

package main

import (
	"fmt"
	"slices"
	"strings"

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
	f := cmd.Flags()
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
	}
}

// open opens a recording; what it reads shows in the meter.
func (a *app) open(path string, r *reading, m *meter) (*engine.Recording, error) {
	p := r.policies()
	p.OnRead = m.readAt
	return engine.Open(path, engine.Format(r.format), engine.Policies(p), engine.Threads(a.threads), engine.Memory(a.memory),
		engine.Logger(a.log))
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

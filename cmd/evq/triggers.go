package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/convert"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/parquet"
	"github.com/evq-project/evq/io/text"
)

// onlyTriggers is the word of --only.
const onlyTriggers = "triggers"

// triggerFormats are the formats that triggers can be written in.
var triggerFormats = []string{text.CSV.Name, parquet.Format.Name}

// checkOnly refuses what does not go with --only.
func (c *conversion) checkOnly(to format.Format) error {
	switch {
	case c.only == "":
		return nil
	case !slices.Contains(triggerFormats, to.Name):
		return usage("--only %s writes %s, not %s; choose one by OUT's extension or by --to", c.only, strings.Join(triggerFormats, " or "), to.Name)
	case to.Name != parquet.Format.Name && c.writing.compression != "":
		return usage("--compression does not go with triggers as %s", to.Name)
	case slices.ContainsFunc(c.filters.list, func(s step) bool { return s.time == nil }):
		return usage("--only %s goes with --time, not with filters of events", c.only)
	}
	return nil
}

// triggers writes the triggers of a source alone.
func (c *conversion) triggers(ctx context.Context, src event.Source, t task, m *meter) error {
	create := func() (convert.TriggerSink, error) { return text.CreateTriggers(t.out, c.writing.force) }
	if t.to.Name == parquet.Format.Name {
		create = func() (convert.TriggerSink, error) {
			return parquet.CreateTriggers(t.out, c.writing.force, c.writing.compression)
		}
	}
	sink, err := create()
	if err != nil {
		return err
	}
	rep, done, err := convert.Triggers(ctx, src, sink, c.app.threads)
	m.stop()
	if err != nil {
		return err
	}
	var size int64
	if st, err := os.Stat(t.out); err == nil {
		size = st.Size()
	}
	line := fmt.Sprintf("%s: %s", t.out, counted(done.Triggers, "trigger"))
	if done.Triggers > 0 {
		line += fmt.Sprintf(" from %d to %d µs", done.First, done.Last)
	}
	c.app.say(line+", "+bytesText(size)+", "+secondsText(m.elapsed()), "output", t.out, "triggers", done.Triggers,
		"first_t", done.First, "last_t", done.Last, "bytes", size, "seconds", m.elapsed().Seconds())
	return c.app.reported(t.in, rep, 0)
}

// source is what the filters leave of a recording.
func (c *conversion) source(ctx context.Context, rec *engine.Recording, opts []engine.Option) (event.Source, error) {
	frame, err := c.filters.frame(ctx, rec, opts)
	if err != nil {
		return nil, err
	}
	return frame.Source(), nil
}

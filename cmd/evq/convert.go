package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/convert"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
	"github.com/evq-project/evq/io/parquet"
)

// A conversion is the flags of convert.
type conversion struct {
	app     *app
	reading reading
	filters filters
	writing writing
	out, to string
	only    string // what alone is written, onlyTriggers; "" = the events with their triggers
	dryRun  bool
}

func (a *app) convertCommand() *cobra.Command {
	c := &conversion{app: a}
	cmd := &cobra.Command{
		Use:   "convert REC... -o OUT",
		Short: "Convert recordings to the sorted Parquet store, or to another format",
		Long: `Convert decodes each recording once, puts its events in time order and writes them as the sorted Parquet store,
or in any other format that evq writes (` + strings.Join(writableNames(), ", ") + `). External triggers go beside the store, as
NAME.triggers.parquet. Filters apply on the way, in the order written; --time A..B keeps A <= t < B.

Memory is bounded by --memory: what is larger is sorted on disk, under $TMPDIR.`,
		Example: `  evq convert drive.raw -o drive.parquet
  evq convert gen4.h5 -o gen4.parquet --on-unsorted clamp --on-offsensor keep
  evq convert night/*.raw -o stores/ --time +1s..+10s --roi 0,0,639,359
  evq convert rec_000.raw rec_001.raw --join -o rec.parquet
  evq convert drive.raw --only triggers -o triggers.csv`,
		Args:              c.arguments,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVarP(&c.out, "output", "o", "", "write to `OUT`; several recordings need a folder, DIR/")
	c.writing.flags(cmd)
	toFlag(cmd, &c.to)
	enumFlag(cmd, &c.only, "only", "", "write `WHAT` alone: triggers, as CSV or Parquet", onlyTriggers)
	f.BoolVar(&c.dryRun, "dry-run", false, "say what would be done")
	c.reading.flags(cmd)
	c.reading.joinFlag(cmd)
	c.filters.flags(cmd)
	return cmd
}

func (c *conversion) arguments(cmd *cobra.Command, args []string) error {
	if c.reading.join {
		return c.reading.joined(cmd, args)
	}
	return someArguments(cmd, args)
}

func someArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("%s takes a recording; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

func writableNames() []string {
	var names []string
	for _, f := range formats.All {
		if f.Create != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// A task is one recording to convert.
type task struct {
	in, out string
	to      format.Format
}

func (c *conversion) run(ctx context.Context, args []string) error {
	tasks, err := c.tasks(args)
	if err != nil {
		return err
	}
	var all []error
	lost := false
	for _, t := range tasks {
		switch err := c.convert(ctx, t); {
		case errors.Is(err, errLosses):
			lost = true
		case err != nil:
			all = append(all, err)
		}
		if ctx.Err() != nil {
			return errors.Join(append(all, ctx.Err())...)
		}
	}
	if all == nil && lost {
		return errLosses
	}
	return errors.Join(all...)
}

// tasks says which recording goes where, in which format.
func (c *conversion) tasks(args []string) ([]task, error) {
	recordings := args
	if c.reading.join {
		args = args[:1]
	}
	st, err := os.Stat(c.out)
	folder := strings.HasSuffix(c.out, "/") || strings.HasSuffix(c.out, string(filepath.Separator)) || err == nil && st.IsDir()
	switch {
	case c.out == "":
		return nil, usage("convert needs -o OUT, such as -o %s", stem(args[0])+".parquet")
	case c.out == "-":
		return nil, usage("convert writes files, and - is none; evq head prints events as CSV, and -o ./- writes a file of that name")
	case len(args) > 1 && !folder:
		return nil, usage("%d recordings need a folder to go to: -o %s/", len(args), strings.TrimSuffix(c.out, filepath.Ext(c.out)))
	}
	seen := map[string]string{}
	var tasks []task
	for _, in := range args {
		out := c.out
		to, err := c.format(folder)
		if err == nil {
			err = errors.Join(c.checkOnly(to), c.writing.check(to, c.only))
		}
		if err != nil {
			return nil, err
		}
		switch {
		case folder && c.only == onlyTriggers:
			out = filepath.Join(c.out, stem(in)+".triggers"+to.Extensions[0])
		case folder:
			out = filepath.Join(c.out, stem(in)+to.Extensions[0])
		}
		if other, ok := seen[out]; ok {
			return nil, usage("%s and %s would both become %s; convert them into two folders", other, in, out)
		}
		if lost := overwritten(recordings, out, to); lost != "" {
			return nil, usage("%s would overwrite itself; write to another name", lost)
		}
		seen[out] = in
		tasks = append(tasks, task{in, out, to})
	}
	return tasks, nil
}

// format is what is written: --to, what the output's extension says, or the store.
func (c *conversion) format(folder bool) (format.Format, error) {
	name := c.to
	if name == "" && !folder && filepath.Ext(c.out) != "" {
		f, err := formats.ByExtension(c.out)
		if err != nil {
			return f, usageError{err}
		}
		return f, nil
	}
	if name == "" {
		name = "parquet"
	}
	return formats.ByName(name)
}

// stem is a file's name without folder and extension.
func stem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// overwritten returns the first of the recordings, or of the triggers beside one, that writing out would replace
// or remove; "" where there is none.
func overwritten(recordings []string, out string, to format.Format) string {
	outs := []string{out}
	if to.Name == parquet.Format.Name {
		outs = append(outs, parquet.TriggerPath(out))
	}
	for _, rec := range recordings {
		for _, in := range []string{rec, parquet.TriggerPath(rec)} {
			if slices.ContainsFunc(outs, func(o string) bool { return same(in, o) }) {
				return in
			}
		}
	}
	return ""
}

// same reports whether two names are one file.
func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// convert runs one task.
func (c *conversion) convert(ctx context.Context, t task) error {
	a := c.app
	m := a.newMeter()
	if c.only == onlyTriggers {
		c.reading.prefer(map[string]string{"on-offsensor": string(format.Keep)}) // events are not what is written
	}
	rec, err := a.open(t.in, &c.reading, m)
	if err != nil {
		return err
	}
	defer func() { _ = rec.Close() }()
	if _, err := os.Stat(t.out); err == nil {
		if err := atomicfile.Check(t.out, c.writing.force); err != nil {
			return err
		}
	}
	if c.dryRun {
		return c.describe(rec, t)
	}
	if dir := filepath.Dir(t.out); strings.HasSuffix(c.out, "/") {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	m.show("convert "+filepath.Base(t.in), rec.Info(), t.in)
	defer m.stop()
	src, err := c.source(ctx, rec, a.options(m))
	if err != nil {
		return err
	}
	if c.only == onlyTriggers {
		return named(t.in, c.triggers(ctx, src, t, m))
	}
	opts := []engine.Option{engine.Policies(c.reading.policies())}
	if len(c.filters.list) > 0 {
		opts = append(opts, engine.Facts(event.Field{Key: "filters", Value: c.filters.String()}))
	}
	if parts := c.reading.partNames(); parts != "" {
		opts = append(opts, engine.Facts(event.Field{Key: "joined", Value: parts}))
	}
	return named(t.in, a.write(ctx, src, t, c.writing, m, opts...))
}

// toFlag declares the flag that names the output's format.
func toFlag(cmd *cobra.Command, to *string) {
	names := writableNames()
	add(cmd, &value{kind: "NAME", set: func(s string) error { *to = s; return oneOf(s, names) }}, "to", "",
		"write the format `NAME` whatever OUT's extension")
	complete(cmd, "to", names)
}

// write copies a source into the output of a task, and sums up what went into it.
func (a *app) write(ctx context.Context, src event.Source, t task, w writing, m *meter, opts ...engine.Option) error {
	var stats engine.Stats
	opts = append(append(a.options(m), engine.Format(t.to.Name), engine.Collected(&stats)), append(w.options(), opts...)...)
	rep, err := engine.Convert(ctx, src, t.out, opts...)
	m.stop()
	if err != nil {
		return err
	}
	return a.converted(t, stats.Written, rep, m)
}

// named puts the recording's name before an error that lacks it.
func named(path string, err error) error {
	var damage *format.SyntaxError
	if errors.As(err, &damage) && damage.Part != "" {
		return err // of another part
	}
	if err == nil || errors.Is(err, errLosses) || strings.Contains(err.Error(), filepath.Base(path)) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// describe says what would be done.
func (c *conversion) describe(rec *engine.Recording, t task) error {
	info, p := rec.Info(), c.reading.policies().WithDefaults()
	text := fmt.Sprintf("would convert %s (%s, %v) to %s (%s)", t.in, formatText(info), rec.Geometry(), t.out, t.to.Name)
	text += fmt.Sprintf("; on-unsorted %s, on-offsensor %s, on-unknown %s", p.OnUnsorted, p.OnOffSensor, p.OnUnknown)
	if len(c.filters.list) > 0 {
		text += "; filters: " + c.filters.String()
	}
	if parts := c.reading.partNames(); parts != "" {
		text += "; joined with " + parts
	}
	if c.only != "" {
		text += "; only " + c.only
	}
	_, err := fmt.Fprintln(c.app.out, text)
	return err
}

// converted prints the summary and what was lost.
func (a *app) converted(t task, w convert.Written, rep *event.Report, m *meter) error {
	var size int64
	if st, err := os.Stat(t.out); err == nil {
		size = st.Size()
	}
	per := "no events"
	if w.Events > 0 {
		per = fmt.Sprintf("%s from %d to %d µs, %s, %.2f B/event", microsText(micros(w.First, w.Last)), w.First, w.Last, bytesText(size),
			float64(size)/float64(w.Events))
	}
	text := fmt.Sprintf("%s: %s, %s, %s (%s)", t.out, counted(w.Events, "event"), per, secondsText(m.elapsed()), rateText(w.Events, m.elapsed()))
	if w.Triggers > 0 {
		text += ", " + counted(w.Triggers, "trigger")
	}
	a.say(text, "output", t.out, "events", w.Events, "first_t", w.First, "last_t", w.Last, "bytes", size,
		"triggers", w.Triggers, "seconds", m.elapsed().Seconds())
	return a.reported(t.in, rep, 0)
}

// reported prints what a scan has to say, and returns errLosses where events or bytes were lost. dropped are
// events that a representation left out.
func (a *app) reported(path string, rep *event.Report, dropped int64) error {
	losses := []string{}
	if rep != nil {
		for _, n := range rep.Notes {
			a.warn(path + ": note: " + n)
		}
		losses = append(losses, rep.Losses()...)
	}
	if dropped > 0 {
		losses = append(losses, fmt.Sprintf("%d off the sensor when counting", dropped))
	}
	if len(losses) == 0 {
		return nil
	}
	a.always(path + ": lost " + strings.Join(losses, ", "))
	return errLosses
}

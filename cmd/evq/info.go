package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/formats"
)

// An infoQuery is the flags of info.
type infoQuery struct {
	app         *app
	reading     reading
	full, quick bool
	json        bool
}

func (a *app) infoCommand() *cobra.Command {
	q := &infoQuery{app: a}
	cmd := &cobra.Command{
		Use:   "info REC",
		Short: "Print what a recording is and holds",
		Long: `Info prints a recording's format and why it was taken for that, the sensor, the unit of time and the polarity
encoding as stored, the first and last time, the rate, other streams, the header, and what decoding counted.

Where headers and footers tell all of that, nothing is decoded: --full decodes nevertheless and adds ON and OFF and
the counters. Where they do not, as in raw files, the recording is decoded unless --quick is given.`,
		Example: `  evq info drive.raw
  evq info drive.parquet --full
  evq info drive.parquet --json`,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return q.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&q.full, "full", false, "decode every event")
	f.BoolVar(&q.quick, "quick", false, "decode nothing")
	f.BoolVar(&q.json, "json", false, "print JSON")
	q.reading.flags(cmd)
	q.reading.joining(cmd)
	return cmd
}

// Facts are what is known of a recording. The names of the JSON keys are stable; a pointer is null where a fact is
// not known.
type facts struct {
	Path     string        `json:"path"`
	Parts    []string      `json:"parts,omitempty"` // of a joined recording, after the first
	Bytes    int64         `json:"bytes"`
	Format   formatFact    `json:"format"`
	Geometry *geometry     `json:"geometry"`
	Unit     string        `json:"unit"`
	Polarity string        `json:"polarity"`
	Sorted   bool          `json:"sorted"` // stored in time order
	Decoded  bool          `json:"decoded"`
	Events   *int64        `json:"events"`
	FirstT   *int64        `json:"first_t"`
	LastT    *int64        `json:"last_t"`
	Duration *int64        `json:"duration_us"`
	Rate     *float64      `json:"events_per_second"`
	On       *int64        `json:"on"`
	Off      *int64        `json:"off"`
	MaxX     *uint16       `json:"max_x"`
	MaxY     *uint16       `json:"max_y"`
	Shift    int64         `json:"shift_us"` // was subtracted from every time
	Streams  []keyValue    `json:"streams"`
	Header   []keyValue    `json:"header"`
	Report   *event.Report `json:"report"`  // what this decoding counted
	History  *event.Report `json:"history"` // what the conversion counted, of stores
}

type formatFact struct {
	Name       string  `json:"name"`
	Version    string  `json:"version"`
	Confidence float64 `json:"confidence"` // 0..1
	Why        string  `json:"why"`
}

type geometry struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

type keyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func keyValues(fields []event.Field) []keyValue {
	out := make([]keyValue, len(fields))
	for i, f := range fields {
		out[i] = keyValue(f)
	}
	return out
}

func (q *infoQuery) run(ctx context.Context, path string) error {
	a := q.app
	if q.full && q.quick {
		return usage("--full and --quick exclude each other")
	}
	m := a.newMeter()
	rec, err := a.open(path, &q.reading, m)
	if err != nil {
		return err
	}
	defer func() { _ = rec.Close() }()
	f, err := q.read(path, rec)
	if err != nil {
		return err
	}
	if q.full || !q.quick && (f.Events == nil || f.FirstT == nil && *f.Events > 0) {
		m.show("info "+filepath.Base(path), rec.Info(), path)
		defer m.stop()
		if err := f.decode(ctx, rec, a.options(m)); err != nil {
			return named(path, err)
		}
		m.stop()
	}
	printed := f.print
	if q.json {
		printed = func(w io.Writer) error { return printJSON(w, f) }
	}
	if err := printed(a.out); err != nil {
		return err
	}
	if f.Report != nil && f.Report.Lost() {
		return errLosses // the print names them
	}
	return nil
}

// read gathers what the recording says without being decoded.
func (q *infoQuery) read(path string, rec *engine.Recording) (*facts, error) {
	info := rec.Info()
	f := &facts{Path: path, Unit: info.Unit, Polarity: info.Polarity, Sorted: info.Sorted,
		Streams: keyValues(info.Streams), Header: keyValues(info.Fields), History: info.Report}
	if g := rec.Geometry(); g.Known() {
		f.Geometry = &geometry{g.Width, g.Height}
	}
	if info.Events >= 0 {
		f.Events = &info.Events
	}
	if info.Stats && info.Events > 0 {
		f.span(info.Extent.T0, info.Extent.T1)
		f.MaxX, f.MaxY = &info.Extent.X1, &info.Extent.Y1
	}
	if info.Report != nil {
		f.Shift = info.Report.Shift
	}
	f.Parts = q.reading.parts
	var err error
	if f.Bytes, err = bytesOf(rec, append([]string{path}, f.Parts...)...); err != nil {
		return nil, err
	}
	if known, ok := rec.Source.(interface{ Match() formats.Match }); ok {
		m := known.Match()
		f.Format = formatFact{Name: info.Format, Version: m.Version, Confidence: m.Confidence, Why: m.Why}
	}
	return f, nil
}

// span sets the first and last time and what follows from them. The number of events is known.
func (f *facts) span(first, last int64) {
	d := micros(first, last)
	f.FirstT, f.LastT, f.Duration = &first, &last, &d
	if d > 0 && f.Events != nil {
		r := float64(*f.Events) / (float64(d) / 1e6)
		f.Rate = &r
	}
}

// decode reads every event for what only that tells.
func (f *facts) decode(ctx context.Context, rec *engine.Recording, opts []engine.Option) error {
	var n, on, first, last int64
	var stats engine.Stats
	err := rec.Frame().Each(ctx, func(b event.Batch) error {
		if n == 0 {
			first = b.T()[0]
		}
		last = b.T()[b.Len()-1]
		n += int64(b.Len())
		for _, p := range b.P() {
			on += int64(p)
		}
		return nil
	}, append(opts, engine.Collected(&stats))...)
	if err != nil {
		return err
	}
	off := n - on
	f.Decoded, f.Events, f.On, f.Off, f.Report = true, &n, &on, &off, stats.Report
	if n > 0 {
		f.span(first, last)
	}
	if r := stats.Report; r != nil {
		if n > 0 {
			f.MaxX, f.MaxY = &r.MaxX, &r.MaxY
		}
		if r.Shift != 0 {
			f.Shift = r.Shift
		}
	}
	return nil
}

// formatText prints a format and its version.
func formatText(i event.Info) string {
	if i.Version == "" {
		return i.Format
	}
	return i.Format + " " + i.Version
}

// print prints the facts for people.
func (f *facts) print(w io.Writer) error {
	p := &printer{w: w}
	p.line("%s", strings.Join(append([]string{f.Path}, f.Parts...), " + "))
	p.fact("format", "%s", f.Format)
	p.fact("size", "%s", f.sizeText())
	if f.Geometry != nil {
		p.fact("sensor", "%dx%d", f.Geometry.Width, f.Geometry.Height)
	} else {
		p.fact("sensor", "unknown; --size WxH sets it%s", f.reachText())
	}
	p.fact("events", "%s", f.eventsText())
	if f.FirstT != nil {
		p.fact("first t", "%d µs", *f.FirstT)
		p.fact("last t", "%d µs", *f.LastT)
		p.fact("duration", "%s (µs)", microsText(*f.Duration))
		if f.Rate != nil {
			p.fact("rate", "%s events/s", approx(int64(*f.Rate)))
		}
	}
	if f.Shift != 0 {
		p.fact("shift", "%d µs were subtracted from every time", f.Shift)
	}
	if f.On != nil && *f.Events > 0 {
		p.fact("ON / OFF", "%s / %s (%.1f %% ON)", grouped(*f.On), grouped(*f.Off), 100*float64(*f.On)/float64(*f.Events))
	}
	p.fact("stored", "%s", f.storedText())
	p.pairs("streams", f.Streams)
	p.pairs("header", f.Header)
	p.report("decoding counted", f.Report)
	p.report("the conversion counted", f.History)
	return p.err
}

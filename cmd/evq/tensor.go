package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/io/sheet"
	"github.com/evq-project/evq/io/tensor"
)

// blockFormats lists what blocks can be written as, with the extensions that mean it.
var blockFormats = []struct {
	name, doc  string
	extensions []string
}{
	{"h5", "HDF5 as RVT's loader reads it: dataset data, one block a chunk", []string{".h5", ".hdf5"}},
	{"npy", "one NumPy array (N, ...)", []string{".npy"}},
	{"npz", "NumPy arrays data, window_start, window_end, window_events", []string{".npz"}},
	{"png", "a sheet of frames to look at", []string{".png"}},
}

func (a *app) tensorCommand() *cobra.Command {
	q := &tensorQuery{input: input{app: a}}
	o := &blockOutput{app: a}
	cmd := &cobra.Command{
		Use:   "tensor REC --repr NAME[:k=v,...] -o OUT",
		Short: "Write one dense block per window: RVT's HDF5, .npy, .npz, or a .png to look at",
		Long: `Tensor cuts a recording into windows and writes one dense block for each.

Windows of --window are half-open, [a, b), on a grid through time 0 of the recording's clock; with --time A..B,
which keeps A <= t < B, they are exactly those that meet that range. Windows of --ends are RVT's, closed at both
ends. Without any of these the whole recording is one window.

Filters apply before the windows, in the order written.

` + reprHelp(),
		Example: `  evq tensor drive.parquet --ends grid.npy --span 50ms --repr rvt -o rep.h5
  evq tensor drive.raw --window 50ms --time 1s..2s --repr stacked_histogram:bins=5 -o rep.npy
  evq tensor drive.raw --window 100ms --roi 320,180,959,539 --repr stacked_histogram:bins=1 -o sheet.png`,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.tensor(cmd.Context(), args[0], q, o) },
	}
	o.flags(cmd)
	q.flags(cmd)
	q.reading.joining(cmd)
	return cmd
}

// A blockOutput is the flags that say where blocks go.
type blockOutput struct {
	app         *app
	out, to     string
	compression string
	force       bool
}

func (o *blockOutput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "", "write to `OUT`; its extension is the format")
	var names []string
	for _, b := range blockFormats {
		names = append(names, b.name)
	}
	enumFlag(cmd, &o.to, "to", "", "write the format `NAME` whatever OUT's extension", names...)
	f.StringVar(&o.compression, "compression", "", "of HDF5, `NAME`: "+strings.Join(hdf5.Compressions, ", "))
	complete(cmd, "compression", hdf5.Compressions)
	f.BoolVar(&o.force, "force", false, "overwrite the output")
}

// output makes the output that the flags name.
func (o *blockOutput) output() (tensor.Output, error) {
	switch o.out {
	case "":
		return nil, usage("tensor needs -o OUT, such as -o rep.h5")
	case "-":
		return nil, usage("-o -: blocks go to a file, not to standard output; give its name")
	}
	to := o.to
	if to == "" {
		to = blockFormatOf(o.out)
	}
	if o.compression != "" {
		if to != "h5" {
			return nil, usage("--compression is for HDF5 output")
		}
		if err := oneOf(o.compression, hdf5.Compressions); err != nil {
			return nil, usage("--compression %s: %w", o.compression, err)
		}
	}
	switch to {
	case "h5":
		return o.hdf5(), nil
	case "npy", "npz":
		return o.npy(to)
	case "png":
		if o.force {
			return sheet.Create(o.out, sheet.Force()), nil
		}
		return sheet.Create(o.out), nil
	}
	var known []string
	for _, b := range blockFormats {
		known = append(known, b.extensions[0])
	}
	return nil, usage("%s: blocks are written as %s; rename it or give --to", o.out, strings.Join(known, ", "))
}

func blockFormatOf(path string) string {
	ext := strings.ToLower(filepath.Ext(path))
	for _, b := range blockFormats {
		for _, e := range b.extensions {
			if e == ext {
				return b.name
			}
		}
	}
	return ""
}

func (o *blockOutput) hdf5() tensor.Output {
	opts := []hdf5.Option{hdf5.Threads(o.app.threads), hdf5.Compression(o.compression)}
	if o.force {
		opts = append(opts, hdf5.Force())
	}
	return hdf5.Create(o.out, opts...)
}

func (o *blockOutput) npy(to string) (tensor.Output, error) {
	if ext := strings.ToLower(filepath.Ext(o.out)); ext != "."+to {
		return nil, usage("--to %s writes files whose names end in .%s, not %s", to, to, o.out)
	}
	if o.force {
		return npy.Create(o.out, npy.Force()), nil
	}
	return npy.Create(o.out), nil
}

// tensor runs the query into the output.
func (a *app) tensor(ctx context.Context, path string, q *tensorQuery, o *blockOutput) error {
	out, err := o.output()
	if err != nil {
		return err
	}
	for _, in := range []string{path, q.windows.ends} {
		if same(in, o.out) {
			return usage("%s would overwrite itself; write to another name", in)
		}
	}
	m := a.newMeter()
	defer m.stop()
	defer q.close()
	if err := q.open(ctx, path, m); err != nil {
		return err
	}
	layouts, err := q.tensors.Layouts(q.options...)
	if err != nil {
		return named(path, err)
	}
	m.show("tensor "+filepath.Base(path), q.rec.Info(), path)
	var stats engine.Stats
	seen := &edges{Output: out}
	if err := q.tensors.WriteTo(ctx, seen, append(q.options, engine.Collected(&stats))...); err != nil {
		return named(path, err)
	}
	m.stop()
	layout, text := layouts[0], make([]string, len(layouts))
	for i, l := range layouts {
		text[i] = fmt.Sprintf("%v %v", l.Shape, l.DType)
	}
	a.say(fmt.Sprintf("%s: %s of %s, %s empty, %s read, %s", o.out, counted(stats.Windows, "window"), strings.Join(text, " and "),
		grouped(stats.Empty), counted(stats.Events, "event"), secondsText(m.elapsed())),
		"output", o.out, "windows", stats.Windows, "empty", stats.Empty, "shape", []int(layout.Shape), "dtype", layout.DType.String(),
		"events", stats.Events, "offsensor", stats.OffSensor, "seconds", m.elapsed().Seconds())
	if beyond := q.reach(seen); beyond != "" {
		a.warn(path + ": the grid reaches beyond the recording: " + beyond)
	}
	if stats.OffSensor > 0 && q.reading.onOffSensor == format.Keep {
		a.warn(fmt.Sprintf("%s: note: %s lay off the sensor; they were kept for their windows' times, and have no pixel", path, counted(stats.OffSensor, "event")))
		stats.OffSensor = 0 // as was asked for
	}
	return a.reported(path, q.readAll(stats.Report), stats.OffSensor)
}

// reach says where the grid lies beyond the recording.
func (q *input) reach(seen *edges) string {
	if info := q.rec.Info(); info.Stats {
		if info.Events == 0 {
			return ""
		}
		return q.beyond(info.Extent.T0, info.Extent.T1)
	}
	if len(q.grid) == 0 {
		return ""
	}
	var parts []string
	if seen.before > 0 {
		parts = append(parts, "the first "+counted(seen.before, "window"))
	}
	if seen.after > 0 && seen.after < seen.blocks {
		parts = append(parts, "the last "+counted(seen.after, "window"))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " and ") + " hold no event"
}

// Edges is an output that counts the empty windows before the first event and after the last.
type edges struct {
	tensor.Output
	blocks, before, after int64
}

// Open implements tensor.Output.
func (e *edges) Open(l ...tensor.Layout) (tensor.Sink, error) {
	s, err := e.Output.Open(l...)
	if err != nil {
		return nil, err
	}
	return &edgeSink{s, e}, nil
}

type edgeSink struct {
	tensor.Sink
	seen *edges
}

// Write implements tensor.Sink.
func (s *edgeSink) Write(ctx context.Context, b tensor.Block) error {
	if b.Part > 0 {
		return s.Sink.Write(ctx, b)
	}
	e := s.seen
	e.blocks++
	if b.Events == 0 {
		e.after++
		if e.after == e.blocks {
			e.before++
		}
	} else {
		e.after = 0
	}
	return s.Sink.Write(ctx, b)
}

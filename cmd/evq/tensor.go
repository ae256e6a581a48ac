package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/arrowtensor"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/io/sheet"
	"github.com/evq-project/evq/io/tensor"
)

// A blockFormat is one that blocks can be written as.
type blockFormat struct {
	name, doc    string
	extensions   []string // that mean it
	strict       bool     // the name must have one of them
	compressions []string // that --compression takes, the default first
	create       func(o *blockOutput) tensor.Output
}

// blockFormats lists them. A new one adds one row here.
var blockFormats = []blockFormat{
	{"h5", "HDF5 as RVT's loader reads it: dataset data, one block a chunk", []string{".h5", ".hdf5"}, false, hdf5.Compressions, (*blockOutput).hdf5},
	{"npy", "one NumPy array (N, ...)", []string{".npy"}, true, nil, (*blockOutput).npy},
	{"npz", "NumPy arrays data, window_start, window_end, window_events", []string{".npz"}, true, nil, (*blockOutput).npy},
	{"arrow", "Arrow IPC, a file or a stream (.arrows): one record batch a window, blocks as tensors", []string{".arrow", ".arrows", ".feather"}, false, arrowtensor.Compressions, (*blockOutput).arrow},
	{"png", "a sheet of frames to look at", []string{".png"}, false, nil, (*blockOutput).sheet},
}

func (a *app) tensorCommand() *cobra.Command {
	q := &tensorQuery{input: input{app: a}}
	o := &blockOutput{app: a}
	cmd := &cobra.Command{
		Use:   "tensor REC --repr NAME[:k=v,...] -o OUT",
		Short: "Write one dense block per window: RVT's HDF5, .npy, .npz, .arrow, or a .png to look at",
		Long: `Tensor cuts a recording into windows and writes one dense block for each.

Windows of --window are half-open, [a, b), on a grid through time 0 of the recording's clock; with --time A..B,
which keeps A <= t < B, they are exactly those that meet that range. Windows of --ends are RVT's, closed at both
ends. Without any of these the whole recording is one window.

Filters apply before the windows, in the order written.

--repr may be given several times: all are made in one pass. Then .h5, .npz and .arrow hold an array for each, called by
the representation's name instead of data (the second of one name: NAME_2), and the windows' limits once.

` + blockHelp() + "\n" + reprHelp(),
		Example: `  evq tensor drive.parquet --ends grid.npy --span 50ms --repr rvt -o rep.h5
  evq tensor drive.raw --window 50ms --time 1s..2s --repr stacked_histogram:bins=5 -o rep.npy
  evq tensor drive.raw --window 50ms --repr voxel_grid:bins=5 --repr time_surface -o two.npz
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
	all := slices.Clone(hdf5.Compressions)
	for _, c := range arrowtensor.Compressions {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	f.StringVar(&o.compression, "compression", "", "of .h5 (`NAME`: "+strings.Join(hdf5.Compressions, ", ")+") and .arrow ("+strings.Join(arrowtensor.Compressions, ", ")+")")
	complete(cmd, "compression", all)
	f.BoolVar(&o.force, "force", false, "overwrite the output")
}

// blockHelp is the outputs as the help shows them.
func blockHelp() string {
	var b strings.Builder
	b.WriteString("Outputs:\n")
	for _, f := range blockFormats {
		_, _ = fmt.Fprintf(&b, "  %s: %s\n", strings.Join(f.extensions, ", "), f.doc)
	}
	return b.String()
}

// output makes the output that the flags name.
func (o *blockOutput) output() (tensor.Output, error) {
	switch o.out {
	case "":
		return nil, usage("tensor needs -o OUT, such as -o rep.h5")
	case "-":
		return nil, usage("-o -: blocks go to a file, not to standard output; give its name")
	}
	f, err := o.format()
	if err != nil {
		return nil, err
	}
	if o.compression != "" {
		if f.compressions == nil {
			return nil, usage("--compression is for HDF5 and Arrow output")
		}
		if err := oneOf(o.compression, f.compressions); err != nil {
			return nil, usage("--compression %s: %w", o.compression, err)
		}
	}
	return f.create(o), nil
}

// format finds the format that --to or the extension means.
func (o *blockOutput) format() (blockFormat, error) {
	ext := strings.ToLower(filepath.Ext(o.out))
	var known []string
	for _, f := range blockFormats {
		fits := slices.Contains(f.extensions, ext)
		switch {
		case o.to == "" && fits:
			return f, nil
		case o.to == f.name && f.strict && !fits:
			return f, usage("--to %s writes files whose names end in %s, not %s", o.to, f.extensions[0], ext)
		case o.to == f.name:
			return f, nil
		}
		known = append(known, f.extensions[0])
	}
	return blockFormat{}, usage("%s: blocks are written as %s; rename it or give --to", o.out, strings.Join(known, ", "))
}

func (o *blockOutput) hdf5() tensor.Output {
	opts := []hdf5.Option{hdf5.Threads(o.app.threads), hdf5.Compression(o.compression)}
	if o.force {
		opts = append(opts, hdf5.Force())
	}
	return hdf5.Create(o.out, opts...)
}

func (o *blockOutput) npy() tensor.Output {
	if o.force {
		return npy.Create(o.out, npy.Force())
	}
	return npy.Create(o.out)
}

func (o *blockOutput) arrow() tensor.Output {
	opts := []arrowtensor.Option{arrowtensor.Compression(o.compression)}
	if o.force {
		opts = append(opts, arrowtensor.Force())
	}
	return arrowtensor.Create(o.out, opts...)
}

func (o *blockOutput) sheet() tensor.Output {
	if o.force {
		return sheet.Create(o.out, sheet.Force())
	}
	return sheet.Create(o.out)
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
	layout, text, shapes := layouts[0], make([]string, len(layouts)), map[string]string{}
	for i, name := range tensor.Names(layouts) {
		text[i] = fmt.Sprintf("%v %v", layouts[i].Shape, layouts[i].DType)
		shapes[name] = text[i]
	}
	a.say(fmt.Sprintf("%s: %s of %s, %s empty, %s read, %s", o.out, counted(stats.Windows, "window"), strings.Join(text, " and "),
		grouped(stats.Empty), counted(stats.Events, "event"), secondsText(m.elapsed())),
		"output", o.out, "windows", stats.Windows, "empty", stats.Empty, "shape", []int(layout.Shape), "dtype", layout.DType.String(), "arrays", shapes,
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

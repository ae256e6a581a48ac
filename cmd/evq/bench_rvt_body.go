package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/hdf5"
	"github.com/evq-project/evq/io/npy"
	"github.com/evq-project/evq/udf/stackedhist"
)

// A rvtVariant is one way in which evq makes RVT's frames.
type rvtVariant struct {
	name, title string
	store       bool // it gets the store instead of the recording
	few         bool // it gets the first windows alone
	run         func(*rvtBody, context.Context) error
}

// rvtVariants is the list of them, in the order of the table.
var rvtVariants = []rvtVariant{
	{name: "native", title: "evq, straight from the recording", run: (*rvtBody).sequence},
	{name: "convert", title: "evq, converts and builds from the store", run: (*rvtBody).convert},
	{name: "store", title: "evq, from a ready store", store: true, run: (*rvtBody).sequence},
	{name: "few", title: "evq, the first windows alone", few: true, run: (*rvtBody).sequence},
	{name: "plain", title: "evq, the plan without rules, the first windows", few: true, run: (*rvtBody).plain},
}

// A rvtBody is what a process of its own does for bench rvt and bench dataset.
type rvtBody struct {
	app                   *app
	in, ends, out, device string
	jobs                  int
}

func (a *app) benchBodyCommand() *cobra.Command {
	b := &rvtBody{app: a}
	cmd := &cobra.Command{
		Use:     "rvt-body VARIANT",
		Short:   "Run one variant of bench rvt, and print what it took as JSON",
		Example: `  evq bench rvt-body native --in drive_td.h5 --ends grid.npy -o out/`,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("bench rvt-body takes one variant")
			}
			return b.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&b.in, "in", "", "the recording or data set, `IN`")
	f.StringVar(&b.ends, "ends", "", "when windows end, `GRID.npy`")
	f.StringVarP(&b.out, "output", "o", "", "write below `DIR`")
	f.StringVar(&b.device, "device", "", "count on `NAME`")
	f.IntVar(&b.jobs, "jobs", 0, "with dataset: `N` sequences at once")
	return cmd
}

// run times one variant. Only what it does itself is in the times.
func (b *rvtBody) run(ctx context.Context, name string) error {
	body, err := bodyOf(name)
	if err != nil {
		return err
	}
	began, cpuBegan := time.Now(), cpuTime()
	if err := body(b, ctx); err != nil {
		return rvtError(err)
	}
	r := benchRun{Wall: time.Since(began).Seconds(), CPU: (cpuTime() - cpuBegan).Seconds(), Peak: peakMemory()}
	return json.NewEncoder(b.app.out).Encode(r)
}

// bodyOf is the variant of that name.
func bodyOf(name string) (func(*rvtBody, context.Context) error, error) {
	if name == "dataset" {
		return (*rvtBody).dataset, nil
	}
	names := []string{"dataset"}
	for _, v := range rvtVariants {
		if v.name == name {
			return v.run, nil
		}
		names = append(names, v.name)
	}
	return nil, unknown("variant", name, names)
}

// options are those of evq rvt on gen4, as its users run it.
func (b *rvtBody) options() rvt.Options {
	a := b.app
	return rvt.Options{Dataset: rvt.Gen4, EndsFile: b.ends, Out: b.out, Device: b.device,
		Threads: a.threads, Memory: a.memory, Logger: a.log, Version: readVersion().Version}
}

func (b *rvtBody) sequence(ctx context.Context) error {
	_, err := rvt.Sequence(ctx, b.in, b.options())
	return err
}

func (b *rvtBody) convert(ctx context.Context) error {
	if err := os.MkdirAll(b.out, 0o777); err != nil {
		return err
	}
	store := filepath.Join(b.out, "store.parquet")
	if err := storeOf(ctx, b.in, store, b.app.running()...); err != nil {
		return err
	}
	_, err := rvt.Sequence(ctx, store, b.options())
	return err
}

// plain runs the plan as it is written.
func (b *rvtBody) plain(ctx context.Context) (err error) {
	grid, err := npy.Grid(b.ends)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o777); err != nil {
		return err
	}
	opts := append(b.app.running(), likeRVT(event.Geometry{}), engine.Rules())
	rec, err := engine.Open(b.in, opts...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rec.Close()) }()
	q := engine.Scan(rec).Window(engine.Ends(grid, 50*time.Millisecond)).StackedHistogram(stackedhist.LikeRVT(), stackedhist.Downsample(2))
	return q.WriteTo(ctx, hdf5.Create(filepath.Join(b.out, "event_representations_ds2_nearest.h5"), hdf5.Threads(b.app.threads)), opts...)
}

// dataset makes the tree of a whole data set.
func (b *rvtBody) dataset(ctx context.Context) error {
	o := b.options()
	o.Out = ""
	sum, err := rvt.Sequences(ctx, b.in, b.out, o, rvt.DatasetOptions{Jobs: b.jobs})
	for _, s := range sum.Sequences {
		err = errors.Join(err, s.Err)
	}
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/accel/devices"
	"github.com/evq-project/evq/engine/rvt"
)

// A datasetBench is the flags of bench dataset.
type datasetBench struct {
	measuring
	scene     benchScene
	sequences int
	processes int
}

func (a *app) benchDatasetCommand() *cobra.Command {
	b := &datasetBench{measuring: measuring{app: a}}
	cmd := &cobra.Command{
		Use:   "dataset",
		Short: "Time a whole data set on every device, beside RVT's pool of processes",
		Long: `Dataset generates sequences with labels, and times how long all of them take to become RVT's tree: with evq on every
device that can run here, and with RVT's own script (--rvt) and its pool of --np processes. Trees are compared whole
first; a difference between evq's devices stops the benchmark, one from RVT's is counted and printed.

Times are of whole processes. Memory is the process's own peak, and of RVT's pool the largest sum over its processes,
sampled, where pages that they share count once.`,
		Example: `  evq bench dataset --sequences 8 --size small
  evq bench dataset --sequences 8 --rvt ../RVT --python venv --np 4
  evq bench dataset --replot bench-results/dataset.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context()) },
	}
	b.measuring.flags(cmd)
	b.scene.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&b.sequences, "sequences", 4, "generate `N` sequences")
	f.IntVar(&b.processes, "np", 2, "RVT's pool has `N` processes")
	return cmd
}

func (b *datasetBench) run(ctx context.Context) error {
	if b.replot != "" {
		return b.again()
	}
	if b.sequences < 1 || b.processes < 1 {
		return usage("--sequences and --np are numbers from 1 on")
	}
	if err := b.check(); err != nil {
		return err
	}
	name, words, err := b.scene.chosen()
	if err != nil {
		return err
	}
	in := filepath.Join(b.out, "inputs", fmt.Sprintf("gen4_%d_of_%s", b.sequences, name))
	windows, err := b.generate(ctx, in)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(b.out, "run-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	c := &contest{app: b.app, work: work, timeout: b.timeout, repeats: b.repeats}
	title := fmt.Sprintf("%s of %s each", counted(int64(b.sequences), "generated sequence"), words)
	c.results = newBenchResults("dataset", title, b.repeats, b.scene.events*int64(b.sequences), windows)
	if err := b.enter(c, in); err != nil {
		return err
	}
	if err := b.compare(ctx, c); err != nil {
		return err
	}
	if err := c.time(ctx); err != nil {
		return err
	}
	for _, row := range c.results.Rows {
		for i := range row.Runs {
			row.Runs[i].Wall = row.Runs[i].Process // as RVT's script is timed
		}
	}
	return b.publish(c.results)
}

// enter lists what takes part.
func (b *datasetBench) enter(c *contest, in string) error {
	whole := func(out string) (string, error) { return out, nil }
	for _, d := range devices.All {
		if err := d.Probe(); err != nil {
			b.app.say(fmt.Sprintf("%s: left out: %v", d.Name(), err))
			continue
		}
		c.programs = append(c.programs, program{
			name: d.Name(), title: "evq rvt dataset on " + d.Name(), own: true, windows: c.results.Windows, frames: whole, first: d.Name() == "cpu",
			command: func(out string) ([]string, []string, error) {
				argv, err := b.app.itself("bench", "rvt-body", "dataset", "--in", in, "-o", out, "--device", d.Name())
				return argv, nil, err
			},
		})
	}
	if b.peers.rvt == "" {
		return nil
	}
	input, err := filepath.Abs(in)
	if err != nil {
		return err
	}
	c.programs = append(c.programs, program{
		name: "rvt", title: fmt.Sprintf("RVT's script, -np %d", b.processes), windows: c.results.Windows, frames: whole, whole: true,
		command: func(out string) ([]string, []string, error) { return b.script(input, out) },
	})
	return nil
}

// script is the command line of RVT's own.
func (b *datasetBench) script(in, out string) (argv, env []string, err error) {
	root, e1 := filepath.Abs(b.peers.rvt)
	to, e2 := filepath.Abs(out)
	if err := errors.Join(e1, e2); err != nil {
		return nil, nil, err
	}
	genx := filepath.Join(root, "scripts", "genx")
	conf := filepath.Join(genx, "conf_preprocess")
	argv = []string{b.peers.interpreter(), filepath.Join(genx, "preprocess_dataset.py"), in, to,
		filepath.Join(conf, "representation", "stacked_hist.yaml"), filepath.Join(conf, "extraction", "const_duration.yaml"),
		filepath.Join(conf, "filter_gen4.yaml"), "-ds", "gen4", "-np", strconv.Itoa(b.processes)}
	path := root
	if more := os.Getenv("PYTHONPATH"); more != "" {
		path += string(os.PathListSeparator) + more
	}
	return argv, []string{pythonQuiet, "PYTHONPATH=" + path}, nil
}

// compare runs everything once. Trees of evq's devices must be equal.
func (b *datasetBench) compare(ctx context.Context, c *contest) error {
	reference := ""
	for _, p := range c.inOrder() {
		row := c.row(p)
		tree, err := c.once(ctx, p)
		switch {
		case err != nil && (p.own || ctx.Err() != nil):
			return fmt.Errorf("%s: %w", p.name, err)
		case err != nil:
			row.Error = err.Error()
			b.app.say(p.name + ": FAILED: " + row.Error)
			continue
		case reference == "":
			reference, c.results.Reference, row.Check = tree, p.name, "the reference"
			continue
		}
		if err := c.judge(ctx, p, reference, tree); err != nil {
			return err
		}
	}
	return nil
}

// generate makes the data set where it is not there yet, and counts its windows.
func (b *datasetBench) generate(ctx context.Context, in string) (windows int64, err error) {
	for _, s := range []string{"train", "val", "test"} { // RVT's script wants all three
		if err := os.MkdirAll(filepath.Join(in, s), 0o777); err != nil {
			return 0, err
		}
	}
	labels := scenicLabels(b.scene.duration)
	g, err := rvt.NewGrid(labels, rvt.GridOptions{Dataset: rvt.Gen4})
	if err != nil {
		return 0, fmt.Errorf("the scene is too short for labels; give --seconds 1 or more: %w", err)
	}
	for i := range b.sequences {
		stem := filepath.Join(in, []string{"train", "val", "test"}[i%3], fmt.Sprintf("scene%03d", i))
		if _, err := os.Stat(stem + "_bbox.npy"); err == nil {
			continue // it is written last
		}
		b.app.say("making " + stem + "_td.h5")
		if err := synthesise(ctx, stem+"_td.h5", b.scene, uint64(i+1), b.app.running()...); err != nil {
			return 0, err
		}
		if err := writeWhole(stem+"_bbox.npy", labelFile(slices.Clone(labels))); err != nil {
			return 0, err
		}
	}
	return int64(len(g.Ends)) * int64(b.sequences), nil
}

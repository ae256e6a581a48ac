package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/io/npy"
)

func (a *app) rvtGridCommand() *cobra.Command {
	var l labelling
	var out string
	var force bool
	cmd := &cobra.Command{
		Use:   "grid LABELS -o GRID.npy",
		Short: "Derive from labels when RVT's windows end",
		Long: `Grid reads the boxes of a NAME_bbox.npy, filters them as RVT does, and writes the times in microseconds at which
windows end, for --ends of rvt sequence and tensor.`,
		Example: `  evq rvt grid val/drive_bbox.npy --dataset gen4 -o grid.npy
  evq rvt grid train/a_bbox.npy --dataset gen1 --split train --grid 50ms -o grid.npy`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s takes one file of labels, not %d; see %s --help", cmd.CommandPath(), len(args), cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeFiles,
		RunE:              func(_ *cobra.Command, args []string) error { return a.rvtGrid(args[0], out, force, &l) },
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `GRID.npy`")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the output")
	l.flags(cmd)
	return cmd
}

func (a *app) rvtGrid(labels, out string, force bool, l *labelling) error {
	o, err := l.choices()
	if err != nil {
		return err
	}
	if out == "" {
		return usage("rvt grid needs -o GRID.npy")
	}
	split := splitOf(labels)
	if o.Split != nil {
		split = *o.Split
	}
	filter := rvt.DefaultFilter(o.Dataset, split)
	if o.Psee != nil {
		filter.Psee = *o.Psee
	}
	if o.Faulty != nil {
		filter.Faulty = *o.Faulty
	}
	all, err := rvt.ReadLabels(labels)
	if err != nil {
		return err
	}
	kept, tally, err := filter.Apply(all)
	if err != nil {
		return named(labels, err)
	}
	g, err := rvt.NewGrid(kept, rvt.GridOptions{Dataset: o.Dataset, Mode: o.Grid, Step: o.Step, Align: o.Align})
	if err != nil {
		return named(labels, err)
	}
	var options []npy.Option
	if force {
		options = append(options, npy.Force())
	}
	if err := npy.WriteInts(out, g.Ends, options...); err != nil {
		return err
	}
	a.say(fmt.Sprintf("%s: %s from %d to %d µs, %s; %v", out, counted(int64(len(g.Ends)), "window"), g.Ends[0], g.Ends[len(g.Ends)-1],
		counted(int64(len(g.Times)), "frame"), tally),
		"output", out, "windows", len(g.Ends), "first_end", g.Ends[0], "last_end", g.Ends[len(g.Ends)-1], "frames", len(g.Times),
		"labels", tally.Read, "kept", tally.Kept)
	return nil
}

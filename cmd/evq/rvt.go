package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine/rvt"
)

func (a *app) rvtCommand() *cobra.Command {
	verbs := []*cobra.Command{a.rvtSequenceCommand(), a.rvtDatasetCommand(), a.rvtGridCommand(), a.rvtCheckCommand()}
	cmd := &cobra.Command{
		Use:   "rvt",
		Short: "Prepare recordings with labels as RVT does: filters, grids, frames",
		Long: `Rvt makes the tree of files that RVT (Recurrent Vision Transformers) trains on, from recordings of any format and
box labels, with the same elements as RVT's own script. docs/rvt.md maps RVT's settings to flags.`,
		Example: `  evq rvt dataset gen4/ --dataset gen4 -o out/
  evq rvt sequence val/drive_td.h5 --labels val/drive_bbox.npy --dataset gen4 -o out/drive
  evq rvt check out/ rvt_out/`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknown("part of rvt", args[0], verbNames(verbs))
		},
	}
	cmd.AddCommand(verbs...)
	return cmd
}

func verbNames(verbs []*cobra.Command) []string {
	var names []string
	for _, v := range verbs {
		if !v.Hidden {
			names = append(names, v.Name())
		}
	}
	return names
}

// A labelling is the flags that say which labels count, and how a grid of windows follows from them.
type labelling struct {
	cmd            *cobra.Command
	dataset, split string
	grid           string
	step, align    time.Duration
	psee, faulty   string
}

func (l *labelling) flags(cmd *cobra.Command) {
	l.cmd = cmd
	enumFlag(cmd, &l.dataset, "dataset", "", "whose sensor and rules, `NAME`; it has to be given", "gen1", "gen4")
	enumFlag(cmd, &l.split, "split", "", "the split, `NAME` (default what the folder is called, or val)", "train", "val", "test")
	enumFlag(cmd, &l.grid, "grid", "rvt", "how windows follow from labels, `MODE`: as RVT's script, or even steps for labels of any rate", "rvt", "50ms")
	valueFlag(cmd, &l.step, parseDuration, "step", "50ms", "`D` from the end of one window to the next")
	valueFlag(cmd, &l.align, parseDuration, "align", "100ms", "the first frame is the first label at `D` or later")
	enumFlag(cmd, &l.psee, "psee-filter", "", "leave out boxes too small for Prophesee's evaluation, `on|off` (default on for gen1, off for gen4)", "on", "off")
	enumFlag(cmd, &l.faulty, "faulty-filter", "", "leave out boxes as wide as the sensor from the split train, `on|off` (default on)", "on", "off")
}

// choices are the flags, read. What was not given stays at its zero value, which stands for RVT's own.
func (l *labelling) choices() (o rvt.Options, err error) {
	if l.dataset == "" {
		return o, usage("%s needs --dataset gen1 or --dataset gen4", l.cmd.CommandPath())
	}
	if l.given("step") && l.step == 0 {
		return o, usage("--step is 1µs at least")
	}
	o.Step, o.Align = l.step, l.align
	if l.given("align") && l.align == 0 {
		o.Align = -1 // zero would be the default
	}
	o.Psee, o.Faulty = switched(l.psee), switched(l.faulty)
	if l.split != "" {
		split, e := rvt.ParseSplit(l.split)
		o.Split, err = &split, e
	}
	var e1, e2 error
	o.Dataset, e1 = rvt.ParseDataset(l.dataset)
	o.Grid, e2 = rvt.ParseGridMode(l.grid)
	return o, errors.Join(err, e1, e2)
}

func (l *labelling) given(flag string) bool { return l.cmd.Flags().Changed(flag) }

// switched reads on or off; nil where neither was given.
func switched(word string) *bool {
	on := word == "on"
	if word == "" {
		return nil
	}
	return &on
}

// splitOf is the split of a file by its folder's name, val where that is none.
func splitOf(path string) rvt.Split {
	abs, err := filepath.Abs(path)
	if err != nil {
		return rvt.Val
	}
	split, err := rvt.ParseSplit(filepath.Base(filepath.Dir(abs)))
	if err != nil {
		return rvt.Val
	}
	return split
}

// rvtError turns wrong options into wrong use.
func rvtError(err error) error {
	if errors.Is(err, rvt.ErrOptions) {
		return usageError{err}
	}
	return err
}

// sensors says what the data sets are, for helps.
func sensors() string {
	return fmt.Sprintf("gen1 is %v, gen4 %v, whose frames are half that size unless --downsample 1", rvt.Gen1.Geometry(), rvt.Gen4.Geometry())
}

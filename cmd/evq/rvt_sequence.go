package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/io/event"
)

func (a *app) rvtSequenceCommand() *cobra.Command {
	t := &treeFlags{app: a}
	labels := ""
	cmd := &cobra.Command{
		Use:   "sequence REC -o DIR",
		Short: "Make RVT's tree of one recording",
		Long: `Sequence filters the labels of a recording, derives from them when windows end, and writes below DIR:

  event_representations_v2/NAME/event_representations.h5 (event_representations_ds2_nearest.h5 at half size)
  event_representations_v2/NAME/timestamps_us.npy, objframe_idx_2_repr_idx.npy
  labels_v2/labels.npz, timestamps_us.npy
  manifest.json: inputs, options, counters and checksums

All files get their names when all are whole; what is whole and was made alike is left as it is. Windows are closed at
both ends, [end-span, end]. The recording is read as RVT reads it: earlier times are raised to the time before them,
and events off the sensor mark where a window's bins begin and end but are not counted. Without --labels the file
NAME_bbox.npy beside NAME_td.h5 is taken. ` + sensors() + `.

Exit code 3 also says that no label is left, so that there is nothing to make.`,
		Example: `  evq rvt sequence val/drive_td.h5 --dataset gen4 -o out/val/drive
  evq rvt sequence drive.raw --labels drive_bbox.npy --dataset gen4 --split train --grid 50ms -o out/drive --verify
  evq rvt sequence drive.parquet --every 50ms --dataset gen4 --repr mixed_density --count 50k -o out/drive`,
		Args:              oneArgument,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.rvtSequence(cmd.Context(), args[0], labels, t) },
	}
	cmd.Flags().StringVar(&labels, "labels", "", "windows end by the boxes of `LABELS.npy` (default NAME_bbox.npy beside the recording)")
	_ = cmd.MarkFlagFilename("labels", "npy")
	t.flags(cmd)
	return cmd
}

func (a *app) rvtSequence(ctx context.Context, rec, labels string, t *treeFlags) error {
	o, err := t.options()
	if err != nil {
		return err
	}
	if o.Labels, err = t.labelsOf(rec, labels); err != nil {
		return err
	}
	m := a.newMeter()
	defer m.stop()
	run := rvt.Plan
	if !t.dryRun {
		run = rvt.Sequence
		o.Decode.OnRead = m.readAt
		o.Progress = func(done, _ int64) { m.events.Store(done) }
		m.show("rvt "+filepath.Base(rec), a.infoOf(rec, &t.reading), rec)
	}
	res, err := run(ctx, rec, o)
	m.stop()
	if err != nil {
		return named(rec, rvtError(err))
	}
	s := sequenceReport{Recording: rec, Output: o.Out, Status: statusOf(res), Planned: t.dryRun, Seconds: m.elapsed().Seconds()}
	s.take(res, nil, t.keeps())
	if t.asJSON {
		if err := printJSON(a.out, s); err != nil {
			return err
		}
	} else if t.dryRun {
		if _, err := a.out.Write([]byte(s.line() + "\n")); err != nil {
			return err
		}
	} else if s.Status != rvt.Skipped {
		a.say(s.line(), s.attrs()...)
	}
	return a.sequenceDone(s, res, t)
}

// sequenceDone prints what went differently than expected.
func (a *app) sequenceDone(s sequenceReport, res rvt.Result, t *treeFlags) error {
	for _, w := range s.Warnings {
		a.warn(s.Recording + ": " + w)
	}
	if s.Status == rvt.Skipped {
		a.always(s.Recording + ": nothing to make: " + s.Reason)
		return errLosses
	}
	if t.keeps() {
		res.OffSensor = 0
	}
	return a.reported(s.Recording, res.Report, res.OffSensor)
}

// labelsOf is the file of labels that is wanted, "" where windows end by other rules.
func (t *treeFlags) labelsOf(rec, given string) (string, error) {
	sources := 0
	for _, set := range []bool{given != "", t.ends != "", t.given("every")} {
		if set {
			sources++
		}
	}
	switch {
	case sources > 1:
		return "", usage("--labels, --ends and --every each say when windows end; give one")
	case sources == 1:
		return given, nil
	}
	base := filepath.Base(rec)
	name, _, td := strings.Cut(base, "_td.")
	if !td {
		name = stem(base)
	}
	beside := filepath.Join(filepath.Dir(rec), name+"_bbox.npy")
	if _, err := os.Stat(beside); err != nil {
		return "", usage("no label file: expected %s; or say when windows end by --labels L.npy, --ends GRID.npy or --every 50ms", beside)
	}
	return beside, nil
}

// infoOf is what a recording says of itself, for the progress alone: what is wrong with it shows when it is read.
func (a *app) infoOf(path string, r *reading) event.Info {
	rec, err := a.open(path, r, a.newMeter())
	if err != nil {
		return event.Info{Events: -1}
	}
	defer func() { _ = rec.Close() }()
	return rec.Info()
}

// statusOf names what became of a sequence.
func statusOf(r rvt.Result) rvt.Status {
	switch {
	case r.Skipped != "":
		return rvt.Skipped
	case r.Existing:
		return rvt.Existing
	}
	return rvt.Made
}

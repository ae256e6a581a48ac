package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/io/event"
)

func (a *app) rvtDatasetCommand() *cobra.Command {
	t := &treeFlags{app: a}
	jobs := 0
	cmd := &cobra.Command{
		Use:   "dataset IN -o OUT",
		Short: "Make RVT's tree of a whole data set",
		Long: `Dataset runs rvt sequence on every NAME_bbox.npy with its NAME_td.h5 (gen1: NAME_td.dat.h5, or a recording of any other
format) in IN/train, IN/val and IN/test, or in IN itself, into OUT/SPLIT/NAME. With --ends or --every, every recording
is a sequence. Several sequences run at once, under one budget of memory and threads. A sequence that fails does not
stop the rest, and what is whole already is left alone, so that a run that was stopped goes on where it was.

Exit codes: 0 all made; 1 none could be; 3 some failed, or events were lost, which is printed.`,
		Example: `  evq rvt dataset gen4/ --dataset gen4 -o out/
  evq rvt dataset gen1/ --dataset gen1 -o out/ --split val --jobs 4 --memory 4GiB
  evq rvt dataset gen4/ --dataset gen4 -o out/ --grid 50ms --dry-run`,
		Args:              oneArgument,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.rvtDataset(cmd.Context(), args[0], jobs, t) },
	}
	cmd.Flags().IntVar(&jobs, "jobs", 0, "run `N` sequences at once (default one for each four threads)")
	t.flags(cmd)
	cmd.Flags().Lookup("split").Usage = "only the split `NAME` (train, val, test)"
	return cmd
}

func (a *app) rvtDataset(ctx context.Context, in string, jobs int, t *treeFlags) error {
	o, err := t.options()
	switch {
	case err != nil:
		return err
	case jobs < 0:
		return usage("--jobs is a number from 1 on, not %d", jobs)
	case t.ends != "" && t.given("every"):
		return usage("--ends and --every each say when windows end; give one")
	}
	d := rvt.DatasetOptions{Jobs: jobs, DryRun: t.dryRun}
	if o.Split != nil {
		d.Splits = []rvt.Split{*o.Split}
	}
	m := a.newMeter()
	defer m.stop()
	var done atomic.Int64
	d.Progress = func(p rvt.Progress) {
		done.Store(int64(p.Sequences))
		m.bytes.Store(p.Bytes)
		m.events.Store(p.Events)
	}
	d.Done = func(o rvt.Outcome) {
		s := newSequenceReport(o, t.dryRun, t.keeps())
		a.sequenceEnded(&s, t)
	}
	found, err := rvt.Find(in, t.out, o.Dataset, t.ends == "" && !t.given("every"), d.Splits...)
	if err != nil {
		return err
	}
	m.detail = func() string { return fmt.Sprintf(" %d of %d sequences,", done.Load(), len(found)) }
	for _, f := range found {
		if st, err := os.Stat(f.Recording); err == nil {
			m.total += st.Size()
		}
	}
	m.show("rvt dataset", event.Info{Events: -1}, "")
	sum, err := rvt.Sequences(ctx, in, t.out, o, d)
	m.stop()
	if len(sum.Sequences) == 0 {
		return rvtError(err)
	}
	r := newDatasetReport(sum, t.dryRun, t.keeps(), m.elapsed())
	if e := a.printDataset(&r, t); err == nil {
		err = e
	}
	if err != nil {
		return rvtError(err)
	}
	return r.end()
}

// sequenceEnded prints what became of a sequence as soon as it is known. What a dry run finds is its result, which
// comes at the end and in order.
func (a *app) sequenceEnded(s *sequenceReport, t *treeFlags) {
	switch {
	case s.Status == rvt.Failed:
		a.warn(s.line())
	case !t.dryRun && !t.asJSON:
		a.say(s.line(), s.attrs()...)
	}
	for _, w := range s.Warnings {
		a.warn(s.Name + ": " + w)
	}
	if len(s.Losses) > 0 {
		a.always(s.Name + ": lost " + strings.Join(s.Losses, ", "))
	}
}

// printDataset prints the sums, and what failed.
func (a *app) printDataset(r *datasetReport, t *treeFlags) error {
	if t.asJSON {
		if err := printJSON(a.out, r); err != nil {
			return err
		}
	}
	if t.dryRun && !t.asJSON {
		var text strings.Builder
		for _, s := range r.Sequences {
			if s.Status != rvt.Failed { // the table of failures has it
				text.WriteString(s.line() + "\n")
			}
		}
		if _, err := fmt.Fprint(a.out, text.String()); err != nil {
			return err
		}
	}
	if table := r.failed(); table != "" {
		a.always(table)
	}
	a.say(r.line(), "sequences", len(r.Sequences), "made", r.Count[rvt.Made], "existing", r.Count[rvt.Existing],
		"skipped", r.Count[rvt.Skipped], "failed", r.Count[rvt.Failed], "windows", r.Windows, "empty", r.Empty,
		"events", r.Events, "seconds", r.Seconds)
	return nil
}

package main

import (
	"bufio"
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/text"
)

// A headQuery is the flags of head.
type headQuery struct {
	app      *app
	reading  reading
	filters  filters
	n        int64
	from     string
	fromAt   instant
	triggers bool
}

func (a *app) headCommand() *cobra.Command {
	h := &headQuery{app: a, n: 10}
	cmd := &cobra.Command{
		Use:   "head REC",
		Short: "Print the first events, or triggers, as CSV",
		Long: `Head prints events in time order as CSV: t in microseconds, x, y, and p, 0 = OFF and 1 = ON. Triggers have t, their
channel, and edge, rising or falling.`,
		Example: `  evq head drive.raw
  evq head drive.parquet -n 100 --from 1.5s --polarity on
  evq head drive.raw --triggers`,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return h.run(cmd.Context(), args[0]) },
	}
	add(cmd, &value{text: "10", kind: "N", set: func(s string) (err error) { h.n, err = parseCount(s); return err }},
		"number", "n", "how many, `N`, such as 100 or 2k")
	add(cmd, &value{kind: "T", set: func(s string) (err error) { h.from = s; h.fromAt, err = parseInstant(s); return err }},
		"from", "", "from the time `T` on, such as 1.5s, plain µs, or +1s after the first event")
	cmd.Flags().BoolVar(&h.triggers, "triggers", false, "print external triggers, in file order")
	h.filters.flags(cmd)
	h.reading.flags(cmd)
	h.reading.joining(cmd)
	return cmd
}

func (h *headQuery) run(ctx context.Context, path string) error {
	a := h.app
	if h.triggers && len(h.filters.list) > 0 {
		return usage("--triggers goes with --from, not with filters of events")
	}
	m := a.newMeter()
	rec, err := a.open(path, &h.reading, m)
	if err != nil {
		return err
	}
	defer func() { _ = rec.Close() }()
	opts := a.options(m)
	from := event.Everything.T0
	if h.from != "" {
		var first int64
		if h.fromAt.relative {
			if first, _, err = firstTime(ctx, rec, opts); err != nil {
				return named(path, err)
			}
		}
		from = h.fromAt.on(first)
	}
	out := bufio.NewWriter(a.out)
	var stats engine.Stats
	if h.triggers {
		err = h.printTriggers(ctx, rec, from, out)
	} else {
		err = h.printEvents(ctx, rec, from, out, append(opts, engine.Collected(&stats)))
	}
	if err != nil {
		return named(path, err)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return a.reported(path, stats.Report, 0)
}

func (h *headQuery) printEvents(ctx context.Context, rec *engine.Recording, from int64, out *bufio.Writer, opts []engine.Option) error {
	if _, err := out.WriteString("t,x,y,p\n"); err != nil {
		return err
	}
	frame, err := h.filters.frame(ctx, rec, opts)
	if err != nil {
		return err
	}
	if from != event.Everything.T0 {
		frame = frame.Filter(exprs.T.Ge(from))
	}
	var line []byte
	return frame.Limit(h.n).Each(ctx, func(b event.Batch) error {
		t, x, y, p := b.T(), b.X(), b.Y(), b.P()
		for i := range t {
			line = strconv.AppendInt(line[:0], t[i], 10)
			line = strconv.AppendUint(append(line, ','), uint64(x[i]), 10)
			line = strconv.AppendUint(append(line, ','), uint64(y[i]), 10)
			line = append(strconv.AppendInt(append(line, ','), int64(p[i]), 10), '\n')
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		return nil
	}, opts...)
}

// errEnough ends a scan whose triggers have all been printed.
var errEnough = errors.New("enough")

func (h *headQuery) printTriggers(ctx context.Context, rec *engine.Recording, from int64, out *bufio.Writer) error {
	if _, err := out.WriteString(text.TriggerHeader); err != nil || h.n == 0 {
		return err
	}
	var line []byte
	left := h.n
	want := event.All
	want.Threads = h.app.threads
	want.Triggers = func(tr []event.Trigger) error {
		for _, v := range tr {
			if v.T < from {
				continue
			}
			line = text.AppendTrigger(line[:0], v)
			if _, err := out.Write(line); err != nil {
				return err
			}
			if left--; left == 0 {
				return errEnough
			}
		}
		return nil
	}
	_, err := event.Each(ctx, rec, want, func(event.Batch) error { return nil })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

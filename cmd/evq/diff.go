package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/event"
)

func (a *app) diffCommand() *cobra.Command {
	var r reading
	asJSON := false
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the events of two recordings of any formats",
		Long: `Diff compares two recordings event by event, in time order, and prints the first that differs and how many there are in
each. Both are read under the same flags.

Exit codes: 0 equal; 1 different, or unreadable.`,
		Example: `  evq diff drive.raw drive.parquet
  evq diff a.raw b.raw --on-unsorted clamp --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("%s takes two recordings, not %d; see %s --help", cmd.CommandPath(), len(args), cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.diff(cmd.Context(), args, &r, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	r.flags(cmd)
	return cmd
}

// A diffResult is what diff prints. The names of its JSON keys are stable.
type diffResult struct {
	Equal  bool        `json:"equal"`
	First  int64       `json:"first"` // the number of the first event that differs, -1 where none does
	A      *eventValue `json:"a"`     // that event in each, null where there is none
	B      *eventValue `json:"b"`
	Events [2]int64    `json:"events"`
}

type eventValue struct {
	T int64  `json:"t"`
	X uint16 `json:"x"`
	Y uint16 `json:"y"`
	P int8   `json:"p"`
}

func (e *eventValue) String() string {
	if e == nil {
		return "none"
	}
	return fmt.Sprintf("t=%d x=%d y=%d p=%d", e.T, e.X, e.Y, e.P)
}

// errDifferent ends a comparison that found a difference and has printed it.
var errDifferent = errors.New("the recordings differ")

func (a *app) diff(ctx context.Context, paths []string, r *reading, asJSON bool) error {
	m := a.newMeter()
	var in [2]*cursor
	for i, path := range paths {
		rec, err := a.open(path, r, m)
		if err != nil {
			return err
		}
		defer rec.Close() //nolint:errcheck // only read
		if in[i], err = openCursor(ctx, rec, a.threads); err != nil {
			return named(path, err)
		}
		defer in[i].stream.Close() //nolint:errcheck // only read
	}
	res, err := compareEvents(ctx, in)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(a.out, res)
	} else {
		err = res.print(&printer{w: a.out}, paths)
	}
	if err == nil && !res.Equal {
		return errDifferent
	}
	return err
}

func (d *diffResult) print(p *printer, paths []string) error {
	if d.Equal {
		p.line("equal: %s", counted(d.Events[0], "event"))
		return p.err
	}
	p.line("event %s is the first that differs", grouped(d.First))
	for i, e := range []*eventValue{d.A, d.B} {
		p.line("  %s: %v, of %s", paths[i], e, counted(d.Events[i], "event"))
	}
	return p.err
}

// A cursor walks through a recording's events.
type cursor struct {
	stream event.Stream
	batch  event.Batch
	at     int
	passed int64 // events before the batch
}

func openCursor(ctx context.Context, rec *engine.Recording, threads int) (*cursor, error) {
	want := event.All
	want.Threads = threads
	st, err := rec.Scan(ctx, want)
	return &cursor{stream: st}, err
}

// fill makes at least one event available; false at the end.
func (c *cursor) fill(ctx context.Context) (bool, error) {
	for c.at == c.batch.Len() {
		c.passed += int64(c.batch.Len())
		c.batch.Release()
		c.batch, c.at = event.Batch{}, 0
		b, err := c.stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		c.batch = b
	}
	return true, nil
}

func (c *cursor) event() *eventValue {
	if c.at >= c.batch.Len() {
		return nil
	}
	return &eventValue{c.batch.T()[c.at], c.batch.X()[c.at], c.batch.Y()[c.at], c.batch.P()[c.at]}
}

// rest counts all events, those passed included.
func (c *cursor) rest(ctx context.Context) (int64, error) {
	for {
		c.at = c.batch.Len()
		more, err := c.fill(ctx)
		if err != nil || !more {
			return c.passed, err
		}
	}
}

func compareEvents(ctx context.Context, in [2]*cursor) (*diffResult, error) {
	res := &diffResult{Equal: true, First: -1}
	for res.Equal {
		var more [2]bool
		for i, c := range in {
			var err error
			if more[i], err = c.fill(ctx); err != nil {
				return nil, err
			}
		}
		if !more[0] && !more[1] {
			break
		}
		a, b := in[0], in[1]
		n := min(a.batch.Len()-a.at, b.batch.Len()-b.at)
		same := sameEvents(a.batch.Slice(a.at, a.at+n), b.batch.Slice(b.at, b.at+n))
		a.at, b.at = a.at+same, b.at+same
		if same < n || more[0] != more[1] {
			res.Equal, res.First, res.A, res.B = false, a.passed+int64(a.at), a.event(), b.event()
		}
	}
	for i, c := range in {
		var err error
		if res.Events[i], err = c.rest(ctx); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// sameEvents returns how many events are equal before the first that differs.
func sameEvents(a, b event.Batch) int {
	for i := range a.Len() {
		if a.T()[i] != b.T()[i] || a.X()[i] != b.X()[i] || a.Y()[i] != b.Y()[i] || a.P()[i] != b.P()[i] {
			return i
		}
	}
	return a.Len()
}

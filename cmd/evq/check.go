package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

func (a *app) checkCommand() *cobra.Command {
	var r reading
	asJSON := false
	cmd := &cobra.Command{
		Use:   "check REC",
		Short: "Decode a recording and name everything in it that breaks its format's rules",
		Long: `Check decodes a whole recording, keeps on where it can, and prints each kind of violation with its count and where the
first one is. EVT3 violations also have the names that OpenEB gives them.

Exit codes: 0 none; 3 there are violations; 1 the recording cannot be read.`,
		Example: `  evq check drive.raw
  evq check drive.raw --json`,
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.check(cmd.Context(), args[0], &r, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	r.flags(cmd)
	r.joining(cmd)
	return cmd
}

// A violation is one kind of thing that a format's rules forbid. The names of its JSON keys are stable.
type violation struct {
	Name   string `json:"name"`
	OpenEB string `json:"openeb,omitempty"` // OpenEB's name for it
	Part   string `json:"part,omitempty"`   // of a joined recording, the file that First is in
	Doc    string `json:"doc"`
	Count  int64  `json:"count"`
	First  int64  `json:"first"` // byte offset, or the event's number where the counter counts events; -1 where it is not known
}

type checkResult struct {
	Path       string      `json:"path"`
	Parts      []string    `json:"parts,omitempty"` // of a joined recording, after the first
	Format     string      `json:"format"`
	Events     int64       `json:"events"`
	Violations []violation `json:"violations"`
}

// openEBNames are OpenEB's names of EVT3 violations.
var openEBNames = map[event.Counter]string{
	event.Glitches: "NonMonotonicTimeHigh", event.Gaps: "NonContinuousTimeHigh", event.InvalidVectBase: "InvalidVectBase",
	event.PartialVect: "PartialVect_12_12_8", event.MissingY: "MissingYAddr",
}

// harmless are the counters of what no rule forbids.
var harmless = map[event.Counter]bool{event.Triggers: true, event.Wraps: true, event.RemappedPolarity: true, event.Duplicates: true}

// indexed are the counters whose first is an event's number.
var indexed = map[string]bool{event.Unsorted.String(): true, event.OffSensor.String(): true, event.Duplicates.String(): true}

// known reports whether words that are counted as unknown have a name in their format: those are no violation.
func known(kind string) bool { return !strings.HasPrefix(kind, "0x") }

func (a *app) check(ctx context.Context, path string, r *reading, asJSON bool) error {
	// Whatever a policy would end at is counted instead.
	r.onUnsorted, r.onOffSensor = format.Clamp, format.Keep
	m := a.newMeter()
	rec, err := a.open(path, r, m)
	if err != nil {
		return err
	}
	defer rec.Close() //nolint:errcheck // only read
	m.show("check "+filepath.Base(path), rec.Info(), path)
	defer m.stop()
	want := event.All
	want.Threads = a.threads
	want.Triggers = func([]event.Trigger) error { return nil } // some formats read them only where they are asked for
	rep, err := event.Each(ctx, rec, want, func(event.Batch) error { return nil })
	res := checkResult{Path: path, Parts: r.parts, Format: rec.Info().Format, Violations: []violation{}}
	var damage *format.SyntaxError
	switch {
	case errors.As(err, &damage):
		res.Violations = append(res.Violations, violation{Name: "damage", Part: damage.Part, Doc: damage.Msg, Count: 1, First: damage.Offset})
	case err != nil:
		return named(path, err)
	}
	m.stop()
	if rep != nil {
		res.Events = rep.Events
		for _, v := range violationsOf(rep, res.Format) {
			if !indexed[v.Name] {
				v.Part, v.First = r.place(rec, v.First)
			}
			res.Violations = append(res.Violations, v)
		}
	}
	if asJSON {
		err = printJSON(a.out, res)
	} else {
		err = res.print(&printer{w: a.out})
	}
	if err == nil && len(res.Violations) > 0 {
		return errLosses
	}
	return err
}

func violationsOf(rep *event.Report, formatName string) []violation {
	var out []violation
	for i, doc := range event.Counters() {
		c := event.Counter(i)
		t := rep.Get(c)
		n := t.N
		if c == event.Unknown {
			n = 0
			for kind, count := range rep.UnknownKinds() {
				if !known(kind) {
					n += count
				}
			}
		}
		if n == 0 || harmless[c] {
			continue
		}
		v := violation{Name: doc.Name, Doc: doc.Doc, Count: n, First: t.First}
		if formatName == "evt3" {
			v.OpenEB = openEBNames[c]
		}
		out = append(out, v)
	}
	return out
}

func (c *checkResult) print(p *printer) error {
	found := "no violation"
	if n := len(c.Violations); n > 0 {
		found = "violations of " + counted(int64(n), "kind")
	}
	p.line("%s: %s, %s, %s", strings.Join(append([]string{c.Path}, c.Parts...), " + "), c.Format, counted(c.Events, "event"), found)
	for _, v := range c.Violations {
		name := v.Name
		if v.OpenEB != "" {
			name += " (" + v.OpenEB + ")"
		}
		where := ""
		if v.First >= 0 {
			where = ", the first at " + grouped(v.First)
			if v.Part != "" {
				where += " of " + v.Part
			}
		}
		p.line("  %s: %s%s: %s", name, grouped(v.Count), where, v.Doc)
	}
	return p.err
}

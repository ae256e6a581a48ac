package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evq-project/evq/engine"
	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/conformance"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/formats"
)

// A conformanceQuery is the flags of conformance.
type conformanceQuery struct {
	app      *app
	reading  reading
	against  string
	make     string
	name     string
	anyOrder bool
	force    bool
	asJSON   bool
}

func (a *app) conformanceCommand() *cobra.Command {
	q := &conformanceQuery{app: a}
	cmd := &cobra.Command{
		Use:   "conformance REC...",
		Short: "Compare what recordings decode to with a reference, or make one",
		Long: `Conformance decodes whole recordings and compares what they hold with a reference: the number of events, the sensor,
sums, the first and last events, and SHA-256 digests of all events in the file's order and in sorted order. Docs
conformance.md describes the reference, a JSON file that any decoder can write.

Events are read in the order of the file, those off the sensor included, whatever the reference is for.

Exit codes: 0 equal; 3 different; 1 a recording or the reference cannot be read.`,
		Example: `  evq conformance drive.raw --make REF.json
  evq conformance drive.raw --against REF.json
  evq conformance drive.parquet --against REF.json --name drive.raw --any-order`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("%s takes recordings; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return q.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&q.against, "against", "", "the reference to compare with, `REF.json`")
	f.StringVar(&q.make, "make", "", "write a reference to `REF.json`")
	f.StringVar(&q.name, "name", "", "of the one recording in the reference, `NAME` (default: how its path ends)")
	f.BoolVar(&q.anyOrder, "any-order", false, "leave out what depends on the file's order")
	f.BoolVar(&q.force, "force", false, "overwrite the file that --make names")
	f.BoolVar(&q.asJSON, "json", false, "print JSON")
	q.reading.flags(cmd)
	return cmd
}

func (q *conformanceQuery) check(paths []string) error {
	switch {
	case (q.against == "") == (q.make == ""):
		return usage("give either --against REF.json, to compare, or --make REF.json, to write a reference")
	case q.name != "" && len(paths) > 1:
		return usage("--name goes with one recording, not %d", len(paths))
	case q.make != "" && q.anyOrder:
		return usage("--any-order goes with --against")
	case slices.Contains(q.reading.given, "on-unsorted"):
		return usage("conformance reads in the order of the file; leave out --on-unsorted")
	}
	return nil
}

func (q *conformanceQuery) run(ctx context.Context, paths []string) error {
	if err := q.check(paths); err != nil {
		return err
	}
	r := &q.reading
	r.prefer(map[string]string{"on-unsorted": string(format.Keep), "on-offsensor": string(format.Keep)})
	if q.make != "" {
		return q.write(ctx, paths)
	}
	refs, err := conformance.Load(q.against)
	if err != nil {
		return err
	}
	results, equal := []*conformanceResult{}, true
	for _, path := range paths {
		res, err := q.compare(ctx, path, refs)
		if err != nil {
			return err
		}
		if !q.asJSON {
			if err := res.print(&printer{w: q.app.out}, q.against); err != nil {
				return err
			}
		}
		results, equal = append(results, res), equal && res.Equal
	}
	if q.asJSON {
		err = printJSON(q.app.out, results)
	}
	if err == nil && !equal {
		return errLosses
	}
	return err
}

// A conformanceResult is what a comparison prints. The names of its JSON keys are stable.
type conformanceResult struct {
	Path   string `json:"path"`
	Name   string `json:"name"` // in the reference
	Format string `json:"format"`
	Events int64  `json:"events"`
	Equal  bool   `json:"equal"`
	*conformance.Comparison
}

func (q *conformanceQuery) compare(ctx context.Context, path string, refs conformance.References) (*conformanceResult, error) {
	name, want, err := q.find(path, refs)
	if err != nil {
		return nil, err
	}
	got, info, err := q.summarise(ctx, path)
	if err != nil {
		return nil, err
	}
	res := &conformanceResult{Path: path, Name: name, Format: info.Format, Events: got.N}
	if res.Comparison, err = want.Compare(got, conformance.Scope{AnyOrder: q.anyOrder, NoTriggers: !holdsTriggers(info)}); err != nil {
		return nil, named(path, err)
	}
	res.Equal = res.Comparison.Equal()
	return res, nil
}

func (q *conformanceQuery) find(path string, refs conformance.References) (string, conformance.Expected, error) {
	if q.name == "" {
		return refs.Find(path)
	}
	want, ok := refs[q.name]
	if !ok {
		names := make([]string, 0, len(refs))
		for n := range refs {
			names = append(names, n)
		}
		slices.Sort(names)
		return "", want, unknown("recording in "+q.against, q.name, names)
	}
	return q.name, want, nil
}

// summarise decodes a recording. What was lost on the way is printed; it makes no difference by itself.
func (q *conformanceQuery) summarise(ctx context.Context, path string) (*conformance.Summary, event.Info, error) {
	a := q.app
	m := a.newMeter()
	rec, err := a.open(path, &q.reading, m)
	if err != nil {
		return nil, event.Info{}, err
	}
	defer rec.Close() //nolint:errcheck // only read
	info := rec.Info()
	m.show("conformance "+filepath.Base(path), info, path)
	defer m.stop()
	got, rep, err := conformance.Summarise(ctx, rec, conformance.Options{Memory: min(a.memory/4, engine.DefaultMemory), Threads: a.threads})
	m.stop()
	if err != nil {
		return nil, info, named(path, err)
	}
	if err := a.reported(path, rep, 0); err != nil && !errors.Is(err, errLosses) {
		return nil, info, err
	}
	return got, info, nil
}

// holdsTriggers reports whether a recording has a place for triggers.
func holdsTriggers(info event.Info) bool {
	f, err := formats.ByName(info.Format)
	if err != nil {
		return true
	}
	if layout := info.Field("layout"); info.Format == "hdf5" && layout != "" {
		return strings.HasSuffix(layout, "(Prophesee)")
	}
	return f.Facts.Triggers != ""
}

// write makes a reference of recordings.
func (q *conformanceQuery) write(ctx context.Context, paths []string) error {
	if err := atomicfile.Check(q.make, q.force); err != nil {
		return err
	}
	refs := conformance.References{}
	for _, path := range paths {
		name := q.name
		if name == "" {
			name = referenceName(path)
		}
		if _, twice := refs[name]; twice {
			return usage("two recordings would be called %s in the reference; name them from a folder above both", name)
		}
		got, _, err := q.summarise(ctx, path)
		if err != nil {
			return err
		}
		refs[name] = conformance.Expect(got)
	}
	if err := refs.Write(q.make, q.force); err != nil {
		return err
	}
	q.app.say(fmt.Sprintf("%s: the reference of %s", q.make, counted(int64(len(refs)), "recording")))
	return nil
}

// referenceName is what a recording is called in a reference: its path below the working folder, or the file's name.
func referenceName(path string) string {
	if filepath.IsLocal(path) {
		return filepath.ToSlash(filepath.Clean(path))
	}
	return filepath.Base(path)
}

func (r *conformanceResult) print(p *printer, reference string) error {
	if r.Equal {
		p.line("%s: equal to %s in %s, %s", r.Path, r.Name, reference, counted(r.Events, "event"))
		return p.err
	}
	p.line("%s: differs from %s in %s, in %d of %s", r.Path, r.Name, reference, len(r.Differences), counted(int64(len(r.Compared)), "value"))
	for _, d := range r.Differences {
		if d.Value != "head" && d.Value != "tail" { // the first event says it
			p.line("  %s: %v, not %v: %s", d.Value, d.Got, d.Want, d.Doc)
		}
	}
	switch {
	case r.First != nil:
		p.line("  event %s is %v, not %v; it is the first that differs of those the reference holds", grouped(r.First.Index), r.First.Got, r.First.Want)
	case slices.Contains(r.Compared, "head"):
		p.line("  no event that the reference holds differs; evq diff finds the first where the other recording is at hand")
	}
	return p.err
}

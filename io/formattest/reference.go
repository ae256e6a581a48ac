package formattest

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/conformance"
	"github.com/evq-project/evq/io/event"
)

// CheckReference scans src and compares it with what the REFERENCE.json in dataDir says of the recording name:
// numbers, extremes, sums, the first and last events, the digests and the triggers. What depends on the file's order is
// compared where the recording is in time order, so that it holds under every order policy.
func CheckReference(t testing.TB, dataDir, name string, src event.Source) {
	t.Helper()
	want, ok := loadReferences(t, dataDir)[name]
	if !ok {
		t.Fatalf("REFERENCE.json does not know %s", name)
	}
	got, _, err := conformance.Summarise(context.Background(), src, conformance.Options{})
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	res, err := want.Compare(got, conformance.Scope{
		AnyOrder: want.Nonmonotonic != 0,
		// The HDF5 recordings were made from a raw one whose triggers the reference counts; their layout has none.
		NoTriggers: strings.HasPrefix(name, "h5_derived/"),
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, d := range res.Differences {
		t.Errorf("%s: %v", name, d)
	}
	if p := res.First; p != nil {
		t.Errorf("%s: event %d is %v, want %v", name, p.Index, p.Got, p.Want)
	}
}

// References lists the recordings of some folders of dataDir that its REFERENCE.json knows, sorted.
func References(t testing.TB, dataDir string, folders ...string) []string {
	t.Helper()
	var names []string
	for name := range loadReferences(t, dataDir) {
		if slices.Contains(folders, path.Dir(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func loadReferences(t testing.TB, dataDir string) conformance.References {
	t.Helper()
	refs, err := conformance.Load(filepath.Join(dataDir, "REFERENCE.json"))
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// Collect scans src from start to end and returns all that it yields.
func Collect(t testing.TB, src event.Source) (*event.Buffer, []event.Trigger, *event.Report) {
	t.Helper()
	events, triggers, rep, err := scan(context.Background(), src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return events, triggers, rep
}

// scan reads src until it ends or fails; what came before an error is returned with it.
func scan(ctx context.Context, src event.Source) (events *event.Buffer, triggers []event.Trigger, rep *event.Report, err error) {
	events = event.NewBuffer(0)
	want := event.All
	want.Triggers = func(tr []event.Trigger) error {
		triggers = append(triggers, tr...)
		return nil
	}
	rep, err = event.Each(ctx, src, want, func(b event.Batch) error { events.AppendBatch(b); return nil })
	if rep == nil {
		rep = &event.Report{}
	}
	return events, triggers, rep, err
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/conformance"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// A reference holds what was decoded, and any other decode differs from it in code and words.
func TestConformance(t *testing.T) {
	g := event.Geometry{Width: 8, Height: 6}
	rec := write(t, "a.raw", g, nil, one(1, 2, 3, 1), one(5, 2, 3, 1), one(5, 2, 4, 0))
	ref := filepath.Join(t.TempDir(), "REF.json")
	has(t, must(t, 0, "conformance", rec, "--make", ref).errOut, "1 recording")
	has(t, must(t, 0, "conformance", rec, "--against", ref).out, "equal to a.raw", "3 events")

	other := write(t, "a.raw", g, nil, one(1, 2, 3, 1), one(5, 2, 3, 0), one(5, 2, 4, 0))
	r := must(t, 3, "conformance", other, "--against", ref)
	has(t, r.out, "differs from a.raw", "pos: 1, not 2", "event 1 is x=2 y=3 p=0 t=5, not x=2 y=3 p=1 t=5")
	if r.errOut != "" {
		t.Errorf("a difference is no error: %s", r.errOut)
	}
	var results []struct {
		Equal       bool
		Differences []struct{ Value string }
		First       struct{ Index int64 }
	}
	if err := json.Unmarshal([]byte(must(t, 3, "conformance", rec, other, "--against", ref, "--json").out), &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || !results[0].Equal || results[1].Equal || results[1].First.Index != 1 || len(results[1].Differences) == 0 {
		t.Errorf("%+v", results)
	}
	short := write(t, "a.raw", g, nil, one(1, 2, 3, 1))
	has(t, must(t, 3, "conformance", short, "--against", ref).out, "event 1 is none, not x=2 y=3 p=1 t=5")
}

// No reference is overwritten unless that is asked for, and none is left by a run that fails.
func TestConformanceOverwrites(t *testing.T) {
	rec := write(t, "a.raw", event.Geometry{Width: 8, Height: 6}, nil, one(1, 2, 3, 1))
	dir := t.TempDir()
	ref := filepath.Join(dir, "REF.json")
	if err := os.WriteFile(ref, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	has(t, must(t, 1, "conformance", rec, "--make", ref).errOut, "--force")
	if b, err := os.ReadFile(ref); err != nil || string(b) != "mine" {
		t.Errorf("now it is %q, %v", b, err)
	}
	must(t, 0, "conformance", rec, "--make", ref, "--force")
	must(t, 0, "conformance", rec, "--against", ref)
	must(t, 1, "conformance", rec, filepath.Join(dir, "none.raw"), "--make", filepath.Join(dir, "new.json"))
	if names := eventtest.Names(t, dir); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
}

// The order is the file's: a recording out of order differs from its sorted store there, and nowhere else.
func TestConformanceOrder(t *testing.T) {
	dir := t.TempDir()
	rec, ref, store := filepath.Join(dir, "a.csv"), filepath.Join(dir, "REF.json"), filepath.Join(dir, "a.parquet")
	if err := os.WriteFile(rec, []byte("t,x,y,p\n5,1,2,1\n3,9,9,0\n8,1,2,0\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	must(t, 0, "conformance", rec, "--make", ref)
	refs, err := conformance.Load(ref)
	if err != nil {
		t.Fatal(err)
	}
	s := refs["a.csv"]
	in := event.New([]int64{5, 3, 8}, []uint16{1, 9, 1}, []uint16{2, 9, 2}, []int8{1, 0, 0})
	if file, sorted := eventtest.Digest(in); s.Nonmonotonic != 1 || s.FileOrder != file || s.Sorted != sorted {
		t.Errorf("%+v", s)
	}
	must(t, 0, "convert", rec, "-o", store)
	r := must(t, 3, "conformance", store, "--against", ref, "--name", "a.csv")
	has(t, r.out, "sha256_file_order", "nonmonotonic: 0, not 1")
	if strings.Contains(r.out, "sha256_canonical_sorted") {
		t.Errorf("the sorted digest differs:\n%s", r.out)
	}
	must(t, 0, "conformance", store, "--against", ref, "--name", "a.csv", "--any-order")
}

// A recording without a place for triggers is not asked for them; one that has a place and lost them is.
func TestConformanceTriggers(t *testing.T) {
	g := event.Geometry{Width: 8, Height: 6}
	with := write(t, "a.raw", g, []event.Trigger{{T: 1, Channel: 2, Rising: true}}, one(1, 2, 3, 1))
	without := write(t, "a.raw", g, nil, one(1, 2, 3, 1))
	ref := filepath.Join(t.TempDir(), "REF.json")
	must(t, 0, "conformance", with, "--make", ref)
	has(t, must(t, 3, "conformance", without, "--against", ref).out, "triggers: 0, not 1")
	csv := filepath.Join(t.TempDir(), "a.csv")
	if r := evq(t, "convert", with, "-o", csv); r.code != 0 && r.code != 3 { // 3: the trigger is left out
		t.Fatal(r.errOut)
	}
	must(t, 0, "conformance", csv, "--against", ref, "--name", "a.raw")
}

func TestConformanceWrongUse(t *testing.T) {
	rec := write(t, "a.raw", event.Geometry{Width: 8, Height: 6}, nil, one(1, 2, 3, 1))
	ref := filepath.Join(t.TempDir(), "REF.json")
	must(t, 0, "conformance", rec, "--make", ref)
	for _, args := range [][]string{
		{}, {rec}, {"--against", ref}, {rec, "--against", ref, "--make", ref}, {rec, rec, "--against", ref, "--name", "a.raw"},
		{rec, rec, "--make", ref, "--force"}, {rec, "--against", ref, "--on-unsorted", "sort"}, {rec, "--make", ref, "--any-order"},
		{rec, "--against", ref, "--name", "b.raw"},
	} {
		must(t, 2, append([]string{"conformance"}, args...)...)
	}
	has(t, must(t, 1, "conformance", write(t, "c.raw", event.Geometry{}, nil), "--against", ref).errOut, "--name")
}

// What evq decodes of the recordings that are at hand is what independent decoders say.
func TestConformanceReference(t *testing.T) {
	data := eventtest.Data(t)
	args := []string{"conformance", "-q", "--against", filepath.Join(data, "REFERENCE.json")}
	for _, name := range []string{
		"evt3_from_ros/evt3_trigger_1280x720.raw", "evt21_derived/evt21_legacy_from_evt3_trigger.raw", "dat/loris_NCARS_obj_004397_td.dat",
		"aedat4/evl_sample.aedat4", "aedat3_derived/aedat31_dvs128_tsoverflow.aedat", "csv_derived/xypt_openeb_header.csv",
	} {
		args = append(args, filepath.Join(data, filepath.FromSlash(name)))
	}
	must(t, 0, args...)
}

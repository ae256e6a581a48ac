package builtins

import (
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/udf"
	"github.com/evq-project/evq/udf/filtertest"
	"github.com/evq-project/evq/udf/hotpixel"
)

// Every filter and aggregate has a name of its own, a source, documented parameters, can be made with its defaults,
// and prints as a call of its name.
func TestFiltersAndAggregates(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Filters {
		f, err := e.Make(nil)
		if err != nil || len(f.String()) < len(e.Name) || f.String()[:len(e.Name)] != e.Name {
			t.Errorf("%s: %v, %v", e.Name, f, err)
		}
		if e.Doc == "" || e.Source == "" || seen[e.Name] {
			t.Errorf("%s: the name is taken, or a sentence is missing", e.Name)
		}
		for _, p := range e.Params {
			if p.Doc == "" || p.Default == "" {
				t.Errorf("%s: %s has no sentence or no default", e.Name, p.Name)
			}
		}
		if got, ok := LookupFilter(e.Name); !ok || got.Name != e.Name {
			t.Errorf("LookupFilter(%q) = %q, %v", e.Name, got.Name, ok)
		}
		seen[e.Name] = true
	}
	for _, e := range Aggregates {
		if got, ok := LookupAggregate(e.Name); !ok || got.Name != e.Name || e.Doc == "" || e.Source == "" || seen[e.Name] {
			t.Errorf("%s: the name is taken or not found, or a sentence is missing", e.Name)
		}
		seen[e.Name] = true
	}
	_, filter := LookupFilter("no such thing")
	_, aggregate := LookupAggregate("no such thing")
	if filter || aggregate {
		t.Error("found what is not there")
	}
}

// The order in which filters are written matters, as docs/semantics.md says: a predicate gives the same before and after
// a filter only on what the filter keeps apart.
func TestOrderLaws(t *testing.T) {
	type law struct{ place, polarity, time bool } // of what a predicate may speak to change places with the filter
	laws := map[string]law{
		"hot_pixel:percentile=90":            {},
		"hot_pixel:sigma=1":                  {},
		"refractory:period=700us":            {place: true},
		"refractory:period=5ms,against=seen": {place: true},
		"background_activity:window=200us":   {},
		"stc:threshold=700us":                {place: true},
		"trail:threshold=700us":              {place: true},
		"rate_limit:rate=50000":              {},
		"decimate:n=3":                       {place: true},
		"decimate:n=3,by=stream":             {},
		"drop":                               {},
		"dedup":                              {true, true, true},
	}
	mask := hotpixel.New(hotpixel.Mask([]hotpixel.Pixel{{X: 3, Y: 4}, {X: 10, Y: 2}}))
	check := func(f udf.Filter, l law) {
		got := law{
			commutes(t, f, func(b event.Batch, i int) bool { return b.X()[i] < 9 && b.Y()[i] > 2 }),
			commutes(t, f, func(b event.Batch, i int) bool { return b.P()[i] == 1 }),
			commutes(t, f, func(b event.Batch, i int) bool {
				n := b.Len()
				return b.T()[i] >= b.T()[n/3] && b.T()[i] < b.T()[2*n/3]
			}),
		}
		if got != l {
			t.Errorf("%v: a predicate commutes (on places, polarity, times): %v, not %v", f, got, l)
		}
	}
	check(mask, law{true, true, true})
	named := map[string]bool{}
	for call, l := range laws {
		name, args, err := udf.ParseCall(call)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := LookupFilter(name)
		f, err := e.Make(args)
		if err != nil {
			t.Fatal(err)
		}
		named[name] = true
		check(f, l)
	}
	for _, e := range Filters {
		if !named[e.Name] {
			t.Errorf("%s has no law of order", e.Name)
		}
	}
}

// The example of docs/semantics.md.
func TestFiltersExample(t *testing.T) {
	b := event.New([]int64{0, 600, 1200, 1800, 1900}, make([]uint16, 5), make([]uint16, 5), []int8{1, 1, 1, 1, 0})
	for call, want := range map[string][]int64{
		"refractory:period=1ms":              {0, 1200},
		"refractory:period=1ms,against=seen": {0},
		"trail:threshold=1ms":                {0, 1900},
		"stc:threshold=1ms":                  {600},
		"stc:threshold=1ms,cut_trail=false":  {600, 1200, 1800},
		"decimate:n=2":                       {600, 1800},
	} {
		name, args, err := udf.ParseCall(call)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := LookupFilter(name)
		f, err := e.Make(args)
		if err != nil {
			t.Fatal(err)
		}
		if got := filtertest.Kept(b, filtertest.Sift(t, f, b, filtertest.Size, 2)).T(); !slices.Equal(got, want) {
			t.Errorf("%s keeps %v, not %v", call, got, want)
		}
	}
}

// commutes reports whether a predicate gives the same before a filter and after it, on all recordings.
func commutes(t *testing.T, f udf.Filter, holds func(b event.Batch, i int) bool) bool {
	for _, b := range filtertest.Recordings() {
		first, after := make([]bool, b.Len()), filtertest.Sift(t, f, b, filtertest.Size, 1000)
		for i := range first {
			first[i] = holds(b, i)
			after[i] = after[i] && first[i]
		}
		picked := filtertest.Kept(b, first)
		before := filtertest.Kept(picked, filtertest.Sift(t, f, picked, filtertest.Size, 1000))
		if eventtest.Diff(before, filtertest.Kept(b, after)) != "" {
			return false
		}
	}
	return true
}

package builtins

import "testing"

// Every entry has a name of its own, a source, documented parameters, and can be made with its defaults.
func TestEntries(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All {
		if e.Name == "" || seen[e.Name] || e.Doc == "" || e.Source == "" {
			t.Errorf("entry %q: the name is taken, or a sentence is missing", e.Name)
		}
		seen[e.Name] = true
		for _, p := range e.Params {
			if p.Doc == "" || p.Default == "" {
				t.Errorf("%s: %s has no sentence or no default", e.Name, p.Name)
			}
		}
		if r, err := e.Make(nil); err != nil || r.String() == "" {
			t.Errorf("%s: %v", e.Name, err)
		}
		if got, ok := Lookup(e.Name); !ok || got.Name != e.Name {
			t.Errorf("Lookup(%q) = %q, %v", e.Name, got.Name, ok)
		}
	}
	if _, ok := Lookup("no such thing"); ok {
		t.Error("found what is not there")
	}
	if e, _ := Lookup("rvt"); e.Policy["on-unsorted"] != "clamp" || e.Policy["on-offsensor"] != "keep" {
		t.Errorf("the policies of rvt are %v", e.Policy)
	}
}

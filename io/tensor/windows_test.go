package tensor

import (
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, c := range []struct{ layouts, want string }{
		{"sae", "data"}, {"sae tore", "sae tore"}, {"sae sae tore sae", "sae sae_2 tore sae_3"},
		{"a a a_2", "a a_2 a_2_2"}, {"a_2 a a", "a_2 a a_3"}, {"window_end sae", "window_end_2 sae"}, {"", ""},
	} {
		var layouts []Layout
		for _, name := range strings.Fields(c.layouts) {
			layouts = append(layouts, Layout{Name: name})
		}
		if got := Names(layouts); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %s", c.layouts, got, c.want)
		}
	}
	if got := Names(make([]Layout, 2)); !slices.Equal(got, []string{"data", "data_2"}) {
		t.Errorf("without names: %v", got)
	}
}

func TestWindows(t *testing.T) {
	layouts := []Layout{{Name: "a", Shape: Shape{2}}, {Name: "b", Shape: Shape{3}}}
	if _, err := NewWindows(nil); err == nil {
		t.Error("an output without a layout was accepted")
	}
	for _, shape := range []Shape{{0, 4}, {-1}, {1 << 40, 1 << 40}} {
		if _, err := NewWindows([]Layout{layouts[0], {Shape: shape}}); err == nil {
			t.Errorf("blocks of shape %v were accepted", shape)
		}
	}
	w, err := NewWindows(layouts)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Block{Index: 4, End: 9, Events: 1, Data: make([]byte, 2)}, Block{Part: 1, Index: 4, End: 9, Events: 1, Data: make([]byte, 3)}
	for name, wrong := range map[string]Block{
		"the second before the first": b, "a size": {Data: make([]byte, 3)}, "a type": {Data: make([]byte, 2), DType: Int8}, "a negative part": {Part: -1}, "a part that is not": {Part: 2},
	} {
		if w.Add(wrong) == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	for range 3 {
		if err := w.Add(a); err != nil {
			t.Fatal(err)
		}
		if err := w.Whole(); err == nil || !strings.Contains(err.Error(), "window 4 lacks its block of b") {
			t.Errorf("half a window: %v", err)
		}
		for i := range 4 {
			other := b
			[]func(){func() { other.Index++ }, func() { other.Start++ }, func() { other.End++ }, func() { other.Events++ }}[i]()
			if w.Add(other) == nil {
				t.Errorf("a block of another window was accepted: %+v", other)
			}
		}
		if w.Add(a) == nil {
			t.Error("the first block came twice")
		}
		if err := w.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Whole(); err != nil || w.Len() != 3 {
		t.Errorf("%d windows, %v", w.Len(), err)
	}
}

package rvt

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// Each rule has its own count, in RVT's order, and the box is cropped before its size is judged.
func TestFilterRules(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name string
		f    Filter
		l    Label
		want Tally
		box  Label
	}{
		{"kept", Filter{Dataset: Gen4}, Label{X: 1, Y: 2, W: 5, H: 5}, Tally{Kept: 1}, Label{X: 1, Y: 2, W: 5, H: 5}},
		{"class 3 of gen4", Filter{Dataset: Gen4}, Label{W: 50, H: 50, ClassID: 3}, Tally{Class: 1}, Label{}},
		{"class 3 of gen1", Filter{Dataset: Gen1}, Label{W: 50, H: 50, ClassID: 3}, Tally{Kept: 1}, Label{W: 50, H: 50, ClassID: 3}},
		{"class before crop", Filter{Dataset: Gen4}, Label{X: -9, W: 5, H: 5, ClassID: 3}, Tally{Class: 1}, Label{}},
		{"left and below", Filter{Dataset: Gen1}, Label{X: -10, Y: 230, W: 30, H: 30}, Tally{Kept: 1}, Label{Y: 230, W: 20, H: 9}},
		{"right of the sensor", Filter{Dataset: Gen1}, Label{X: 303, Y: 10, W: 30, H: 30}, Tally{Empty: 1}, Label{}},
		{"no height", Filter{Dataset: Gen1}, Label{X: 3, Y: 10, W: 30}, Tally{Empty: 1}, Label{}},
		{"cropped too small", Filter{Dataset: Gen1}, Label{X: -10, Y: 10, W: 14.9, H: 30}, Tally{Size: 1}, Label{}},
		{"diagonal of gen1", Filter{Dataset: Gen1, Psee: true}, Label{W: 18, H: 24}, Tally{Kept: 1}, Label{W: 18, H: 24}},
		{"under it", Filter{Dataset: Gen1, Psee: true}, Label{W: 18, H: 23.9}, Tally{Size: 1}, Label{}},
		{"side of gen1", Filter{Dataset: Gen1, Psee: true}, Label{W: 9.9, H: 90}, Tally{Size: 1}, Label{}},
		{"diagonal of gen4", Filter{Dataset: Gen4, Psee: true}, Label{W: 36, H: 48}, Tally{Kept: 1}, Label{W: 36, H: 48}},
		{"under it", Filter{Dataset: Gen4, Psee: true}, Label{W: 36, H: 47.9}, Tally{Size: 1}, Label{}},
		{"side of gen4", Filter{Dataset: Gen4, Psee: true}, Label{W: 90, H: 19.9}, Tally{Size: 1}, Label{}},
		{"widest of gen1", Filter{Dataset: Gen1, Faulty: true}, Label{W: 273, H: 9}, Tally{Kept: 1}, Label{W: 273, H: 9}},
		{"wider", Filter{Dataset: Gen1, Faulty: true}, Label{W: 273.5, H: 9}, Tally{Wide: 1}, Label{}},
		{"wider in val", Filter{Dataset: Gen1, Faulty: true, Split: Val}, Label{W: 300, H: 9}, Tally{Kept: 1}, Label{W: 300, H: 9}},
		{"wider without the rule", Filter{Dataset: Gen1}, Label{W: 300, H: 9}, Tally{Kept: 1}, Label{W: 300, H: 9}},
		{"wider of gen4", Filter{Dataset: Gen4, Faulty: true}, Label{W: 1153, H: 9}, Tally{Wide: 1}, Label{}},
	} {
		c.want.Read = 1
		got, n, err := c.f.Apply(Labels{c.l})
		if n != c.want || (err == nil) != (n.Kept == 1) || err != nil && !errors.Is(err, ErrNoLabels) {
			t.Errorf("%s: %+v, %v", c.name, n, err)
		}
		if n.Kept == 1 && got[0] != c.box {
			t.Errorf("%s: %+v, want %+v", c.name, got[0], c.box)
		}
	}
	for _, l := range []Label{{X: 9, W: -3, H: 5}, {X: nan, W: 5, H: 5}, {W: nan, H: 5}, {X: float32(math.Inf(-1)), W: float32(math.Inf(1)), H: 5}} {
		if _, _, err := (Filter{}).Apply(Labels{{W: 9, H: 9}, l}); !errors.Is(err, ErrBadLabels) || !strings.Contains(err.Error(), "label 1 at 0 us") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func TestNothingLeft(t *testing.T) {
	_, _, err := Filter{Dataset: Gen4}.Apply(Labels{{ClassID: 5}, {ClassID: 6}, {W: 1, H: 1}})
	if want := "no label left of 3 labels: 2 of other classes, 1 too small, 0 kept"; !errors.Is(err, ErrNoLabels) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if _, _, err := (Filter{}).Apply(nil); !errors.Is(err, ErrNoLabels) {
		t.Errorf("of none: %v", err)
	}
}

// Filters leave what they are given as it was.
func TestFilterCopies(t *testing.T) {
	given := Labels{{X: -5, W: 50, H: 50}}
	if _, _, err := (Filter{}).Apply(given); err != nil || given[0].X != -5 {
		t.Errorf("%+v, %v", given, err)
	}
}

func TestDefaultFilter(t *testing.T) {
	if f := DefaultFilter(Gen1, Train); !f.Psee || !f.Faulty || f.Split != Train {
		t.Errorf("gen1: %+v", f)
	}
	if f := DefaultFilter(Gen4, Test); f.Psee || !f.Faulty || f.Dataset != Gen4 {
		t.Errorf("gen4: %+v", f)
	}
}

func TestWords(t *testing.T) {
	if d, err := ParseDataset("gen4"); d != Gen4 || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	if s, err := ParseSplit("test"); s != Test || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	if m, err := ParseGridMode("50ms"); m != Even || err != nil {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := ParseSplit("validation"); err == nil || !strings.Contains(err.Error(), "train, val, test") {
		t.Errorf("an unknown split: %v", err)
	}
}

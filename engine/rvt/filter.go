package rvt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evq-project/evq/io/event"
)

// A Dataset is one of the two that RVT is trained on.
type Dataset uint8

const (
	// Gen1 is Prophesee's automotive data set of 304x240 pixels.
	Gen1 Dataset = iota
	// Gen4 is the 1 Mpx data set of 1280x720 pixels.
	Gen4
)

// String returns the word users type.
func (d Dataset) String() string { return [...]string{"gen1", "gen4"}[d] }

// Geometry is the size of the data set's sensor.
func (d Dataset) Geometry() event.Geometry {
	if d == Gen1 {
		return event.Geometry{Width: 304, Height: 240}
	}
	return event.Geometry{Width: 1280, Height: 720}
}

// ParseDataset returns the data set of that name.
func ParseDataset(name string) (Dataset, error) {
	return word(name, "a data set", Gen1, Gen4)
}

// A Split is a part of a data set.
type Split uint8

// The parts, which are also the names of folders.
const (
	Train Split = iota
	Val
	Test
)

// String returns the word users type.
func (s Split) String() string { return [...]string{"train", "val", "test"}[s] }

// ParseSplit returns the part of that name.
func ParseSplit(name string) (Split, error) {
	return word(name, "a split", Train, Val, Test)
}

// word returns the value that is called name.
func word[T fmt.Stringer](name, what string, values ...T) (T, error) {
	var names []string
	for _, v := range values {
		if v.String() == name {
			return v, nil
		}
		names = append(names, v.String())
	}
	return values[0], fmt.Errorf("rvt: %q is not %s; there are %s", name, what, strings.Join(names, ", "))
}

// A Filter says which labels are kept.
type Filter struct {
	Dataset Dataset
	Split   Split
	// Psee asks for the sizes of Prophesee's evaluation: a diagonal of at least 60 pixels and sides of at least
	// 20, for gen1 30 and 10. Without it sides of 5 are enough.
	Psee bool
	// Faulty drops boxes wider than 9/10 of the sensor in the training split: they span it without an object.
	Faulty bool
}

// DefaultFilter is the filter of RVT's configuration: Psee for gen1 alone, and Faulty.
func DefaultFilter(d Dataset, s Split) Filter {
	return Filter{Dataset: d, Split: s, Psee: d == Gen1, Faulty: true}
}

// A Tally counts what a filter did, rule by rule in the order they were applied.
type Tally struct {
	Read  int
	Class int // dropped: of a class that RVT does not detect
	Empty int // dropped: nothing is left on the sensor
	Size  int // dropped: too small
	Wide  int // dropped: as wide as the sensor
	Kept  int
}

// String says what became of the labels, as in "143 labels: 80 of other classes, 39 too small, 24 kept".
func (t Tally) String() string {
	parts := []string{}
	for _, p := range []struct {
		n    int
		what string
	}{{t.Class, "of other classes"}, {t.Empty, "off the sensor"}, {t.Size, "too small"}, {t.Wide, "too wide"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return fmt.Sprintf("%d labels: %s", t.Read, strings.Join(append(parts, fmt.Sprintf("%d kept", t.Kept)), ", "))
}

// ErrNoLabels reports that no label is left to make a frame of: RVT leaves such a sequence out.
var ErrNoLabels = errors.New("no label left")

// lastClass is the last of the classes of gen4 that RVT detects: pedestrian, two-wheeler, car. After them come
// truck, bus, traffic sign and traffic light.
const lastClass = 2

// Apply returns the labels that are kept, cropped to the sensor, in their order, and counts the rules. All
// arithmetic is in single precision, as in RVT. Where none is left the error is ErrNoLabels. A box without a
// size, such as one of negative width on the sensor or one that is not a number, is ErrBadLabels.
//
// Source: uzh-rpg/RVT, scripts/genx/preprocess_dataset.py, apply_filters.
func (f Filter) Apply(labels Labels) (Labels, Tally, error) {
	n := Tally{Read: len(labels)}
	var kept Labels
	for i, l := range labels {
		if f.Dataset == Gen4 && l.ClassID > lastClass {
			n.Class++
			continue
		}
		box := f.crop(l)
		switch {
		case !(box.W >= 0 && box.H >= 0):
			return nil, n, fmt.Errorf("rvt: %w: label %d at %d us has x %v, y %v, w %v, h %v; repair or remove it",
				ErrBadLabels, i, l.T, l.X, l.Y, l.W, l.H)
		case box.W == 0 || box.H == 0:
			n.Empty++
		case !f.largeEnough(box):
			n.Size++
		case f.Faulty && f.Split == Train && box.W > f.widest():
			n.Wide++
		default:
			kept = append(kept, box)
		}
	}
	if n.Kept = len(kept); n.Kept == 0 {
		return nil, n, fmt.Errorf("rvt: %w of %v", ErrNoLabels, n)
	}
	return kept, n, nil
}

// crop moves each edge of a box onto the sensor, of which the last column and row are the limits.
func (f Filter) crop(l Label) Label {
	g := f.Dataset.Geometry()
	right, bottom := clip(l.X+l.W, g.Width), clip(l.Y+l.H, g.Height)
	l.X, l.Y = clip(l.X, g.Width), clip(l.Y, g.Height)
	l.W, l.H = right-l.X, bottom-l.Y
	return l
}

// clip bounds v to 0 and size-1. What is not a number stays.
func clip(v float32, size int) float32 {
	last := float32(size - 1)
	if v < 0 {
		return 0
	}
	if v > last {
		return last
	}
	return v
}

func (f Filter) largeEnough(l Label) bool {
	diagonal, side := float32(0), float32(5)
	if f.Psee {
		diagonal, side = 60, 20
		if f.Dataset == Gen1 {
			diagonal, side = 30, 10
		}
	}
	// The conversions keep the products from being fused with the sum.
	squared := float32(l.W*l.W) + float32(l.H*l.H)
	return squared >= diagonal*diagonal && l.W >= side && l.H >= side
}

// widest is the largest width that an object can have.
func (f Filter) widest() float32 { return float32(9 * f.Dataset.Geometry().Width / 10) }

package udf

import (
	"errors"
	"fmt"

	"github.com/evq-project/evq/io/event"
)

// A Filter keeps some events of a stream by what it remembers of the others. What needs no memory is a predicate
// of package exprs.
type Filter interface {
	// String prints the function with its parameters, as users write it.
	fmt.Stringer
	// Columns are the event columns it reads beside t.
	Columns() event.Columns
	// Open readies the filter for one stream of events on a sensor of size g, which is zero where it is not known.
	Open(g event.Geometry) (Sieve, error)
}

// A Sieve judges the events of one stream, in time order. It serves one goroutine.
type Sieve interface {
	// Sift clears keep[i] for every event of b that is left out; all of keep is true before. Events that lie off
	// a known sensor are kept: who places them drops and counts them.
	Sift(b event.Batch, keep []bool) error
}

// A Learner is a sieve that must see the stream once before it sifts it: the recording is then read twice.
type Learner interface {
	Sieve
	// Learn takes in the next events.
	Learn(b event.Batch) error
	// Learned ends the learning; only then Sift may be called.
	Learned() error
	// Learns returns the box of the events it must learn from.
	Learns() event.Box
}

// ErrSize reports that a filter lost track of pixels because the sensor's size is not known.
var ErrSize = errors.New("the events spread over too many pixels for a sensor of unknown size; give it with --size WIDTHxHEIGHT")

// Pixels holds one value per pixel. On a sensor of known size it covers the sensor; else, and where a file claims a
// sensor that no camera has, it grows with the events' coordinates.
type Pixels[T any] struct {
	Values []T // row by row
	Width  int
	Height int
	fixed  bool
	size   event.Geometry // of the sensor; beyond it lie no pixels
}

// maxPixels bounds how far Pixels grow, and what a file's claim is believed.
const maxPixels = 1 << 26

// NewPixels makes zero values for a sensor of size g, or for one that is not known.
func NewPixels[T any](g event.Geometry) *Pixels[T] {
	if !g.Known() || g.Width > maxPixels/g.Height {
		return &Pixels[T]{size: g}
	}
	return &Pixels[T]{Values: make([]T, g.Width*g.Height), Width: g.Width, Height: g.Height, fixed: true, size: g}
}

// Cover makes room for the coordinates of b where the size is not known. It is called before the pixels of b are
// looked at; At is false for what still lies outside.
func (p *Pixels[T]) Cover(b event.Batch) error {
	if p.fixed {
		return nil
	}
	mostW, mostH := 1<<16, 1<<16
	if p.size.Known() {
		mostW, mostH = min(mostW, p.size.Width), min(mostH, p.size.Height)
	}
	w, h, ys := p.Width, p.Height, b.Y()
	for i, x := range b.X() {
		if y := int(ys[i]); int(x) < mostW && y < mostH {
			w, h = max(w, int(x)+1), max(h, y+1)
		}
	}
	if w == p.Width && h == p.Height {
		return nil
	}
	if w > p.Width { // grow in steps: the rows have to move
		w = min(max(w, p.Width+p.Width/2), mostW)
	}
	if h > p.Height {
		h = min(max(h, p.Height+p.Height/2), mostH)
	}
	if w*h > maxPixels {
		return ErrSize
	}
	grown := make([]T, w*h)
	for y := range p.Height {
		copy(grown[y*w:], p.Values[y*p.Width:(y+1)*p.Width])
	}
	p.Values, p.Width, p.Height = grown, w, h
	return nil
}

// At returns the index of a pixel in Values; ok is false where it lies outside.
func (p *Pixels[T]) At(x, y uint16) (i int, ok bool) {
	return int(y)*p.Width + int(x), int(x) < p.Width && int(y) < p.Height
}

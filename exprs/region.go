package exprs

import (
	"strings"

	"github.com/evq-project/evq/io/event"
)

// Pixels holds where the pixel belongs to a set, such as a mask image.
func Pixels(m *Bitmap) Expr { return newRegion(m, "mask("+quote(m.name)+")") }

// region holds where the pixel x, y belongs to a set.
type region struct {
	set            *Bitmap
	text           string // as a call
	x, y           Value  // X and Y, or what was substituted for them
	boundX, boundY Interval
}

func newRegion(m *Bitmap, text string) Expr {
	e := &region{set: m, text: text, x: X, y: Y}
	e.boundX, e.boundY = m.bounds()
	return e
}

// At returns a set of pixels looked up at other coordinates than x and y; ok is false where e is none.
func At(e Expr, x, y Value) (at Expr, ok bool) {
	r, ok := e.(*region)
	if !ok {
		return nil, false
	}
	moved := *r
	moved.x, moved.y = x, y
	return &moved, true
}

func (e *region) Columns() event.Columns          { return e.x.Columns() | e.y.Columns() }
func (e *region) Box() event.Box                  { return e.box(event.Everything) }
func (e *region) Mask(b event.Batch, keep []bool) { maskBlocks(e, b, keep) }

func (e *region) String() string {
	if e.here() {
		return e.text
	}
	return e.text + " at (" + e.x.String() + ", " + e.y.String() + ")"
}

// here reports whether the set is looked up at the event's own pixel.
func (e *region) here() bool {
	x, okX := e.x.column()
	y, okY := e.y.column()
	return okX && okY && x == colX && y == colY
}

func (e *region) box(within event.Box) event.Box {
	return e.y.narrow(e.boundY, e.x.narrow(e.boundX, within))
}

func (e *region) mask(b event.Batch, keep []bool, s *scratch) {
	if e.here() && has(b, colX) && has(b, colY) {
		e.set.mask(b.X(), b.Y(), keep)
		return
	}
	x, y := s.ints.take(len(keep)), s.ints.take(len(keep))
	e.x.eval(b, x, s)
	e.y.eval(b, y, s)
	for i, k := range keep {
		keep[i] = k && e.set.Has(x[i], y[i])
	}
	s.ints.give(2)
}

// mask clears keep where a pixel is not in the set. One outside looks at the first word, and is out by its bounds.
func (m *Bitmap) mask(x, y []uint16, keep []bool) {
	x, y = x[:len(keep)], y[:len(keep)]
	x0, y0, width, height, stride := uint32(m.x0), uint32(m.y0), uint32(m.width), uint32(m.height), uint32(m.stride)
	words := m.bits
	for i := range keep {
		dx, dy := uint32(x[i])-x0, uint32(y[i])-y0
		in := bit(dx < width) & bit(dy < height) & bit(keep[i])
		at := (dy*stride + dx/64) & -uint32(in)
		keep[i] = in&uint8(words[at]>>(dx%64)) != 0
	}
}

// quote writes text as a literal.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

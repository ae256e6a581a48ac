package exprs

import (
	"errors"
	"fmt"
	"math/bits"
)

// A Bitmap is a set of pixels: those of a mask image, or of a shape. It must not change once it is part of a
// predicate.
type Bitmap struct {
	name   string
	x0, y0 int // the pixel of the first bit
	width  int
	height int
	stride int // words in a row
	bits   []uint64
}

// ErrPixels reports a set of pixels that is empty or too large to hold.
var ErrPixels = errors.New("exprs: a set of pixels covers 1 to 67108864 pixels; choose a smaller shape or image")

// maxPixels bounds the pixels that a bitmap covers: 8 MiB.
const maxPixels = 1 << 26

// NewBitmap makes an empty set of pixels from 0, 0 to width-1, height-1. name is what text calls it:
// mask('name').
func NewBitmap(name string, width, height int) (*Bitmap, error) {
	return newBitmap(name, 0, 0, width, height)
}

func newBitmap(name string, x0, y0, width, height int) (*Bitmap, error) {
	if width < 1 || height < 1 || width > maxPixels || height > maxPixels/width {
		return nil, fmt.Errorf("%d x %d: %w", width, height, ErrPixels)
	}
	stride := (width + 63) / 64
	return &Bitmap{name, x0, y0, width, height, stride, make([]uint64, stride*height)}, nil
}

// Name returns what text calls the set.
func (m *Bitmap) Name() string { return m.name }

// Set adds a pixel. One outside the bitmap is left out.
func (m *Bitmap) Set(x, y int) { m.setRow(x, x, y) }

// setRow adds the pixels x0 to x1 of a row, both included, as far as they lie in the bitmap.
func (m *Bitmap) setRow(x0, x1, y int) {
	x0, x1, y = max(x0-m.x0, 0), min(x1-m.x0, m.width-1), y-m.y0
	if y < 0 || y >= m.height {
		return
	}
	row := m.bits[y*m.stride:]
	for x := x0; x <= x1; {
		next := min(x|63, x1)
		row[x/64] |= ^uint64(0) >> (63 - (next - x)) << (x % 64)
		x = next + 1
	}
}

// Has reports whether a pixel belongs to the set.
func (m *Bitmap) Has(x, y int64) bool {
	dx, dy := uint64(x)-uint64(m.x0), uint64(y)-uint64(m.y0)
	if dx >= uint64(m.width) || dy >= uint64(m.height) {
		return false
	}
	return m.bits[dy*uint64(m.stride)+dx/64]>>(dx%64)&1 != 0
}

// Count returns the number of pixels in the set.
func (m *Bitmap) Count() int {
	n := 0
	for _, w := range m.bits {
		n += bits.OnesCount64(w)
	}
	return n
}

// bounds returns the smallest rectangle that holds every pixel of the set; both are empty where it has none.
func (m *Bitmap) bounds() (x, y Interval) {
	columns := make([]uint64, m.stride)
	x, y = nothing, nothing
	for r := range m.height {
		var any uint64
		for i, w := range m.bits[r*m.stride : (r+1)*m.stride] {
			columns[i] |= w
			any |= w
		}
		if any != 0 {
			if y.empty() {
				y.Lo = int64(m.y0 + r)
			}
			y.Hi = int64(m.y0 + r)
		}
	}
	for i, w := range columns {
		if w != 0 {
			if x.empty() {
				x.Lo = int64(m.x0 + 64*i + bits.TrailingZeros64(w))
			}
			x.Hi = int64(m.x0 + 64*i + bits.Len64(w) - 1)
		}
	}
	return x, y
}

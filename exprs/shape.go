package exprs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// maxCoordinate bounds the numbers that describe a shape, so that products of two stay exact.
const maxCoordinate = 1 << 20

// ErrShape reports the numbers of a shape that make none.
var ErrShape = errors.New("exprs: no such shape; coordinates lie within 1048576 of 0, a radius is not negative, a polygon has 3 to 4096 corners")

// Circle holds where (x-cx)² + (y-cy)² <= r².
func Circle(cx, cy, r int64) (Expr, error) {
	if tooFar(cx, cy, r) || r < 0 {
		return nil, fmt.Errorf("circle of radius %d about %d, %d: %w", r, cx, cy, ErrShape)
	}
	m, err := shape(Interval{cx - r, cx + r}, Interval{cy - r, cy + r})
	if m == nil || err != nil {
		return False, err
	}
	for y := int64(m.y0); y < int64(m.y0+m.height); y++ {
		half := root(r*r - (y-cy)*(y-cy))
		m.setRow(int(cx-half), int(cx+half), int(y))
	}
	return newRegion(m, fmt.Sprintf("circle(%d, %d, %d)", cx, cy, r)), nil
}

// root returns the integer square root of n < 2^41.
func root(n int64) int64 {
	r := int64(math.Sqrt(float64(n)))
	for r*r > n {
		r--
	}
	for (r+1)*(r+1) <= n {
		r++
	}
	return r
}

// Polygon holds for the pixels inside a polygon, whose corners are x and y in turn, by the even-odd rule: where an odd
// number of edges is crossed on the way out. Pixels whose centre lies on an edge or a corner belong to it, so that the
// polygon over the corners of a rectangle is that rectangle.
func Polygon(corners ...int64) (Expr, error) {
	n := len(corners) / 2
	if n < 3 || n > 4096 || len(corners)%2 != 0 || tooFar(corners...) {
		return nil, fmt.Errorf("polygon of %d numbers: %w", len(corners), ErrShape)
	}
	xs, ys := make([]int64, n), make([]int64, n)
	args := make([]Value, len(corners))
	for i, c := range corners {
		args[i] = Const(c)
		if i%2 == 0 {
			xs[i/2] = c
		} else {
			ys[i/2] = c
		}
	}
	m, err := shape(hull(xs...), hull(ys...))
	if m == nil || err != nil {
		return False, err
	}
	for y := m.y0; y < m.y0+m.height; y++ {
		polygonRow(m, xs, ys, int64(y))
	}
	return newRegion(m, string(append(appendList([]byte("polygon("), args), ')'))), nil
}

// A crossing is where an edge meets a row: at n + r/d, 0 <= r < d.
type crossing struct{ n, r, d int64 }

// polygonRow adds the pixels of a row that lie inside or on the border.
func polygonRow(m *Bitmap, xs, ys []int64, y int64) {
	var cross []crossing
	for i := range xs {
		j := (i + 1) % len(xs)
		x0, y0, x1, y1 := xs[i], ys[i], xs[j], ys[j]
		if y0 > y1 {
			x0, y0, x1, y1 = x1, y1, x0, y0
		}
		if y < y0 || y > y1 {
			continue
		}
		if y0 == y1 {
			m.setRow(int(min(x0, x1)), int(max(x0, x1)), int(y))
			continue
		}
		d := y1 - y0
		run := (y - y0) * (x1 - x0)
		c := crossing{x0 + floorDiv(run, d), floorMod(run, d), d}
		if c.r == 0 {
			m.setRow(int(c.n), int(c.n), int(y))
		}
		if y < y1 { // an edge owns its upper end only, so that a corner between two edges counts once
			cross = append(cross, c)
		}
	}
	slices.SortFunc(cross, func(a, b crossing) int {
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.r*b.d, b.r*a.d))
	})
	for i := 0; i+1 < len(cross); i += 2 {
		from := cross[i].n
		if cross[i].r > 0 {
			from++
		}
		m.setRow(int(from), int(cross[i+1].n), int(y))
	}
}

func tooFar(n ...int64) bool {
	return slices.ContainsFunc(n, func(c int64) bool { return c < -maxCoordinate || c > maxCoordinate })
}

// shape makes a bitmap for what can be a pixel of the given ranges, nil where nothing can.
func shape(x, y Interval) (*Bitmap, error) {
	pixels := Interval{0, math.MaxUint16}
	if x, y = x.meet(pixels), y.meet(pixels); x.empty() || y.empty() {
		return nil, nil
	}
	return newBitmap("", int(x.Lo), int(y.Lo), int(x.Hi-x.Lo+1), int(y.Hi-y.Lo+1))
}

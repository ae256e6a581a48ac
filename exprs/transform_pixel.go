package exprs

import (
	"fmt"

	"github.com/evq-project/evq/io/event"
)

// Flip mirrors the image left to right: x' = width-1-x. Vertical, it mirrors top to bottom: y' = height-1-y.
type Flip struct{ Vertical bool }

func (Flip) isTransform() {}

func (f Flip) String() string {
	if f.Vertical {
		return "flip y"
	}
	return "flip x"
}

// Project implements Transform.
func (f Flip) Project(g event.Geometry) (Projection, error) {
	p := identity(g)
	if !g.Known() {
		return p, fmt.Errorf("%v: %w", f, ErrSize)
	}
	if f.Vertical {
		p.Y = mirror(Y, g.Height)
	} else {
		p.X = mirror(X, g.Width)
	}
	return p, nil
}

// mirror counts a coordinate from the other side.
func mirror(v Value, size int) Value { return Const(int64(size) - 1).Sub(v) }

// Rotate turns the image clockwise, as it is seen with y growing downwards, by 90, 180 or 270 degrees. At 90 degrees
// the left column becomes the top row: x' = height-1-y, y' = x; at 270 degrees the top row becomes the left column
// from bottom to top: x' = y, y' = width-1-x.
type Rotate struct{ Degrees int }

func (Rotate) isTransform()     {}
func (r Rotate) String() string { return fmt.Sprintf("rotate %d", r.Degrees) }

// Project implements Transform.
func (r Rotate) Project(g event.Geometry) (Projection, error) {
	p := identity(g)
	if r.Degrees != 90 && r.Degrees != 180 && r.Degrees != 270 {
		return p, fmt.Errorf("%w: %v; write 90, 180 or 270", ErrTransform, r)
	}
	if !g.Known() {
		return p, fmt.Errorf("%v: %w", r, ErrSize)
	}
	turned := event.Geometry{Width: g.Height, Height: g.Width}
	switch r.Degrees {
	case 90:
		p.X, p.Y, p.Geometry = mirror(Y, g.Height), X, turned
	case 180:
		p.X, p.Y = mirror(X, g.Width), mirror(Y, g.Height)
	case 270:
		p.X, p.Y, p.Geometry = Y, mirror(X, g.Width), turned
	}
	return p, nil
}

// Transpose swaps x and y.
type Transpose struct{}

func (Transpose) isTransform()   {}
func (Transpose) String() string { return "transpose" }

// Project implements Transform. The size need not be known.
func (Transpose) Project(g event.Geometry) (Projection, error) {
	p := identity(event.Geometry{Width: g.Height, Height: g.Width})
	p.X, p.Y = Y, X
	return p, nil
}

// Crop keeps the pixels of a rectangle, both corners of which belong to it, and moves its first corner to 0, 0. The
// rectangle is the new sensor.
type Crop struct{ X0, Y0, X1, Y1 int }

func (Crop) isTransform()     {}
func (c Crop) String() string { return fmt.Sprintf("crop %d,%d,%d,%d", c.X0, c.Y0, c.X1, c.Y1) }

// Project implements Transform. The size need not be known; where it is, the rectangle must lie on the sensor.
func (c Crop) Project(g event.Geometry) (Projection, error) {
	p := identity(event.Geometry{Width: c.X1 - c.X0 + 1, Height: c.Y1 - c.Y0 + 1})
	if c.X0 < 0 || c.Y0 < 0 || !p.Geometry.Known() {
		return p, fmt.Errorf("%w: %v; write the corner with the lesser x and y first", ErrTransform, c)
	}
	if g.Known() && (c.X1 >= g.Width || c.Y1 >= g.Height) {
		return p, fmt.Errorf("%w: %v reaches beyond the sensor of %v; its last pixel is %d,%d", ErrTransform, c, g, g.Width-1, g.Height-1)
	}
	p.Keep = InRect(int64(c.X0), int64(c.Y0), int64(c.X1), int64(c.Y1))
	p.X, p.Y = X.Sub(Const(int64(c.X0))), Y.Sub(Const(int64(c.Y0)))
	if c.X0 == 0 {
		p.X = X
	}
	if c.Y0 == 0 {
		p.Y = Y
	}
	return p, nil
}

// Downsample shrinks the image N times. By nearest it keeps the events of one pixel of N x N, that whose place torch's
// nearest-exact resampling reads: new pixel i is old pixel floor((i + 0.5) * N), and the new size is the old over N,
// rounded down. With Sum it keeps the events of all of them, and the new size is rounded up, so that none is lost.
type Downsample struct {
	N   int
	Sum bool
}

func (Downsample) isTransform() {}

func (d Downsample) String() string {
	if d.Sum {
		return fmt.Sprintf("downsample %d:sum", d.N)
	}
	return fmt.Sprintf("downsample %d:nearest", d.N)
}

// Project implements Transform. The size need not be known.
func (d Downsample) Project(g event.Geometry) (Projection, error) {
	p := identity(g)
	if d.N < 1 || d.N > 1<<16 {
		return p, fmt.Errorf("%w: %v; 1 to 65536 is possible", ErrTransform, d)
	}
	if d.N == 1 {
		return p, nil
	}
	n := int64(d.N)
	p.X, p.Y = X.Div(n), Y.Div(n)
	if d.Sum {
		p.Geometry = event.Geometry{Width: (g.Width + d.N - 1) / d.N, Height: (g.Height + d.N - 1) / d.N}
		return p, nil
	}
	p.Keep = And(X.Mod(n).Eq(n/2), Y.Mod(n).Eq(n/2))
	if !g.Known() {
		return p, nil
	}
	p.Geometry = event.Geometry{Width: g.Width / d.N, Height: g.Height / d.N}
	if !p.Geometry.Known() {
		return p, fmt.Errorf("%w: %v leaves no pixel of a sensor of %v; use a lesser factor", ErrTransform, d, g)
	}
	if g.Width%d.N > d.N/2 { // a pixel of the rest would be read: it has no place in the new size
		p.Keep = And(p.Keep, X.Lt(int64(p.Geometry.Width)*n))
	}
	if g.Height%d.N > d.N/2 {
		p.Keep = And(p.Keep, Y.Lt(int64(p.Geometry.Height)*n))
	}
	return p, nil
}

package exprs_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/event"
)

// grid is one event on each pixel of a square from 0, 0.
func grid(n int) event.Batch {
	b := event.NewBuffer(n * n)
	for i := range n * n {
		b.Append(int64(i), uint16(i%n), uint16(i/n), int8(i&1))
	}
	return b.Batch()
}

// draw shows a set of pixels, a row a line.
func draw(e exprs.Expr, n int) string {
	var s strings.Builder
	for i, k := range mask(e, grid(n)) {
		s.WriteByte(".#"[map[bool]int{true: 1}[k]])
		if i%n == n-1 {
			s.WriteByte('\n')
		}
	}
	return s.String()
}

func polygon(t *testing.T, corners ...int64) exprs.Expr {
	t.Helper()
	e, err := exprs.Polygon(corners...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestPolygonOfRectangle(t *testing.T) {
	const n = 14
	if got, want := draw(polygon(t, 2, 3, 8, 3, 8, 5, 2, 5), n), draw(exprs.InRect(2, 3, 8, 5), n); got != want {
		t.Errorf("\n%s\n%s", got, want)
	}
	// Corners beyond the image, and beyond what a pixel can be.
	if got, want := draw(polygon(t, -5, -7, 8, -7, 8, 5, -5, 5), n), draw(exprs.InRect(0, 0, 8, 5), n); got != want {
		t.Errorf("\n%s\n%s", got, want)
	}
	if e := polygon(t, -5, -5, -1, -5, -1, -1); e != exprs.False {
		t.Errorf("%v holds for a pixel", e)
	}
}

func TestPolygonEvenOdd(t *testing.T) {
	// A five-pointed star in one stroke has a hole in the middle.
	got := draw(polygon(t, 7, 0, 11, 13, 0, 5, 14, 5, 3, 13), 15)
	if row := strings.Split(got, "\n")[7]; !strings.Contains(row, "#.....#") {
		t.Errorf("no hole in\n%s", got)
	}
}

// TestRandomPolygons asks of every pixel how many edges a ray crosses, and whether it lies on one.
func TestRandomPolygons(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 6))
	const n = 16
	for range 400 {
		c := make([]int64, 2*(3+r.IntN(6)))
		for i := range c {
			c[i] = r.Int64N(n+6) - 3
		}
		keep := mask(polygon(t, c...), grid(n))
		for i, got := range keep {
			if want := insidePolygon(c, int64(i%n), int64(i/n)); got != want {
				t.Fatalf("polygon %v at %d, %d: %v", c, i%n, i/n, got)
			}
		}
	}
}

func insidePolygon(c []int64, x, y int64) bool {
	in := false
	for i := 0; i < len(c); i += 2 {
		x0, y0, x1, y1 := c[i], c[i+1], c[(i+2)%len(c)], c[(i+3)%len(c)]
		cross := (x1-x0)*(y-y0) - (y1-y0)*(x-x0)
		if cross == 0 && min(x0, x1) <= x && x <= max(x0, x1) && min(y0, y1) <= y && y <= max(y0, y1) {
			return true
		}
		if (y0 > y) != (y1 > y) && (cross > 0) == (y1 > y0) {
			in = !in
		}
	}
	return in
}

func TestCircle(t *testing.T) {
	const n = 20
	for _, c := range [][3]int64{{9, 9, 0}, {9, 9, 5}, {0, 3, 7}, {-4, 25, 12}, {10, 10, 100}} {
		e, err := exprs.Circle(c[0], c[1], c[2])
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range mask(e, grid(n)) {
			dx, dy := int64(i%n)-c[0], int64(i/n)-c[1]
			if want := dx*dx+dy*dy <= c[2]*c[2]; got != want {
				t.Fatalf("%v at %d, %d: %v", e, i%n, i/n, got)
			}
		}
	}
	e, _ := exprs.Circle(9, 8, 3)
	if b := e.Box(); b.X0 != 6 || b.X1 != 12 || b.Y0 != 5 || b.Y1 != 11 {
		t.Errorf("box %v", b)
	}
}

func TestShapesThatAreNone(t *testing.T) {
	for _, c := range [][]int64{nil, {1, 2, 3, 4}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 1 << 30}, make([]int64, 9000)} {
		if _, err := exprs.Polygon(c...); !errors.Is(err, exprs.ErrShape) {
			t.Errorf("%d numbers: %v", len(c), err)
		}
	}
	for _, c := range [][3]int64{{0, 0, -1}, {1 << 40, 0, 3}} {
		if _, err := exprs.Circle(c[0], c[1], c[2]); !errors.Is(err, exprs.ErrShape) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := exprs.Circle(40000, 40000, 30000); !errors.Is(err, exprs.ErrPixels) {
		t.Error(err)
	}
	for _, size := range [][2]int{{0, 5}, {5, -1}, {1 << 20, 1 << 20}, {1 << 40, 1 << 40}} {
		if _, err := exprs.NewBitmap("", size[0], size[1]); !errors.Is(err, exprs.ErrPixels) {
			t.Errorf("%v: %v", size, err)
		}
	}
}

func TestMaskImage(t *testing.T) {
	m, err := exprs.NewBitmap("of a file", 130, 9)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(4, 4))
	set := map[[2]int64]bool{}
	for range 200 {
		x, y := r.IntN(150)-10, r.IntN(12)-1
		if m.Set(x, y); x >= 0 && x < 130 && y >= 0 && y < 9 {
			set[[2]int64{int64(x), int64(y)}] = true
		}
	}
	if m.Count() != len(set) || m.Name() != "of a file" {
		t.Errorf("%d pixels, want %d", m.Count(), len(set))
	}
	var asked string
	e, err := exprs.Parse("mask('it''s.png') and p >= 0", exprs.WithMasks(func(name string) (*exprs.Bitmap, error) {
		asked = name
		return m, nil
	}))
	if err != nil || asked != "it's.png" || e.String() != "mask('it''s.png') and p >= 0" {
		t.Fatalf("%v of %q, %v", e, asked, err)
	}
	for i, got := range mask(e, grid(140)) {
		if at := [2]int64{int64(i % 140), int64(i / 140)}; got != set[at] {
			t.Fatalf("%v: %v", at, got)
		}
	}
	broken := errors.New("broken")
	_, err = exprs.Parse("p = 1 and mask('a')", exprs.WithMasks(func(string) (*exprs.Bitmap, error) { return nil, broken }))
	var at *exprs.SyntaxError
	if !errors.Is(err, broken) || !errors.As(err, &at) || at.Pos != 10 {
		t.Errorf("%v", err)
	}
	empty, _ := exprs.NewBitmap("none", 70, 3)
	if got := exprs.Simplify(exprs.Pixels(empty)); got != exprs.False || !exprs.Pixels(empty).Box().Empty() {
		t.Errorf("no pixel is %v", got)
	}
	one, _ := exprs.NewBitmap("one", 200, 7)
	one.Set(131, 4)
	if got := exprs.Pixels(one).Box().String(); got != "x=131 y=4" {
		t.Errorf("box %s", got)
	}
}

// TestMissingColumns: a batch that lacks a column reads it as 0, on fast paths too.
func TestMissingColumns(t *testing.T) {
	b := event.New([]int64{1, 2, 3}, nil, nil, nil)
	for text, want := range map[string]bool{
		"x = 0": true, "x = 1": false, "rect(0, 0, 3, 3)": true, "rect(1, 1, 3, 3)": false, "circle(0, 0, 1)": true,
		"circle(9, 9, 1)": false, "p = 0 and x + y = 0": true, "y in (0, 5)": true, "x < y": false, "t >= 1": true,
	} {
		e, err := exprs.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range mask(e, b) {
			if got != want {
				t.Errorf("%s of event %d: %s", text, i, strconv.FormatBool(got))
			}
		}
	}
}

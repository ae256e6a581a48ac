package sheet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evq-project/evq/io/atomicfile"
	"github.com/evq-project/evq/io/tensor"
)

var layout = tensor.Layout{Name: "stacked_histogram", Shape: tensor.Shape{4, 30, 40}, DType: tensor.Uint8}

// draw writes n blocks; block i has i+1 ON events in its first row and one OFF event in its second.
func draw(t *testing.T, path string, n int, options ...Option) image.Image {
	t.Helper()
	s, err := Create(path, options...).Open(layout)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		b := tensor.Block{Index: i, End: int64(i+1) * 50_000, Data: make([]byte, layout.Bytes())}
		for x := range min(i+1, 40) {
			b.Data[2*1200+x] = 1
		}
		b.Data[40] = 1
		if err := s.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestTilesSpanTheRecording(t *testing.T) {
	for n, want := range map[int][]int64{
		0: nil, 1: {1}, 4: {1, 2, 3, 4}, 5: {1, 3, 5}, 8: {1, 3, 5, 7}, 9: {1, 5, 9}, 100: {1, 33, 65, 97},
	} {
		s, err := Create(filepath.Join(t.TempDir(), "a.png"), Max(4)).Open(layout)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := s.Write(context.Background(), tensor.Block{End: int64(i + 1), Data: make([]byte, layout.Bytes())}); err != nil {
				t.Fatal(err)
			}
		}
		var got []int64
		for _, tile := range s.(*sink).tiles {
			got = append(got, tile.end)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d blocks %v are drawn, want %v", n, got, want)
		}
		_ = s.Abort()
	}
	s, err := Create(filepath.Join(t.TempDir(), "a.png"), Max(1)).Open(layout)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Abort() }()
	for range 9 {
		if err := s.Write(context.Background(), tensor.Block{Data: make([]byte, layout.Bytes())}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.(*sink).tiles); n != 1 {
		t.Errorf("a sheet of one tile has %d", n)
	}
}

func TestColours(t *testing.T) {
	img := draw(t, filepath.Join(t.TempDir(), "a.png"), 1)
	left := border + (minCell-40)/2
	rgb := func(x, y int) string {
		r, g, b, _ := img.At(x, y).RGBA()
		return fmt.Sprint(r > 0xe000, g > 0xe000, b > 0xe000)
	}
	for name, c := range map[string]struct {
		x, y int
		want string
	}{
		"ON is red": {left, border, "true false false"}, "OFF is blue": {left, border + 1, "false false true"},
		"nothing is white": {left + 5, border + 5, "true true true"}, "the border is grey": {0, 0, "false false false"},
	} {
		if got := rgb(c.x, c.y); got != c.want {
			t.Errorf("%s: bright red, green, blue = %s, want %s", name, got, c.want)
		}
	}
}

func TestSheetIsDeterministicAndSmall(t *testing.T) {
	dir := t.TempDir()
	img := draw(t, filepath.Join(dir, "a.png"), 77)
	draw(t, filepath.Join(dir, "b.png"), 77)
	a, _ := os.ReadFile(filepath.Join(dir, "a.png"))
	b, _ := os.ReadFile(filepath.Join(dir, "b.png"))
	if !bytes.Equal(a, b) {
		t.Error("equal blocks make different sheets")
	}
	if img.Bounds().Dx() > 2000 || img.Bounds().Dy() > 2000 {
		t.Errorf("a sheet of %v", img.Bounds())
	}
	draw(t, filepath.Join(dir, "none.png"), 0)
}

func TestTilesAreScaledDown(t *testing.T) {
	for _, c := range []struct{ rows, columns, height, width int }{
		{720, 1280, 180, 320}, {360, 640, 180, 320}, {240, 304, 240, 304}, {1, 641, 1, 214}, {1000, 3, 250, 1},
	} {
		p, err := newPainter(tensor.Layout{Shape: tensor.Shape{2, c.rows, c.columns}, DType: tensor.Uint8})
		if err != nil || p.height != c.height || p.width != c.width {
			t.Errorf("%dx%d is drawn as %dx%d (%v)", c.columns, c.rows, p.width, p.height, err)
			continue
		}
		data := make([]byte, 2*c.rows*c.columns)
		data[len(data)-1] = 200 // the last pixel of ON
		got := p.paint(tensor.Block{Data: data})
		if got.pix[len(got.pix)-1] <= white || slices.ContainsFunc(got.pix[:len(got.pix)-1], func(v uint8) bool { return v != white }) {
			t.Errorf("%dx%d: the last pixel is not drawn in the last place", c.columns, c.rows)
		}
	}
}

// Every type of element is drawn by its sign.
func TestTypes(t *testing.T) {
	f := func(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
	for _, c := range []struct {
		name  string
		shape tensor.Shape
		dtype tensor.DType
		data  []byte
		want  int // the sign of the one pixel
	}{
		{"int8", tensor.Shape{1, 1, 1}, tensor.Int8, []byte{0xff}, -1},
		{"two float32 bins", tensor.Shape{2, 1, 1}, tensor.Float32, append(f(2), f(0)...), 1},
		{"int32", tensor.Shape{1, 1, 1}, tensor.Int32, []byte{0xfe, 0xff, 0xff, 0xff}, -1},
		{"uint32 pairs", tensor.Shape{1, 2, 1, 1}, tensor.Uint32, []byte{9, 0, 0, 0, 1, 0, 0, 0}, -1},
		{"uint32 plane", tensor.Shape{1, 1}, tensor.Uint32, []byte{0, 0, 0, 0x80}, 1},
		{"sae", tensor.Shape{2, 1, 1}, tensor.Int64, append(bytes.Repeat([]byte{1}, 8), make([]byte, 8)...), -1},
		{"float32 bins", tensor.Shape{4, 1, 1}, tensor.Float32, slices.Concat(f(-1), f(0), f(0), f(0)), -1},
		{"not a number", tensor.Shape{1, 1, 1}, tensor.Float32, f(float32(math.NaN())), 0},
		{"uint8", tensor.Shape{2, 1, 1}, tensor.Uint8, []byte{7, 7}, 0},
	} {
		p, err := newPainter(tensor.Layout{Name: c.name, Shape: c.shape, DType: c.dtype})
		if err != nil {
			t.Fatal(err)
		}
		got := int(p.paint(tensor.Block{Data: c.data}).pix[0]) - white
		if got < 0 != (c.want < 0) || got > 0 != (c.want > 0) {
			t.Errorf("%s is drawn in shade %d, want the sign %d", c.name, got, c.want)
		}
	}
}

func TestSinkRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.png")
	for _, n := range []int{0, -1, maxTiles + 1} {
		if _, err := Create(path, Max(n)).Open(layout); err == nil {
			t.Errorf("%d tiles were accepted", n)
		}
	}
	for _, shape := range []tensor.Shape{nil, {4}, {2, 0, 3}} {
		if _, err := Create(path).Open(tensor.Layout{Shape: shape}); err == nil {
			t.Errorf("blocks of %v were accepted", shape)
		}
	}
	if _, err := Create(path).Open(layout, layout); err == nil || !strings.Contains(err.Error(), "a.png: 2 representations") {
		t.Errorf("two representations on one sheet: %v", err)
	}
	s, err := Create(path).Open(layout)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(context.Background(), tensor.Block{Data: []byte{1}}); err == nil {
		t.Error("a short block was accepted")
	}
	if err := s.Abort(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("after Abort %v is left", left)
	}
	draw(t, path, 1)
	if _, err := Create(path).Open(layout); !errors.Is(err, atomicfile.ErrExists) {
		t.Errorf("a name that is taken: %v", err)
	}
	draw(t, path, 2, Force())
}

package engine

import (
	"fmt"
	"image"
	_ "image/png" // masks are PNG
	"os"
	"path/filepath"
	"strings"

	"github.com/evq-project/evq/exprs"
	"github.com/evq-project/evq/io/npy"
)

// loadMask reads a set of pixels: those of a PNG that are not black, or those of a .npy of integers or booleans,
// shaped (rows, columns), that are not zero.
func loadMask(path string) (*exprs.Bitmap, error) {
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		return npyMask(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	// The header is read first: no image is held that no sensor has.
	c, _, err := image.DecodeConfig(f)
	if err != nil {
		return nil, fmt.Errorf("mask: %s: %w; a mask is a .png or a .npy", path, err)
	}
	m, err := exprs.NewBitmap(path, c.Width, c.Height)
	if err != nil {
		return nil, fmt.Errorf("mask: %s: %w", path, err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	img, _, err := image.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("mask: %s: %w", path, err)
	}
	b := img.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			if r, g, bl, _ := img.At(b.Min.X+x, b.Min.Y+y).RGBA(); r|g|bl != 0 {
				m.Set(x, y)
			}
		}
	}
	return m, nil
}

func npyMask(path string) (*exprs.Bitmap, error) {
	values, rows, cols, err := npy.ReadImage(path)
	if err != nil {
		return nil, fmt.Errorf("mask: %w", err)
	}
	m, err := exprs.NewBitmap(path, cols, rows)
	if err != nil {
		return nil, fmt.Errorf("mask: %s: %w", path, err)
	}
	for i, v := range values {
		if v {
			m.Set(i%cols, i/cols)
		}
	}
	return m, nil
}

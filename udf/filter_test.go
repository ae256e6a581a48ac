package udf

import (
	"errors"
	"testing"

	"github.com/evq-project/evq/io/event"
)

func place(x, y uint16) event.Batch {
	return event.New([]int64{0}, []uint16{x}, []uint16{y}, nil)
}

// Values stay with their pixels as the room for them grows.
func TestPixelsGrow(t *testing.T) {
	p := NewPixels[int](event.Geometry{})
	for i, at := range [][2]uint16{{0, 0}, {5, 1}, {2, 9}, {700, 3}, {1, 800}} {
		if err := p.Cover(place(at[0], at[1])); err != nil {
			t.Fatal(err)
		}
		j, ok := p.At(at[0], at[1])
		if !ok || p.Values[j] != 0 {
			t.Fatalf("pixel %v: %v", at, ok)
		}
		p.Values[j] = i + 1
	}
	for i, at := range [][2]uint16{{0, 0}, {5, 1}, {2, 9}, {700, 3}, {1, 800}} {
		if j, ok := p.At(at[0], at[1]); !ok || p.Values[j] != i+1 {
			t.Errorf("pixel %v lost its value", at)
		}
	}
	if err := p.Cover(place(65535, 65535)); !errors.Is(err, ErrSize) {
		t.Errorf("%d pixels and all others: %v", len(p.Values), err)
	}
}

// A sensor of known size never grows, and a size that no camera has allocates nothing before there are events.
func TestPixelsOfKnownSize(t *testing.T) {
	p := NewPixels[int](event.Geometry{Width: 4, Height: 3})
	if err := p.Cover(place(65535, 65535)); err != nil || len(p.Values) != 12 {
		t.Errorf("%d pixels, %v", len(p.Values), err)
	}
	huge := NewPixels[int](event.Geometry{Width: 1 << 40, Height: 1 << 40})
	if len(huge.Values) != 0 {
		t.Fatalf("a claim made %d pixels", len(huge.Values))
	}
	if err := huge.Cover(place(3, 2)); err != nil || len(huge.Values) != 12 {
		t.Errorf("%d pixels, %v", len(huge.Values), err)
	}
	wide := NewPixels[int](event.Geometry{Width: 1 << 30, Height: 2})
	if err := errors.Join(wide.Cover(place(9, 1)), wide.Cover(place(9, 2)), wide.Cover(place(10, 65535))); err != nil || wide.Height != 2 || wide.Width != 10 {
		t.Errorf("%dx%d, %v: pixels beyond the size", wide.Width, wide.Height, err)
	}
}

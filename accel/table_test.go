package accel

import (
	"errors"
	"testing"
)

// The factor and the shift divide as division does, at both edges of every tile and everywhere for some sizes.
func TestDivider(t *testing.T) {
	for by := 1; by <= 1<<15; by++ {
		factor, shift := Divider(by)
		check := func(v int) {
			if v < 0 || v >= 1<<15 {
				return
			}
			if product := uint64(v) * uint64(factor); product>>32 != 0 || int(product>>shift) != v/by {
				t.Fatalf("%d/%d = %d by %d and %d, want %d", v, by, product>>shift, factor, shift, v/by)
			}
		}
		step := by
		if by%97 == 1 {
			step = 1
		}
		for at := 0; at < 1<<15+by; at += step {
			check(at - 1)
			check(at)
		}
		check(1<<15 - 1)
	}
}

func TestOpenTable(t *testing.T) {
	if _, err := OpenTable(fake{name: "cpu"}, Table{}); !errors.Is(err, ErrNoTables) {
		t.Errorf("a device without tables: %v", err)
	}
}

package rawheader

import (
	"slices"
	"testing"
)

// The bases on the way leave no silence of more than a second, and pass the end of a range by its last base.
func TestLead(t *testing.T) {
	for _, c := range []struct {
		from, to, unit int64
		bits           uint
		want           []int64
	}{
		{-1, 7, 64, 28, []int64{7}},
		{7, 8, 64, 28, []int64{8}},
		{-1, 4097, 4096, 12, []int64{0, 244, 488, 732, 976, 1220, 1464, 1708, 1952, 2196, 2440, 2684, 2928, 3172, 3416, 3660, 3904, 4095, 4096, 4097}},
		{4094, 4097, 4096, 12, []int64{4095, 4096, 4097}},
		{4095, 4096, 4096, 12, []int64{4096}},
		{4095, 4300, 4096, 12, []int64{4096, 4300}},
		{1<<28 - 3, 1<<28 + 2, 64, 28, []int64{1<<28 - 1, 1 << 28, 1<<28 + 2}},
	} {
		var got []int64
		Lead(c.from, c.to, c.unit, c.bits, func(b int64) { got = append(got, b) })
		if !slices.Equal(got, c.want) {
			t.Errorf("from %d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

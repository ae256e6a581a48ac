package parquet

import "testing"

// Every size that a recording can have survives, and what is none is refused.
func TestParseSize(t *testing.T) {
	for s, want := range map[string]int{"1": 1, "640": 640, "65535": 65535, "65536": 65536, "0": 0, "-3": 0, "65537": 0, "1000000000": 0, "x": 0, "": 0} {
		var n int
		if err := parseSize(s, &n); n != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", s, n, err)
		}
	}
}

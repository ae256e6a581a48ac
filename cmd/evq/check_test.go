package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/evq-project/evq/io/event"
)

// rawWords writes an EVT3 recording of the given words.
func rawWords(t *testing.T, words ...uint16) string {
	t.Helper()
	b := []byte("% evt 3.0\n% geometry 64x48\n% end\n")
	for _, w := range words {
		b = append(b, byte(w), byte(w>>8))
	}
	path := filepath.Join(t.TempDir(), "words.raw")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheck(t *testing.T) {
	good := rawWords(t, 0x8064, 0x6000, 0x0001, 0x2001)
	has(t, must(t, 0, "check", good).out, "1 event, no violation")
	// A glitch, a vector without a base, a cut group, a reserved word, an event off the sensor.
	bad := rawWords(t, 0x8064, 0x6000, 0x0001, 0x4001, 0x2001, 0x8063, 0x2002, 0x9999, 0x2040, 0x3001, 0x4001, 0x2003)
	r := must(t, 3, "check", bad)
	has(t, r.out, "glitches (NonMonotonicTimeHigh): 1, the first at 4", "invalid_vect_base (InvalidVectBase): 1",
		"partial_vect (PartialVect_12_12_8)", "unknown: 1", "offsensor: 1")
	has(t, must(t, 3, "check", bad, "--json").out, `"name": "glitches"`, `"openeb": "NonMonotonicTimeHigh"`)
	// Vendor words that belong to the format are no violation.
	has(t, must(t, 0, "check", rawWords(t, 0x8064, 0xE000, 0xF000, 0x7000, 0x0001, 0x2001)).out, "no violation")
}

func TestDiff(t *testing.T) {
	g := event.Geometry{Width: 8, Height: 6}
	a := write(t, "a.raw", g, nil, one(1, 2, 3, 1), one(5, 2, 3, 1), one(5, 2, 4, 0))
	same := write(t, "a.parquet", g, nil, one(1, 2, 3, 1), one(5, 2, 3, 1), one(5, 2, 4, 0))
	other := write(t, "b.raw", g, nil, one(1, 2, 3, 1), one(5, 2, 3, 0), one(5, 2, 4, 0))
	short := write(t, "c.raw", g, nil, one(1, 2, 3, 1))
	has(t, must(t, 0, "diff", a, same).out, "equal: 3 events")
	has(t, must(t, 1, "diff", a, other).out, "event 1 is the first that differs", "t=5 x=2 y=3 p=1", "t=5 x=2 y=3 p=0")
	has(t, must(t, 1, "diff", a, short).out, "event 1 is", "none, of 1 event")
	has(t, must(t, 1, "diff", short, a, "--json").out, `"first": 1`, `"a": null`)
	must(t, 2, "diff", a)
}

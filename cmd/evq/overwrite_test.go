package main

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
)

// Nothing that a run reads is overwritten or removed, --force or not: neither the grid nor the triggers beside a
// store, nor a recording that has the name of another's triggers.
func TestInputsStay(t *testing.T) {
	raw := write(t, "a.raw", vga, []event.Trigger{{T: 5, Channel: 1}}, grid(5, 10, 10, 640, 480))
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, 0, "convert", raw, "-o", at("s.parquet"))
	must(t, 0, "convert", raw, "-o", at("k.triggers.parquet"))
	ends := writeGrid(t, 20, 40)
	want := eventtest.Names(t, dir)
	for in, args := range map[string][]string{
		"k.triggers.parquet": {"convert", at("k.triggers.parquet"), "-o", at("k.parquet")},
		"s.triggers.parquet": {"convert", at("s.parquet"), "-o", at("s.triggers.parquet")},
		"s.parquet":          {"convert", at("s.parquet"), raw, "-o", dir + "/"},
		filepath.Base(ends):  {"tensor", raw, "--ends", ends, "--span", "5ms", "--repr", "rvt", "-o", ends},
	} {
		has(t, must(t, exitUsage, append(args, "--force")...).errOut, in, "overwrite itself")
	}
	if got := eventtest.Names(t, dir); !slices.Equal(got, want) {
		t.Errorf("left %v of %v", got, want)
	}
	must(t, 0, "tensor", raw, "--ends", ends, "--span", "5ms", "--repr", "rvt", "-o", at("o.npy"))
}

func TestAbsurdThreads(t *testing.T) {
	has(t, must(t, exitUsage, "version", "--threads", "1000000000").errOut, "1 to 1024")
	has(t, must(t, exitUsage, "version", "--threads", "-1").errOut, "1 to 1024")
}

// A time after the first event ends where int64 does.
func TestInstantsDoNotWrap(t *testing.T) {
	for _, c := range []struct{ first, us, want int64 }{
		{5, 7, 12}, {-5, -7, -12}, {math.MaxInt64 - 3, 1e18, math.MaxInt64}, {math.MinInt64, -1, math.MinInt64}, {math.MinInt64, math.MaxInt64, -1},
	} {
		if got := (instant{c.us, true}).on(c.first); got != c.want {
			t.Errorf("%d after %d is %d, want %d", c.us, c.first, got, c.want)
		}
	}
	if got := (instant{7, false}).on(math.MaxInt64); got != 7 {
		t.Errorf("an absolute time became %d", got)
	}
}

package main

import (
	"math"
	"testing"
	"time"

	"github.com/evq-project/evq/io/event"
)

// Times are decimals: exact, and rounded half to even to microseconds.
func TestMicros(t *testing.T) {
	for s, want := range map[string]int64{
		"50ms": 50_000, "2.5s": 2_500_000, "3m": 180_000_000, "1h": 3600_000_000, "7us": 7, "7µs": 7, "1500ns": 2, "2500ns": 2,
		"0.0000005s": 0, "0.0000015s": 2, "0.0000025s": 2, "1.0000011s": 1_000_001, "0.120001s": 120_001, "4.35s": 4_350_000,
		"1.005001s": 1_005_001, "1500000": 1_500_000, "-5": -5, "-1.5us": -2, "0": 0, "12 us": 12, "9223372036854775807": 1<<63 - 1,
	} {
		if got, err := event.ParseMicros(s, "us"); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "ms", "1..2", ".5s", "1e3", "5 parsec", "1s2", "9223372036854775808", "0x10", "NaN", "1.s"} {
		if got, err := event.ParseMicros(s, "us"); err == nil {
			t.Errorf("%q is taken for %d", s, got)
		}
	}
}

func TestDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{"50ms": 50 * time.Millisecond, "0": 0, "2.5s": 2500 * time.Millisecond} {
		if got, err := parseDuration(s); err != nil || got != want {
			t.Errorf("%q is %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"50", "-1s", "9223372036854775807us"} {
		if got, err := parseDuration(s); err == nil {
			t.Errorf("%q is taken for %v", s, got)
		}
	}
}

func TestTimeRange(t *testing.T) {
	const first = 1000
	for s, want := range map[string][2]int64{ // closed
		"1000us..3000us": {1000, 2999}, "1..2": {1, 1}, "1.5s..2.5s": {1_500_000, 2_499_999},
		"..5": {event.Everything.T0, 4}, "5..": {5, event.Everything.T1}, "..": {event.Everything.T0, event.Everything.T1},
		"+1ms..+2ms": {2000, 2999}, "+0..5s": {1000, 4_999_999}, "-5..-2": {-5, -3},
	} {
		r, err := parseTimeRange(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		if b := r.pred(first).Box(); b.T0 != want[0] || b.T1 != want[1] {
			t.Errorf("%q is %d to %d, want %v", s, b.T0, b.T1, want)
		}
	}
	if r, err := parseTimeRange("5..5"); err != nil || !r.pred(first).Box().Empty() {
		t.Errorf("5..5: %v, %v", r, err)
	}
	for _, s := range []string{"", "5", "a..b", "3..2", "+3s..+2s", "1s...2s", "1..2..3"} {
		if r, err := parseTimeRange(s); err == nil {
			t.Errorf("%q is taken for %+v", s, r)
		}
	}
}

func TestSizesAndNumbers(t *testing.T) {
	if g, err := parseSize("1280x720"); err != nil || g != (event.Geometry{Width: 1280, Height: 720}) {
		t.Error(g, err)
	}
	for _, s := range []string{"", "1280", "x", "0x5", "-1x5", "70000x1", "1280x720x3", "1280 x 720"} {
		if g, err := parseSize(s); err == nil {
			t.Errorf("%q is taken for %v", s, g)
		}
	}
	for s, want := range map[string]int64{"512MiB": 512 << 20, "1GB": 1e9, "1.5GiB": 3 << 29, "33554432": 32 << 20, "64M": 64 << 20} {
		if n, err := parseBytes(s); err != nil || n != want {
			t.Errorf("%q is %d, %v", s, n, err)
		}
	}
	for _, s := range []string{"", "1MiB", "-1GB", "5 apples", "1e9"} {
		if n, err := parseBytes(s); err == nil {
			t.Errorf("%q is taken for %d", s, n)
		}
	}
	for s, want := range map[string]int64{"5000": 5000, "50k": 50_000, "2.5M": 2_500_000, "1_000": 1000, "0": 0, "1G": 1e9} {
		if n, err := parseCount(s); err != nil || n != want {
			t.Errorf("%q is %d, %v", s, n, err)
		}
	}
	for _, s := range []string{"", "-1", "2.5", "1x", "99999999999G"} {
		if n, err := parseCount(s); err == nil {
			t.Errorf("%q is taken for %d", s, n)
		}
	}
	if r, err := parseRect("1,2,3,4"); err != nil || r != (rect{1, 2, 3, 4}) {
		t.Error(r, err)
	}
	for _, s := range []string{"", "1,2,3", "1,2,3,4,5", "3,0,2,9", "-1,0,2,2", "0,0,70000,2"} {
		if r, err := parseRect(s); err == nil {
			t.Errorf("%q is taken for %v", s, r)
		}
	}
}

func TestText(t *testing.T) {
	for us, want := range map[int64]string{
		0: "0 µs", 999: "999 µs", 1500: "1.500 ms", 60_000_000: "60.000 s", 2_999_998: "3.000 s", 3_723_000_000: "1 h 02 min 03.000 s",
		math.MinInt64: "-2562047788 h 00 min 54.776 s",
		-5:            "-5 µs", 3_599_999_999: "1 h 00 min 00.000 s",
	} {
		if got := microsText(us); got != want {
			t.Errorf("%d is %q, want %q", us, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -123: "-123"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	if micros(-1, 2) != 3 || micros(math.MinInt64, math.MaxInt64) != math.MaxInt64 {
		t.Error("micros")
	}
	if counted(1, "window") != "1 window" || counted(2, "window") != "2 windows" {
		t.Error("counted")
	}
}

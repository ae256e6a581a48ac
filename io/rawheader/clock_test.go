package rawheader

import (
	"testing"

	"github.com/evq-project/evq/io/event"
)

// TestLeadRaisesNoRemark leads clocks from base to base and reads the words back.
func TestLeadRaisesNoRemark(t *testing.T) {
	for _, c := range []struct {
		unit int64
		bits uint
	}{{4096, 12}, {64, 28}} {
		for _, stops := range [][]int64{{0, 1, 2}, {5_000_000}, {0, 17_000_000}, {16_777_215, 16_777_216}, {1<<34 - 1, 1 << 34}, {1<<36 + 12345}} {
			clock, rep := Clock{Unit: c.unit, Bits: c.bits}, &event.Report{}
			base := int64(-1)
			for _, stop := range stops {
				to := stop / c.unit
				Lead(base, to, c.unit, c.bits, func(b int64) { clock.Set(uint32(b&(1<<c.bits-1)), rep, -1) })
				if base = to; clock.Base() != to*c.unit {
					t.Errorf("bases of %d µs: led to %d µs, want %d", c.unit, clock.Base(), to*c.unit)
				}
			}
			if rep.N(event.Gaps)+rep.N(event.Glitches) > 0 {
				t.Errorf("bases of %d µs to %v: %v", c.unit, stops, rep)
			}
		}
	}
}

// TestAdvanceIsSet compares the short way with the whole rule.
func TestAdvanceIsSet(t *testing.T) {
	for from := range int64(16) {
		for to := range uint32(16) {
			a, b := Clock{Unit: 300_000, Bits: 4}, Clock{Unit: 300_000, Bits: 4}
			rep := &event.Report{}
			a.Set(uint32(from), rep, 0)
			b.Set(uint32(from), rep, 0)
			if !a.Advance(to) {
				continue
			}
			if b.Set(to, rep, 0); a != b || rep.N(event.Gaps)+rep.N(event.Wraps)+rep.N(event.Glitches) > 0 {
				t.Errorf("from %d to %d: %+v, want %+v without a remark (%v)", from, to, a, b, rep)
			}
		}
	}
	var unset Clock
	if unset.Advance(1) {
		t.Error("a clock without a base advances")
	}
}

func TestClockLimits(t *testing.T) {
	for _, c := range []struct {
		from, to              uint32
		wraps, glitches, gaps int64
	}{
		{4095, 0, 1, 0, 0}, {2048, 0, 1, 0, 1}, {2047, 0, 0, 1, 0}, {100, 99, 0, 1, 0}, {100, 100, 0, 0, 0}, {0, 244, 0, 0, 0}, {0, 245, 0, 0, 1},
	} {
		clock, rep := Clock{Unit: 4096, Bits: 12}, &event.Report{}
		clock.Set(c.from, rep, 0)
		clock.Set(c.to, rep, 2)
		if got := [3]int64{rep.N(event.Wraps), rep.N(event.Glitches), rep.N(event.Gaps)}; got != [3]int64{c.wraps, c.glitches, c.gaps} {
			t.Errorf("%d to %d: wraps, glitches, gaps are %v, want %d %d %d", c.from, c.to, got, c.wraps, c.glitches, c.gaps)
		}
	}
}

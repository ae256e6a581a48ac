package udf

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever the times and however they are cut, stamps tell exactly what lies within the horizon.
func TestClock(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, start := range []int64{0, math.MinInt64, -5, 1_600_000_000_000_000, math.MaxInt64 - 1000} {
		for _, horizon := range []int64{0, 1, 1000, MaxHorizon} {
			times := []int64{start}
			for len(times) < 400 {
				step := []int64{0, 1, r.Int64N(2000), horizon, horizon + 1, r.Int64N(1 << 32), 1 << 32, r.Int64N(1 << 60)}[r.IntN(8)]
				last := times[len(times)-1]
				if last > math.MaxInt64-step {
					step = 0
				}
				times = append(times, last+step)
			}
			checkClock(t, r, times, horizon)
		}
	}
}

func checkClock(t *testing.T, r *rand.Rand, times []int64, horizon int64) {
	t.Helper()
	c := NewClock(horizon)
	stamps := make([]uint32, len(times))
	done := 0
	for done < len(times) {
		n, back := c.Next(times[done : done+1+r.IntN(min(9, len(times)-done))])
		MoveBack(stamps, back)
		for i := done; i < done+n; i++ {
			stamps[i] = c.Stamp(times[i])
			for j := range done + n {
				past := j < len(times) && j <= i
				ago := uint64(times[i]) - uint64(times[j])
				if past && (stamps[i]-stamps[j] > uint32(horizon)) != (ago > uint64(horizon)) {
					t.Fatalf("horizon %d: %d us after %d is said to be %d", horizon, ago, times[j], stamps[i]-stamps[j])
				}
				if past && ago <= uint64(horizon) && uint64(stamps[i]-stamps[j]) != ago {
					t.Fatalf("horizon %d: %d us are said to be %d", horizon, ago, stamps[i]-stamps[j])
				}
			}
			if stamps[i] <= uint32(horizon) {
				t.Fatalf("horizon %d: the stamp %d of %d may be taken for never", horizon, stamps[i], times[i])
			}
		}
		done += n
	}
}

func TestClockOutOfOrder(t *testing.T) {
	c := NewClock(10)
	if n, _ := c.Next([]int64{1000, 5}); n != 1 {
		t.Errorf("a time before the base was given a stamp, %d", n)
	}
	if n, back := c.Next([]int64{5}); n != 1 || back != math.MaxUint32 {
		t.Errorf("%d, %d: a step back in time must forget all", n, back)
	}
}

func TestMoveBack(t *testing.T) {
	v := []uint32{0, 1, 5, 6, math.MaxUint32}
	MoveBack(v, 5)
	if !slices.Equal(v, []uint32{0, 0, 0, 1, math.MaxUint32 - 5}) {
		t.Error(v)
	}
}

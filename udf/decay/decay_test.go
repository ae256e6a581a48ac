package decay

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The tables give exp to 3 units in the last place, and 0 where a float32 rounds to it.
func TestExp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, tau := range []int64{1, 2, 7, 150, 20_000, 50_000, 1_000_003, MaxTau} {
		c := New(Exp, tau, 1)
		last := 2.0
		for d := range uint64(3000) {
			if v := c.At(d); v > last || v > 1 {
				t.Fatalf("tau %d: rises to %v after %d", tau, v, d)
			} else {
				last = v
			}
		}
		for range 20_000 {
			d := r.Uint64N(120 * uint64(tau))
			got, want := c.At(d), math.Exp(-float64(d)/float64(tau))
			if d >= c.end {
				want = 0
			}
			if math.Abs(got-want) > want*4e-14 { // exp itself amplifies what its argument rounds
				t.Fatalf("tau %d after %d: %v, want %v", tau, d, got, want)
			}
		}
		if v := float32(math.Exp(-float64(c.end) / float64(tau))); v != 0 || c.At(c.end) != 0 || c.At(math.MaxUint64) != 0 || c.At(0) != 1 {
			t.Errorf("tau %d: the ends are %v, %v, %v", tau, v, c.At(c.end), c.At(0))
		}
	}
}

func TestLinear(t *testing.T) {
	c := New(Linear, 100, 3)
	for d, want := range map[uint64]float64{0: 1, 30: 0.9, 150: 0.5, 300: 0, 301: 0, math.MaxUint64: 0} {
		if got := c.At(d); got != want {
			t.Errorf("after %d: %v, want %v", d, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, bad := range []error{Check(Exp, 0), Check(Exp, -1), Check(Linear, MaxTau+1), Check(2, 5)} {
		if bad == nil {
			t.Error("an impossible decay was accepted")
		}
	}
	if err := Check(Linear, MaxTau); err != nil {
		t.Error(err)
	}
}

func BenchmarkAt(b *testing.B) {
	c, d, sum := New(Exp, 50_000, 1), uint64(1), 0.0
	for b.Loop() {
		d = d*2862933555777941757 + 3037000493
		sum += c.At(d >> 44)
	}
	_ = sum
}

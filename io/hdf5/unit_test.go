package hdf5

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// exact is micros by way of rational numbers.
func exact(u timeUnit, v float64, bits int) *big.Int {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'e', -1, bits))
	if !ok {
		panic(v)
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(u.exp, -u.exp))), nil))
	if u.exp < 0 {
		scale.Inv(scale)
	}
	r.Mul(r, scale)
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	twice := m.Lsh(m, 1)
	if c := twice.Cmp(r.Denom()); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func TestMicrosAgainstExactDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	units := []timeUnit{seconds, {"ms", 3}, microseconds, {"ns", -3}}
	check := func(v float64, bits int) {
		t.Helper()
		for _, u := range units {
			got, ok := u.micros(v, bits)
			want := exact(u, v, bits)
			if ok != want.IsInt64() && math.Abs(v) < 1e12 || ok && want.Cmp(big.NewInt(got)) != 0 {
				t.Fatalf("%v %s in %d bits is %d us (%v), want %v", v, u.name, bits, got, ok, want)
			}
		}
	}
	for _, v := range []float64{0, 0.000249, 0.001833, 0.003917, 0.5e-6, 1.5e-6, 2.5e-6, 0.0000005, 1e-300, 5e-324, 0.1, 0.5, 1.5, 2.5, 499.5, 500, 1500, 2500, 1506117895.1234565, 1506117895.1234575, 1e15, 9e12} {
		check(v, 64)
		check(-v, 64)
		check(float64(float32(v)), 32)
	}
	for range 100_000 {
		whole := r.Int64N(1 << uint(1+r.IntN(50)))
		v := float64(whole) / 1e6
		if got, _ := seconds.micros(v, 64); got != whole {
			t.Fatalf("%d us written as %v s comes back as %d", whole, v, got)
		}
		check(float64(r.Int64N(1<<40))/1e7, 64) // ties, often
		check(r.NormFloat64()*math.Pow10(r.IntN(20)-10), 64)
		check(float64(float32(r.NormFloat64()*math.Pow10(r.IntN(10)-6))), 32)
	}
}

func TestMicrosRefuses(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e13, -1e300, math.MaxFloat64} {
		if got, ok := seconds.micros(v, 64); ok {
			t.Errorf("%v s is %d us", v, got)
		}
	}
	c := column{"/events/t", elem{size: 8, float: true, signed: true}}
	var bad *ValueError
	src := stored(elem{size: 8}, []int64{0, int64(math.Float64bits(math.NaN()))})
	if err := c.timesIn(seconds, make([]int64, 2), src, 0, 10); !errors.As(err, &bad) || bad.Index != 11 || bad.Value != "NaN" {
		t.Errorf("NaN: %v", err)
	}
}

func TestTimesInUnits(t *testing.T) {
	c := column{"t", elem{size: 8, signed: true}}
	for _, tt := range []struct {
		unit     string
		in, want int64
		bad      bool
	}{
		{"s", 3, 3_000_000, false}, {"ms", -3, -3000, false}, {"us", 7, 7, false}, {"ns", 1499, 1, false},
		{"ns", 500, 0, false}, {"ns", 1500, 2, false}, {"ns", 2500, 2, false}, {"ns", -1500, -2, false}, {"ns", -1501, -2, false}, {"ns", -500, 0, false},
		{"s", math.MaxInt64 / 1000, 0, true}, {"ms", math.MinInt64 / 10, 0, true},
	} {
		u, given, err := parseUnit(tt.unit)
		if err != nil || !given {
			t.Fatal(err)
		}
		got := make([]int64, 1)
		err = c.timesIn(u, got, stored(c.elem, []int64{tt.in}), 0, 0)
		var bad *ValueError
		if tt.bad != errors.As(err, &bad) || !tt.bad && got[0] != tt.want {
			t.Errorf("%d %s is %d us, want %d: %v", tt.in, tt.unit, got[0], tt.want, err)
		}
	}
	if _, _, err := parseUnit("h"); err == nil {
		t.Error("hours are accepted")
	}
	if _, given, err := parseUnit("auto"); given || err != nil {
		t.Error("auto is a unit")
	}
}

func TestWholeNumbers(t *testing.T) {
	for _, e := range []elem{{size: 4, float: true, signed: true}, {size: 8, float: true, signed: true, big: true}} {
		bits := func(v ...float64) (out []int64) {
			for _, f := range v {
				if e.size == 4 {
					out = append(out, int64(math.Float32bits(float32(f))))
				} else {
					out = append(out, int64(math.Float64bits(f)))
				}
			}
			return out
		}
		c, as := column{"x", e}, elem{size: e.size, big: e.big}
		dst := make([]byte, 24)
		err := c.wholeNumbers(dst, stored(as, bits(-1, 0, 345)), 0)
		whole := elem{size: 8, signed: true}
		if err != nil || whole.at(dst, 0) != -1 || whole.at(dst, 1) != 0 || whole.at(dst, 2) != 345 {
			t.Errorf("%v: % x: %v", e, dst, err)
		}
		for _, v := range []float64{30.5, math.NaN(), math.Inf(1), 1e30} {
			var bad *ValueError
			err := c.wholeNumbers(dst[:16], stored(as, bits(1, v)), 7)
			if !errors.As(err, &bad) || bad.Index != 8 || !strings.Contains(err.Error(), "scale and round") {
				t.Errorf("%v: %v: %v", e, v, err)
			}
		}
	}
}

func BenchmarkMicros(b *testing.B) {
	for name, start := range map[string]float64{"from zero": 0, "epoch": 1506117895} {
		b.Run(name, func(b *testing.B) {
			i, sum := 0, int64(0)
			for b.Loop() {
				v, _ := seconds.micros(start+float64(i%1_000_000)/1e6, 64)
				sum += v
				i++
			}
			b.ReportMetric(float64(b.N)/1e6/b.Elapsed().Seconds(), "Mtimes/s")
		})
	}
}

package accel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var rules = []Rounding{Torch32, Exact}

// plainEdges finds the edges by trying every time.
func plainEdges(r Rounding, dt int64, bins int) []int64 {
	edges := slices.Repeat([]int64{dt + 1}, bins-1)
	for d := dt; d >= 0; d-- {
		for k := range r.Bin(d, dt, bins) {
			edges[k] = d
		}
	}
	return edges
}

func TestEdgesExhaustive(t *testing.T) {
	for _, r := range rules {
		for _, bins := range []int{1, 2, 3, 7, 10, 100, 300} {
			for dt := int64(1); dt <= 260; dt++ {
				if got, want := r.Edges(nil, dt, bins), plainEdges(r, dt, bins); !slices.Equal(got, want) {
					t.Fatalf("%v: the edges of %d bins in %d us are %v, want %v", r, bins, dt, got, want)
				}
			}
		}
	}
}

// checkEdges compares each edge with the rule on both sides of it, and the rule's order around it.
func checkEdges(t *testing.T, r Rounding, dt int64, bins int) {
	t.Helper()
	edges := r.Edges(nil, dt, bins)
	if len(edges) != bins-1 || !slices.IsSorted(edges) {
		t.Fatalf("%v: %d bins in %d us have the edges %v", r, bins, dt, edges)
	}
	for i, e := range edges {
		if e <= dt && r.Bin(e, dt, bins) < i+1 || e > 0 && r.Bin(e-1, dt, bins) >= i+1 {
			t.Fatalf("%v: bin %d of %d in %d us does not begin at %d", r, i+1, bins, dt, e)
		}
	}
}

func TestEdgesRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		dt := 1 + rng.Int64N(1<<(1+rng.IntN(40)))
		checkEdges(t, rules[rng.IntN(2)], dt, 1+rng.IntN(200))
	}
}

func TestEdgesExtreme(t *testing.T) {
	for _, r := range rules {
		for _, dt := range []int64{1, 1 << 24, 1<<24 + 1, 1 << 53, 1 << 62, math.MaxInt64 - 1} {
			for _, bins := range []int{1, 2, 10, 4096} {
				checkEdges(t, r, dt, bins)
			}
		}
	}
}

func FuzzEdges(f *testing.F) {
	f.Add(int64(1864139), 10, true)
	f.Add(int64(762613), 20, true)
	f.Add(int64(math.MaxInt64-1), 4096, false)
	f.Fuzz(func(t *testing.T, dt int64, bins int, torch bool) {
		if bins < 1 || bins > 4096 || dt < 1 || dt == math.MaxInt64 {
			t.Skip("kernels ask only for 1 to 4096 bins of a positive time")
		}
		r := Exact
		if torch {
			r = Torch32
		}
		checkEdges(t, r, dt, bins)
	})
}

// The rules part where single precision is too short. These are the first places.
func TestFirstDisagreements(t *testing.T) {
	for _, c := range []struct {
		bins         int
		dt, d        int64
		torch, exact int
	}{
		{10, 1864139, 1677725, 9, 8},
		{20, 762613, 648221, 17, 16},
		{100, 100, 53, 52, 53},
	} {
		if got := Torch32.Bin(c.d, c.dt, c.bins); got != c.torch {
			t.Errorf("torch32: %d of %d us in %d bins is bin %d, want %d", c.d, c.dt, c.bins, got, c.torch)
		}
		if got := Exact.Bin(c.d, c.dt, c.bins); got != c.exact {
			t.Errorf("exact: %d of %d us in %d bins is bin %d, want %d", c.d, c.dt, c.bins, got, c.exact)
		}
	}
	for _, c := range []struct {
		bins int
		dt   int64
	}{{10, 1864139}, {20, 762613}} {
		for dt := c.dt - 300; dt < c.dt; dt++ {
			if a, b := Torch32.Edges(nil, dt, c.bins), Exact.Edges(nil, dt, c.bins); !slices.Equal(a, b) {
				t.Errorf("the rules part already at %d us in %d bins: %v and %v", dt, c.bins, a, b)
			}
		}
	}
}

// In windows of up to 50 ms and the numbers of bins that are in use, both rules are one.
func TestRulesAgreeInShortWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for bins := 1; bins <= 20; bins++ {
		if bins > 16 && bins < 20 {
			continue
		}
		for i := range int64(700) {
			dt := []int64{1 + i, 50_000 - i, 1 + rng.Int64N(50_000)}[i%3]
			if a, b := Torch32.Edges(nil, dt, bins), Exact.Edges(nil, dt, bins); !slices.Equal(a, b) {
				t.Fatalf("%d bins in %d us: torch32 %v, exact %v", bins, dt, a, b)
			}
		}
	}
}

// A reciprocal in place of the division would give bin 1.
func TestDivisionIsNotAReciprocal(t *testing.T) {
	if got := Torch32.Bin(5, 25, 10); got != 2 {
		t.Errorf("5 of 25 us in 10 bins is bin %d, want 2", got)
	}
}

func TestSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		n, bins := 1+rng.IntN(60), 1+rng.IntN(12)
		times := make([]int64, n)
		origin, span := rng.Int64N(1<<50)-1<<49, int64(1)<<rng.IntN(32)
		for i := range times {
			times[i] = origin + rng.Int64N(span)
		}
		slices.Sort(times)
		lo := rng.IntN(n)
		hi := lo + 1 + rng.IntN(n-lo)
		r := rules[rng.IntN(2)]
		from, to := times[lo], times[hi-1]
		if rng.IntN(2) == 0 {
			from, to = origin, origin+span // the window's own time
		}
		next := lo
		last := -1
		for _, s := range r.Segments(nil, times, 5, lo, hi, from, to, bins) {
			if int(s.Start) != next || s.Len == 0 || int(s.Bin) <= last || s.Window != 5 {
				t.Fatalf("segment %+v after bin %d and event %d", s, last, next)
			}
			for _, at := range times[s.Start : s.Start+s.Len] {
				if b := r.Bin(at-from, to-from, bins); b != int(s.Bin) {
					t.Fatalf("%v: an event %d us into %d us is in the segment of bin %d, want %d", r, at-from, to-from, s.Bin, b)
				}
			}
			next, last = next+int(s.Len), int(s.Bin)
		}
		if next != hi {
			t.Fatalf("the segments end at event %d of %d", next, hi)
		}
	}
}

func TestSegmentsOfOneTime(t *testing.T) {
	got := Torch32.Segments(nil, []int64{7, 7, 7}, 0, 0, 3, 7, 7, 10)
	if want := []Segment{{Len: 3}}; !slices.Equal(got, want) {
		t.Errorf("events of one time are in %+v, want %+v", got, want)
	}
	if got := Exact.Segments(nil, []int64{7}, 0, 1, 1, 0, 0, 10); got != nil {
		t.Errorf("no events have the segments %+v", got)
	}
}

// Times that no clock has must not hang or panic.
func TestSegmentsOfAbsurdTimes(t *testing.T) {
	for _, times := range [][]int64{{0, math.MaxInt64}, {math.MinInt64, math.MaxInt64}, {math.MinInt64, 0}, {math.MinInt64, -1, math.MaxInt64}} {
		for _, r := range rules {
			n := 0
			for _, s := range r.Segments(nil, times, 0, 0, len(times), times[0], times[len(times)-1], 10) {
				n += int(s.Len)
			}
			if n != len(times) {
				t.Errorf("%v: %v: %d events lie in bins", r, times, n)
			}
		}
	}
}

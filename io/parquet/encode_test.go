package parquet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/event/eventtest"
	"github.com/evq-project/evq/io/format"
)

// wrote checks that a store of b, read by the library and by what stands here, has the events of b.
func wrote(t *testing.T, what string, b event.Batch, o format.CreateOptions) {
	t.Helper()
	src, err := open(t, write(t, b, 1<<20, o), format.Policy{OnOffSensor: format.Keep})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, library := range []bool{true, false} {
		got, err := scanned(t, src.(*Store), library)
		if err != nil {
			t.Fatalf("%s, library %t: %v", what, library, err)
		}
		if d := eventtest.Diff(b, got); d != "" {
			t.Fatalf("%s, library %t: %s", what, library, d)
		}
	}
}

// Every shape that the packing has a case for is read back equal, by the library too.
func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	times := map[string]func(int) int64{
		"one time":      func(int) int64 { return 5 },
		"steps":         func(i int) int64 { return int64(i) },
		"rare steps":    func(i int) int64 { return int64(i / 100) },
		"far ends":      func(i int) int64 { return []int64{math.MinInt64, math.MaxInt64}[min(i, 1)] },
		"negative":      func(i int) int64 { return int64(i)*3 - 1e6 },
		"ever longer":   func(i int) int64 { return 1 << min(i, 62) },
		"large, steady": func(i int) int64 { return 1e15 + int64(i)*1e9 + int64(i%3) },
	}
	coordinates := map[string]func(int) uint16{
		"zero":         func(int) uint16 { return 0 },
		"one":          func(int) uint16 { return 1 },
		"random":       func(int) uint16 { return uint16(r.IntN(1280)) },
		"runs":         func(i int) uint16 { return uint16(i / 37) },
		"short runs":   func(i int) uint16 { return uint16(i / (leastRun - 1) % 700) },
		"mixed":        func(i int) uint16 { return uint16([]int{i / 64 % 200, r.IntN(200)}[i>>9&1]) },
		"the largest":  func(i int) uint16 { return math.MaxUint16 - uint16(i&1) },
		"wide":         func(int) uint16 { return uint16(r.Uint32()) },
		"late and far": func(i int) uint16 { return uint16(i / 1000 * 3001) },
	}
	for _, n := range []int{1, 2, 7, 8, 9, 23, 24, 25, 32, 33, 128, 129, 130, 2049, 40000} {
		for tn, tf := range times {
			for xn, xf := range coordinates {
				out := event.NewBuffer(n)
				for i := range n {
					out.Append(tf(i), xf(i), xf(n-1-i), int8(r.IntN(2)))
				}
				wrote(t, fmt.Sprintf("%d events, times %s, x %s", n, tn, xn), out.Batch(), format.CreateOptions{Compression: codecs[n%3].name})
			}
		}
	}
	for _, p := range []int8{0, 1} {
		out := event.NewBuffer(0)
		for i := range 1003 {
			out.Append(int64(i), 3, 4, p)
		}
		wrote(t, "one polarity", out.Batch(), format.CreateOptions{})
		if s := mustOpen(t, write(t, out.Batch(), 100, format.CreateOptions{})); s.info.Extent.P0 != p || s.info.Extent.P1 != p {
			t.Errorf("the statistics of polarity %d are %d to %d", p, s.info.Extent.P0, s.info.Extent.P1)
		}
	}
}

// Packing is the inverse of unpacking, at every width and length.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for width := range 65 {
		for _, n := range []int{8, 16, 64, 120} {
			want := make([]uint64, n)
			for i := range want {
				want[i] = r.Uint64() & (1<<width - 1)
			}
			packed := appendPacked([]byte{9}, want, width)
			got := make([]uint64, n)
			unpack(got, packed[1:], width)
			if len(packed) != 1+n/8*width || packed[0] != 9 || !slices.Equal(got, want) {
				t.Fatalf("%d values of %d bits: %v, want %v", n, width, got, want)
			}
		}
	}
}

// FuzzEncode writes what the bytes say and reads it by the library.
func FuzzEncode(f *testing.F) {
	f.Add([]byte("a row of events"), uint8(3), uint8(0))
	f.Add(make([]byte, 300), uint8(0), uint8(1))
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 7, 7, 7, 7, 7, 7, 7}, uint8(16), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, shift, codec uint8) {
		if len(data) == 0 {
			return
		}
		out := event.NewBuffer(0)
		now := int64(-100)
		for i, v := range data {
			now += int64(v) << (shift % 48)
			for range 1 + int(v>>6)*9 { // some of it in runs
				out.Append(now, uint16(v)<<(shift%9), uint16(data[len(data)-1-i]), int8(v&1))
			}
		}
		wrote(t, "fuzzed", out.Batch(), format.CreateOptions{Compression: codecs[int(codec)%len(codecs)].name})
	})
}

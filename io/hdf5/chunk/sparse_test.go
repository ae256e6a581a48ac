package chunk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// runs returns n bytes of runs: zeros of random lengths around mean, then up to few counts.
func runs(seed uint64, n, mean, few, largest int) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, 0, n)
	for len(b) < n {
		b = append(b, make([]byte, min(n-len(b), int(r.ExpFloat64()*float64(mean))))...)
		for range min(n-len(b), 1+r.IntN(few)) {
			b = append(b, byte(1+r.IntN(largest)))
		}
	}
	return b
}

// Every sparse frame is read back equal by an independent decoder.
func TestSparseFrames(t *testing.T) {
	var e sparseEncoder
	z := NewGoZstd()
	var out []byte
	check := func(name string, src []byte, must bool) {
		t.Helper()
		var ok bool
		if out, ok = e.encode(out[:0], src); !ok {
			if must {
				t.Errorf("%s: not taken for sparse", name)
			}
			return
		}
		got := bytes.Repeat([]byte{0xee}, len(src))
		if n, err := z.Inflate(got, out); err != nil || n != len(src) || !bytes.Equal(got, src) {
			t.Errorf("%s: %d of %d bytes: %v", name, n, len(src), err)
		}
	}
	for _, n := range []int{256, 257, 1000, 4096, zstdBlock - 1, zstdBlock, zstdBlock + 1, 2*zstdBlock + 9} {
		check(fmt.Sprint("zeros ", n), make([]byte, n), true)
		one := make([]byte, n)
		for _, at := range []int{0, 1, 7, 8, 9, n / 2, n - 9, n - 8, n - 1} {
			clear(one)
			one[at] = 3
			check(fmt.Sprintf("one at %d of %d", at, n), one, true)
			one[0], one[n-1] = 1, 255
			check(fmt.Sprintf("three at %d of %d", at, n), one, n > 4096)
		}
		for seed := range uint64(2) {
			for _, mean := range []int{5, 20, 80, 3000, 50_000} {
				for _, few := range []int{1, 40} {
					for _, largest := range []int{1, 2, 10, 255} {
						name := fmt.Sprintf("%d bytes, seed %d, mean %d, few %d, largest %d", n, seed, mean, few, largest)
						check(name, runs(seed, n, mean, few, largest), false)
					}
				}
			}
		}
		check(fmt.Sprint("counts ", n), sparse(5, n), n > 4096)
		check(fmt.Sprint("noise ", n), random(5, n), false)
	}
	even := make([]byte, zstdBlock) // all lengths equal: tables of one symbol
	for i := 0; i < len(even); i += 64 {
		even[i] = 1
	}
	check("even", even, true)
}

// Frames of counts are no larger than a general encoder makes them.
func TestSparseFramesAreSmall(t *testing.T) {
	var e sparseEncoder
	z := NewGoZstd()
	for name, src := range map[string][]byte{"scattered": sparse(1, 1<<20), "runs": runs(1, 1<<20, 300, 8, 3)} {
		out, ok := e.encode(nil, src)
		other, err := z.Deflate(nil, src)
		if !ok || err != nil || len(out) > len(other) {
			t.Errorf("%s: %d bytes, another encoder makes %d (%v)", name, len(out), len(other), err)
		}
	}
}

func FuzzSparse(f *testing.F) {
	f.Add(make([]byte, 300), uint16(0))
	f.Add(sparse(1, 3000), uint16(100))
	f.Add([]byte{1, 2, 3}, uint16(60000))
	var e sparseEncoder
	z := NewGoZstd()
	f.Fuzz(func(t *testing.T, data []byte, gap uint16) {
		src := append(append(bytes.Clone(data), make([]byte, gap)...), data...)
		out, ok := e.encode(nil, src)
		if !ok {
			return
		}
		got := make([]byte, len(src))
		if n, err := z.Inflate(got, out); err != nil || n != len(src) || !bytes.Equal(got, src) {
			t.Fatalf("%d of %d bytes: %v", n, len(src), err)
		}
	})
}

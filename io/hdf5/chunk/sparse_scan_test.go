package chunk

import (
	"bytes"
	"slices"
	"testing"
)

// plainScan is scan, byte by byte.
func plainScan(src []byte) (literals []byte, ll, ml []uint32, ok bool) {
	from := 0
	for i := 0; i < len(src); {
		zeros := 0
		for i+zeros < len(src) && src[i+zeros] == 0 {
			zeros++
		}
		if zeros < shortestRun {
			i += max(zeros, 1)
			continue
		}
		literals = append(literals, src[from:i+1]...)
		ll, ml = append(ll, uint32(i+1-from)), append(ml, uint32(zeros-1))
		i += zeros
		from = i
	}
	literals = append(literals, src[from:]...)
	return literals, ll, ml, len(ll) > 0 && len(literals) <= len(src)/sparseAtMost
}

func checkScan(t *testing.T, e *sparseEncoder, src []byte) {
	t.Helper()
	literals, ll, ml, ok := plainScan(src)
	if got := e.scan(src); got != ok {
		t.Fatalf("%d bytes: sparse is %v, want %v", len(src), got, ok)
	}
	if ok && (!bytes.Equal(e.literals, literals) || !slices.Equal(e.ll, ll) || !slices.Equal(e.ml, ml)) {
		t.Fatalf("%d bytes: the runs differ: %v %v, want %v %v", len(src), e.ll, e.ml, ll, ml)
	}
}

func TestScan(t *testing.T) {
	var e sparseEncoder
	for _, n := range []int{0, 1, 7, 8, 9, 31, 32, 33, 256, 1000, 4096, zstdBlock - 1, zstdBlock} {
		checkScan(t, &e, make([]byte, n))
		checkScan(t, &e, random(1, n))
		checkScan(t, &e, sparse(2, n))
		for _, mean := range []int{5, 9, 40, 80, 3000} {
			for _, few := range []int{1, 3, 40} {
				checkScan(t, &e, runs(uint64(n), n, mean, few, 200))
			}
		}
		one := make([]byte, n)
		for at := range min(n, 80) {
			one[at], one[n-1-at] = 1, 255
			checkScan(t, &e, one)
			one[at], one[n-1-at] = 0, 0
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte{1, 0, 0, 9}, uint16(300), uint16(7))
	f.Add(sparse(1, 3000), uint16(8), uint16(40000))
	var e sparseEncoder
	f.Fuzz(func(t *testing.T, data []byte, gap, rest uint16) {
		src := append(append(bytes.Clone(data), make([]byte, gap)...), data...)
		src = append(src, make([]byte, rest)...)
		checkScan(t, &e, src[:min(len(src), zstdBlock)])
	})
}

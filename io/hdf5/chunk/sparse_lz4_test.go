package chunk

import (
	"bytes"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// checkLZ4 reads a block back with an independent decoder.
func checkLZ4(t *testing.T, e *sparseEncoder, src []byte, must bool) {
	t.Helper()
	before := []byte("before")
	out, ok := e.encodeLZ4(bytes.Clone(before), src)
	if !ok {
		if must {
			t.Errorf("%d bytes: not taken for sparse", len(src))
		}
		return
	}
	if !bytes.HasPrefix(out, before) {
		t.Fatal("what stood before is gone")
	}
	got := bytes.Repeat([]byte{0xee}, len(src))
	if n, err := lz4.UncompressBlock(out[len(before):], got); err != nil || n != len(src) || !bytes.Equal(got, src) {
		t.Fatalf("%d of %d bytes: %v", n, len(src), err)
	}
}

func TestSparseLZ4(t *testing.T) {
	var e sparseEncoder
	for _, n := range []int{256, 257, 1000, 4096, zstdBlock - 1, zstdBlock, zstdBlock + 1, zstdBlock + 270, 2*zstdBlock + 9} {
		checkLZ4(t, &e, make([]byte, n), true)
		one := make([]byte, n)
		for at := range 40 {
			clear(one)
			one[at] = 3
			checkLZ4(t, &e, one, n <= zstdBlock || n >= 2*zstdBlock)
			one[n-1-at] = 255
			checkLZ4(t, &e, one, n == 4096 || n == zstdBlock)
		}
		for _, mean := range []int{5, 20, 80, 300, 3000, 50_000} {
			for _, few := range []int{1, 14, 16, 300} {
				checkLZ4(t, &e, runs(uint64(n), n, mean, few, 200), false)
			}
		}
		checkLZ4(t, &e, sparse(5, n), n == 4096 || n == zstdBlock)
		checkLZ4(t, &e, random(5, n), false)
	}
}

// Blocks of counts are not much larger than a general encoder makes them.
func TestSparseLZ4IsSmall(t *testing.T) {
	var e sparseEncoder
	for name, src := range map[string][]byte{"scattered": sparse(1, 1<<20), "runs": runs(1, 1<<20, 300, 8, 3)} {
		out, ok := e.encodeLZ4(nil, src)
		other := make([]byte, lz4.CompressBlockBound(len(src)))
		n, err := new(lz4.Compressor).CompressBlock(src, other)
		if !ok || err != nil || len(out) > n+n/2 {
			t.Errorf("%s: %d bytes, another encoder makes %d (%v)", name, len(out), n, err)
		}
	}
}

func FuzzSparseLZ4(f *testing.F) {
	f.Add(make([]byte, 300), uint16(0), uint16(3))
	f.Add(sparse(1, 3000), uint16(100), uint16(60000))
	f.Add([]byte{1, 2, 3}, uint16(60000), uint16(9))
	var e sparseEncoder
	f.Fuzz(func(t *testing.T, data []byte, gap, rest uint16) {
		src := append(append(bytes.Clone(data), make([]byte, gap)...), data...)
		checkLZ4(t, &e, append(src, make([]byte, rest)...), false)
	})
}

package chunk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func random(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// sparse returns counts as event frames have them: 1.3 % of the bytes are not zero.
func sparse(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	b := make([]byte, n)
	for range n * 13 / 1000 {
		b[r.IntN(n)] += byte(1 + r.IntN(8)/6)
	}
	return b
}

func TestShuffleRoundTrip(t *testing.T) {
	for size := 1; size <= 17; size++ {
		for _, n := range []int{0, 1, size - 1, size, 7 * size, 8 * size, 9*size + 1, 64 * size, 101*size + size - 1} {
			src := random(uint64(n), n)
			mid, got := make([]byte, n), make([]byte, n)
			shuffle(mid, src, size)
			unshuffle(got, mid, size)
			if n >= size && !bytes.Equal(got, src) {
				t.Errorf("size %d, %d bytes: differ", size, n)
			}
		}
	}
}

func TestUnshuffleOrder(t *testing.T) {
	got := make([]byte, 7)
	unshuffle(got, []byte{1, 2, 3, 4, 5, 6, 9}, 2)
	if want := []byte{1, 4, 2, 5, 3, 6, 9}; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEncodeRoundTrip(t *testing.T) {
	contents := map[string][]byte{
		"one": {7}, "short": random(1, 100), "noise": random(2, 300_001), "sparse": sparse(3, 1<<20),
		"zeros": make([]byte, 700_000), "zeros then noise": append(make([]byte, 2*blockSize), random(4, 1000)...),
	}
	for _, f := range [][]Filter{nil, {{ID: Blosc}}, {{ID: LZ4}}, {{ID: Zstd}}, {{ID: Deflate}}, {{ID: Shuffle}, {ID: Deflate}}, {{ID: Shuffle}}} {
		for _, codec := range []Codec{CodecZstd, CodecLZ4} {
			for _, size := range []int{1, 2, 4, 8} {
				e := &Encoder{Filters: f, Codec: codec, TypeSize: size}
				d, err := NewDecoder(f, size, nil)
				if err != nil {
					t.Fatal(err)
				}
				var out []byte
				for name, src := range contents {
					if out, err = e.Encode(out, src); err != nil {
						t.Fatal(err)
					}
					got := make([]byte, len(src))
					if err := d.Decode(got, out, 0); err != nil || !bytes.Equal(got, src) {
						t.Errorf("filters %v, codec %d, size %d, %s: %v", f, codec, size, name, err)
					}
				}
			}
		}
	}
}

// The header of a frame is what c-blosc writes for uint8 blocks with zstd.
func TestFrameHeader(t *testing.T) {
	e := &Encoder{Filters: []Filter{{ID: Blosc}}, TypeSize: 1}
	src := sparse(1, 3*blockSize)
	out, err := e.Encode(nil, src)
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{2, 1, 0x91, 1, 0, 0, 12, 0, 0, 0, 4, 0, byte(len(out)), byte(len(out) >> 8), byte(len(out) >> 16), 0}
	if !bytes.Equal(out[:16], want) {
		t.Errorf("header % x, want % x", out[:16], want)
	}
	if len(out) > len(src)/10 {
		t.Errorf("%d bytes of sparse counts became %d", len(src), len(out))
	}
}

func TestFilterLeftOut(t *testing.T) {
	src := random(1, 64)
	d, err := NewDecoder([]Filter{{ID: Shuffle, Values: []uint32{4}}, {ID: Deflate}}, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, shuffled := make([]byte, 64), make([]byte, 64)
	if err := d.Decode(got, src, 3); err != nil || !bytes.Equal(got, src) {
		t.Errorf("both left out: %v", err)
	}
	shuffle(shuffled, src, 4)
	if err := d.Decode(got, shuffled, 2); err != nil || !bytes.Equal(got, src) {
		t.Errorf("gzip left out: %v", err)
	}
}

func TestUnknownFilterIsNamed(t *testing.T) {
	for id, name := range map[int]string{32008: "bitshuffle", 36559: "ecf", 307: "bzip2", 60000: "unnamed"} {
		_, err := NewDecoder([]Filter{{ID: id}}, 1, nil)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(id)) || !strings.Contains(err.Error(), name) {
			t.Errorf("filter %d: %v", id, err)
		}
	}
	if _, err := NewDecoder([]Filter{{ID: Deflate}, {ID: Zstd}}, 1, nil); err == nil {
		t.Error("two compressors are accepted")
	}
}

func TestAllZero(t *testing.T) {
	b := make([]byte, 100)
	for n := range len(b) {
		if !AllZero(b[:n]) {
			t.Fatalf("%d zeros are not", n)
		}
		b[n] = 1
		if AllZero(b[:n+1]) || !AllZero(b[:n]) {
			t.Fatalf("a one at %d", n)
		}
		b[n] = 0
	}
}

func BenchmarkUnshuffle(b *testing.B) {
	for _, size := range []int{2, 4, 8} {
		src, dst := random(1, 1<<18), make([]byte, 1<<18)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				unshuffle(dst, src, size)
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	src := sparse(1, 20*360*640)
	for name, e := range map[string]*Encoder{
		"blosc-zstd": {Filters: []Filter{{ID: Blosc}}, TypeSize: 1},
		"blosc-lz4":  {Filters: []Filter{{ID: Blosc}}, Codec: CodecLZ4, TypeSize: 1},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			var out []byte
			var err error
			for b.Loop() {
				if out, err = e.Encode(out, src); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(out)), "bytes/frame")
		})
	}
}

package chunk

import (
	"bytes"
	"compress/zlib"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// What a chunk may become is said by the file's type and shape, not by the chunk: one that is or declares far more is an
// error in little memory.
func TestBombs(t *testing.T) {
	const most = 64 << 20
	zeros := make([]byte, 32<<20)
	var gz bytes.Buffer
	w := zlib.NewWriter(&gz)
	if _, err := w.Write(zeros); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	blosc := func(format, flags byte, size uint32, rest ...byte) []byte {
		n := 16 + len(rest)
		return append([]byte{2, 1, flags, 1, byte(size), byte(size >> 8), byte(size >> 16), byte(size >> 24), 0, 0, 4, 0, byte(n), 0, 0, 0}, rest...)
	}
	for name, c := range map[string]struct {
		id     int
		stored []byte
	}{
		"gzip of zeros":             {Deflate, gz.Bytes()},
		"zstd of zeros":             {Zstd, e.EncodeAll(zeros, nil)},
		"zstd that declares 2^60":   {Zstd, []byte{0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1, 0, 0}},
		"lz4 that declares 2^60":    {LZ4, []byte{0x0F, 0, 0, 0, 0, 0, 0, 0, 0x7F, 0, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4}},
		"lz4 of blocks of 2^31":     {LZ4, []byte{0, 0, 0, 0, 0, 0, 9, 0x60, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 4, 1, 2, 3, 4}},
		"blosc that declares 2^31":  {Blosc, blosc(2, 0x91, 1<<31-1, 20, 0, 0, 0, 1, 2, 3, 4)},
		"blosc that declares -1":    {Blosc, blosc(2, 0x91, 1<<32-1, 20, 0, 0, 0, 1, 2, 3, 4)},
		"blosc of blocks of no use": {Blosc, blosc(2, 0x91, 2400, 0xFF, 0xFF, 0xFF, 0x7F)},
	} {
		d, err := NewDecoder([]Filter{{ID: c.id}}, 4, nil)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := d.Decode(make([]byte, 2400), c.stored, 0); err == nil {
			t.Errorf("%s: no error", name)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > most {
			t.Errorf("%s: %d MiB allocated", name, n>>20)
		}
	}
}

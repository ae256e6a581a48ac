package parquet

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A codec compresses pages.
type codec struct {
	name       string
	codec      compress.Compression
	level      int
	compressor func(dst, src []byte) ([]byte, error) // nil: none
}

// The codecs by the names that CreateOptions.Compression takes; the first is the default: packed values are small, zstd
// saves a sixth of their size and takes more time than all else.
var codecs = []codec{
	{"none", compress.Codecs.Uncompressed, compress.DefaultCompressionLevel, nil},
	{"zstd", compress.Codecs.Zstd, 1, compressZstd},
	{"lz4", compress.Codecs.Lz4Raw, compress.DefaultCompressionLevel, compressLZ4},
}

// codecOf finds a codec by name; "" is the default.
func codecOf(name string) (codec, error) {
	if name == "" {
		return codecs[0], nil
	}
	i := slices.IndexFunc(codecs, func(c codec) bool { return c.name == name })
	if i < 0 {
		var names []string
		for _, c := range codecs {
			names = append(names, c.name)
		}
		return codec{}, fmt.Errorf("parquet: unknown compression %q; use one of %s", name, strings.Join(names, ", "))
	}
	return codecs[i], nil
}

// compress appends src to dst, compressed; without a codec it returns src.
func (c codec) compress(dst, src []byte) ([]byte, error) {
	if c.compressor == nil {
		return src, nil
	}
	return c.compressor(dst, src)
}

// Compressors are dear to make: they are kept.
var (
	zstds = sync.Pool{New: func() any {
		// Frames with a checksum show damage; the fastest level is libzstd's 1. The options are constants, which cannot
		// fail.
		e, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithZeroFrames(true), zstd.WithWindowSize(1<<20))
		return e
	}}
	lz4s = sync.Pool{New: func() any { return new(lz4.Compressor) }}
)

func compressZstd(dst, src []byte) ([]byte, error) {
	e := zstds.Get().(*zstd.Encoder)
	defer zstds.Put(e)
	return e.EncodeAll(src, dst), nil
}

func compressLZ4(dst, src []byte) ([]byte, error) {
	c := lz4s.Get().(*lz4.Compressor)
	defer lz4s.Put(c)
	from := len(dst)
	dst = slices.Grow(dst, lz4.CompressBlockBound(len(src)))
	n, err := c.CompressBlock(src, dst[from:cap(dst)])
	return dst[:from+n], err
}

//go:build hdf5 && cgo

package hdf5

import (
	"errors"

	"github.com/DataDog/zstd"
)

// cZstd is the zstd codec of the C library, half again as fast as the one in Go.
type cZstd struct{ ctx zstd.Ctx }

func newCZstd() cZstd { return cZstd{zstd.NewCtx()} }

func (z cZstd) Inflate(dst, src []byte) (int, error) {
	if len(dst) == 0 || len(src) == 0 {
		return 0, errors.New("no bytes")
	}
	return z.ctx.DecompressInto(dst, src)
}

func (z cZstd) Deflate(dst, src []byte) ([]byte, error) {
	return z.ctx.CompressLevel(dst[:0], src, 1)
}

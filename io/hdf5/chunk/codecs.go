package chunk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A ZstdCodec is a pair of zstd contexts. It serves one goroutine.
type ZstdCodec interface {
	// Inflate decodes one frame into dst and returns its size; a frame that does not fit is an error.
	Inflate(dst, src []byte) (int, error)
	// Deflate encodes src as one frame at level 1 in the memory of dst, or in new memory where that is too small.
	Deflate(dst, src []byte) ([]byte, error)
}

// goZstd is the codec in Go.
type goZstd struct {
	dec *zstd.Decoder
	enc *zstd.Encoder
}

// NewGoZstd returns the zstd codec in Go, which needs no library.
func NewGoZstd() ZstdCodec { return &goZstd{} }

func (g *goZstd) Inflate(dst, src []byte) (int, error) {
	if g.dec == nil {
		var err error
		if g.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return 0, err
		}
	}
	out, err := g.dec.DecodeAll(src, dst[:0:len(dst)])
	if err != nil {
		return 0, err
	}
	return len(out), nil
}

func (g *goZstd) Deflate(dst, src []byte) ([]byte, error) {
	if g.enc == nil {
		var err error
		g.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
		if err != nil {
			return nil, err
		}
	}
	return g.enc.EncodeAll(src, dst[:0]), nil
}

// codecs are the decompressors of one goroutine, made when they are first needed.
type codecs struct {
	zstd ZstdCodec
	zlib io.ReadCloser
	in   bytes.Reader
	tmp  []byte // one shuffled block
	keep int    // blocks of elements of so many bytes stay shuffled; 0: none do
	kept Layout // of the frame that was inflated last
}

func (c *codecs) inflateZstd(dst, src []byte) error {
	if c.zstd == nil {
		c.zstd = NewGoZstd()
	}
	if len(src) == 0 {
		return damaged("no bytes")
	}
	n, err := c.zstd.Inflate(dst, src)
	if err != nil {
		return damaged("%v", err)
	}
	return filled(n, dst)
}

func (c *codecs) inflateZlib(dst, src []byte) error {
	c.in.Reset(src)
	var err error
	if c.zlib == nil {
		c.zlib, err = zlib.NewReader(&c.in)
	} else {
		err = c.zlib.(zlib.Resetter).Reset(&c.in, nil)
	}
	if err != nil {
		return damaged("%v", err)
	}
	if n, err := io.ReadFull(c.zlib, dst); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return filled(n, dst)
		}
		return damaged("%d bytes instead of %d: %v", n, len(dst), err)
	}
	var more [1]byte // the end of the stream carries a checksum
	if n, err := c.zlib.Read(more[:]); n != 0 || err != io.EOF {
		if err == nil || err == io.EOF {
			return damaged("more than %d bytes", len(dst))
		}
		return damaged("%v", err)
	}
	return nil
}

// inflateLZ4Frame undoes the framing of filter 32004: big-endian sizes, then blocks, each with its size.
func inflateLZ4Frame(dst, src []byte) error {
	if len(src) < 12 {
		return damaged("%d bytes hold no header", len(src))
	}
	total, block := binary.BigEndian.Uint64(src), int(binary.BigEndian.Uint32(src[8:]))
	if total != uint64(len(dst)) || block <= 0 {
		return damaged("%d bytes in blocks of %d instead of %d", total, block, len(dst))
	}
	src = src[12:]
	for len(dst) > 0 {
		out := dst[:min(block, len(dst))]
		if len(src) < 4 {
			return damaged("a block is missing")
		}
		n := uint64(binary.BigEndian.Uint32(src))
		if src = src[4:]; n > uint64(len(src)) {
			return damaged("a block of %d bytes in %d", n, len(src))
		}
		if n == uint64(len(out)) {
			copy(out, src)
		} else if err := inflateLZ4(out, src[:n]); err != nil {
			return err
		}
		dst, src = dst[len(out):], src[n:]
	}
	return nil
}

func inflateLZ4(dst, src []byte) error {
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return damaged("%v", err)
	}
	return filled(n, dst)
}

func inflateSnappy(dst, src []byte) error {
	if n, err := s2.DecodedLen(src); err != nil || n != len(dst) {
		return damaged("snappy: %d bytes instead of %d", n, len(dst))
	}
	if _, err := s2.Decode(dst, src); err != nil {
		return damaged("%v", err)
	}
	return nil
}

// inflateLZF undoes LibLZF as h5py's filter writes it.
func inflateLZF(dst, src []byte) error {
	ip, op := 0, 0
	for ip < len(src) {
		c := int(src[ip])
		ip++
		if c < 32 { // a run of literals
			if c++; op+c > len(dst) || ip+c > len(src) {
				return damaged("literals pass the end")
			}
			copy(dst[op:op+c], src[ip:])
			ip, op = ip+c, op+c
			continue
		}
		n := c >> 5
		if n == 7 {
			if ip >= len(src) {
				return damaged("a match is cut")
			}
			n += int(src[ip])
			ip++
		}
		if ip >= len(src) {
			return damaged("a match is cut")
		}
		ref := op - c&31<<8 - int(src[ip]) - 1
		ip++
		if n += 2; ref < 0 || op+n > len(dst) {
			return damaged("a match passes the ends")
		}
		copyMatch(dst, op, ref, n)
		op += n
	}
	return filled(op, dst)
}

// copyMatch copies n bytes from ref to op > ref; the ranges may overlap, which repeats a pattern.
func copyMatch(b []byte, op, ref, n int) {
	for n > 0 {
		k := copy(b[op:op+n], b[ref:op])
		op, n = op+k, n-k
	}
}

func filled(n int, dst []byte) error {
	if n != len(dst) {
		return damaged("%d bytes instead of %d", n, len(dst))
	}
	return nil
}

// A Codec is what compresses the blocks of a written chunk.
type Codec uint8

// The codecs of written chunks.
const (
	CodecZstd Codec = iota
	CodecLZ4
)

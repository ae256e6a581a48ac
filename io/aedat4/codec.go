package aedat4

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A compression is how packets are stored, as the header numbers it.
type compression int

const (
	plain compression = iota
	lz4Fast
	lz4High
	zstdFast
	zstdHigh
)

var compressions = [...]string{plain: "none", lz4Fast: "lz4", lz4High: "lz4_high", zstdFast: "zstd", zstdHigh: "zstd_high"}

func (c compression) String() string { return compressions[c] }

// magics are the first bytes of compressed packets.
var (
	lz4Magic  = []byte{0x04, 0x22, 0x4D, 0x18}
	zstdMagic = []byte{0x28, 0xB5, 0x2F, 0xFD}
)

// starts reports whether a packet of size bytes can start with b, of which there are at least four.
func (c compression) starts(b []byte, size int64) bool {
	switch c {
	case lz4Fast, lz4High:
		return bytes.HasPrefix(b, lz4Magic)
	case zstdFast, zstdHigh:
		return bytes.HasPrefix(b, zstdMagic)
	default:
		return int64(binary.LittleEndian.Uint32(b)) == size-4
	}
}

// errTooLarge reports a packet that would take more memory than is given.
var errTooLarge = errors.New("it is larger than memory allows; raise --memory")

// A codec decompresses packets into one buffer, of at most limit bytes.
type codec struct {
	of    compression
	limit int64
	src   *bytes.Reader
	lz4   *lz4.Reader
	frame lz4Frame
	zstd  *zstd.Decoder
	out   []byte
}

func newCodec(of compression, limit int64) (*codec, error) {
	c := &codec{of: of, limit: limit}
	switch of {
	case lz4Fast, lz4High:
		c.src = bytes.NewReader(nil)
		c.lz4 = lz4.NewReader(c.src)
		if err := c.lz4.Apply(lz4.ConcurrencyOption(1)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	case zstdFast, zstdHigh:
		var err error
		c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(uint64(limit)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return c, nil
}

func (c *codec) close() {
	if c.zstd != nil {
		c.zstd.Close()
	}
}

// decode returns the flatbuffer of a packet, without its size prefix, valid until the next call.
func (c *codec) decode(packet []byte) ([]byte, error) {
	b, err := c.inflate(packet)
	if err != nil {
		return nil, err
	}
	if len(b) < 4 {
		return nil, io.ErrUnexpectedEOF
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, fmt.Errorf("it holds %d bytes and says %d", len(b)-4, n)
	}
	return b[4 : 4+n], nil
}

// ends reports whether a packet ends within b, so that what follows is not part of it.
func (c *codec) ends(b []byte) bool {
	out, err := c.inflate(b)
	switch {
	case c.of == plain:
		return false
	case err == nil:
		return true
	}
	return len(out) > 0 && (errors.Is(err, lz4.ErrInvalidFrame) || errors.Is(err, zstd.ErrMagicMismatch))
}

// inflate returns what was decompressed before an error with it.
func (c *codec) inflate(packet []byte) ([]byte, error) {
	var err error
	switch {
	case c.zstd != nil:
		c.out, err = c.zstd.DecodeAll(packet, c.out[:0])
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			err = errTooLarge
		}
	case c.lz4 != nil:
		err = c.inflateLZ4(packet)
	default:
		return packet, nil
	}
	return c.out, err
}

func (c *codec) inflateLZ4(packet []byte) error {
	if out, ok := c.frame.inflate(c.out[:0], packet, c.limit); ok {
		c.out = out
		return nil
	}
	if err := c.readLZ4(packet); err != nil {
		return err
	}
	c.frame.learn(packet)
	return nil
}

// readLZ4 decompresses whatever the library takes for LZ4.
func (c *codec) readLZ4(packet []byte) error {
	c.src.Reset(packet)
	c.lz4.Reset(c.src)
	if c.out = c.out[:0]; cap(c.out) == 0 {
		c.out = make([]byte, 0, 64<<10)
	}
	for {
		n, err := c.lz4.Read(c.out[len(c.out):cap(c.out)])
		c.out = c.out[:len(c.out)+n]
		switch {
		case int64(len(c.out)) > c.limit:
			return errTooLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(c.out) == cap(c.out):
			c.out = append(c.out, make([]byte, len(c.out))...)[:len(c.out)]
		}
	}
}

package chunk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/klauspost/compress/zlib"
	"github.com/pierrec/lz4/v4"
)

// blockSize is what c-blosc takes for level 1 of zstd on large chunks; it bounds the memory of a stream.
const blockSize = 256 << 10

// An Encoder compresses chunks. It serves one goroutine and keeps its memory.
type Encoder struct {
	// Filters is the pipeline that undoes what Encode writes, as the dataset's properties state it: nothing, or
	// one of Blosc, LZ4, Zstd and Deflate, with Shuffle before it or not.
	Filters  []Filter
	Codec    Codec // inside Blosc
	TypeSize int   // bytes of one element
	Zstd     ZstdCodec
	// Sums asks for the CRC-32C of every chunk, which is cheapest while the chunk is looked at anyway.
	Sums bool

	sum      uint32
	sparse   sparseEncoder
	lz4      lz4.Compressor
	zlib     *zlib.Writer
	shuffled []byte // the chunk
	tmp      []byte // one block inside Blosc
	zero     []byte // a whole block of zeros, compressed
}

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the CRC-32C of the bytes that were encoded last, where Sums was set.
func (e *Encoder) Sum() uint32 { return e.sum }

// add continues the sum.
func (e *Encoder) add(src []byte) {
	if e.Sums {
		e.sum = crc32.Update(e.sum, castagnoli, src)
	}
}

// Encode returns the stored bytes of a chunk, in the memory of dst where that is large enough.
func (e *Encoder) Encode(dst, src []byte) ([]byte, error) {
	if e.Zstd == nil {
		e.Zstd = NewGoZstd()
	}
	e.sum = 0
	if len(e.Filters) == 0 || e.Filters[0].ID != Blosc {
		e.add(src) // block by block inside Blosc
	}
	if len(e.Filters) == 0 {
		return append(dst[:0], src...), nil
	}
	if e.Filters[0].ID == Shuffle {
		e.shuffled = append(e.shuffled[:0], src...)
		shuffle(e.shuffled, src, e.TypeSize)
		src = e.shuffled
	}
	switch id := e.Filters[len(e.Filters)-1].ID; id {
	case Blosc:
		return e.bloscFrame(dst[:0], src)
	case LZ4:
		return e.lz4Frame(dst[:0], src)
	case Zstd:
		if out, ok := e.sparse.encode(dst[:0], src); ok {
			return out, nil
		}
		return e.Zstd.Deflate(dst[:0], src)
	case Deflate:
		return e.deflate(dst[:0], src)
	case Shuffle:
		return append(dst[:0], src...), nil
	default:
		return nil, errors.New("chunk: no encoder for filter " + Name(id))
	}
}

func (e *Encoder) deflate(dst, src []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	if e.zlib == nil {
		var err error
		if e.zlib, err = zlib.NewWriterLevel(out, zlib.BestSpeed); err != nil {
			return nil, err
		}
	} else {
		e.zlib.Reset(out)
	}
	_, err := e.zlib.Write(src)
	err = errors.Join(err, e.zlib.Close())
	return out.Bytes(), err
}

func (e *Encoder) bloscFrame(dst, src []byte) ([]byte, error) {
	flags := byte(flagNoSplit | flagShuffle | 4<<5)
	if e.Codec == CodecLZ4 {
		flags = flagNoSplit | flagShuffle | 1<<5
	}
	block := min(blockSize, len(src))
	blocks := (len(src) + block - 1) / block
	dst = append(dst, 2, 1, flags, byte(e.TypeSize))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(src)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(block))
	dst = append(dst, make([]byte, 4+4*blocks)...)
	for i := range blocks {
		binary.LittleEndian.PutUint32(dst[bloscHeader+4*i:], uint32(len(dst)))
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		part := src[i*block : min((i+1)*block, len(src))]
		e.add(part) // it is in the cache when it is compressed
		var err error
		if dst, err = e.block(dst, part, block); err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	binary.LittleEndian.PutUint32(dst[12:], uint32(len(dst)))
	return dst, nil
}

// block appends one compressed block. Whole blocks of zeros are compressed once.
func (e *Encoder) block(dst, src []byte, whole int) ([]byte, error) {
	zero := len(src) == whole && AllZero(src)
	if zero && e.zero != nil {
		return append(dst, e.zero...), nil
	}
	in := src
	if e.TypeSize > 1 {
		if cap(e.tmp) < len(src) {
			e.tmp = make([]byte, len(src))
		}
		in = e.tmp[:len(src)]
		shuffle(in, src, e.TypeSize)
	}
	at := len(dst)
	dst, err := e.stream(dst, in)
	if zero && err == nil {
		e.zero = append([]byte(nil), dst[at:]...)
	}
	return dst, err
}

// stream appends src compressed, or as it is where that is no longer.
func (e *Encoder) stream(dst, src []byte) ([]byte, error) {
	at := len(dst)
	sparse := e.sparse.encode
	if e.Codec == CodecLZ4 {
		sparse = e.sparse.encodeLZ4
	}
	out, ok := sparse(dst, src)
	if dst = out[:at]; ok && len(out)-at < len(src) {
		return out, nil
	}
	need := max(lz4.CompressBlockBound(len(src)), len(src)+len(src)/128+1024)
	dst = grow(dst, need)
	var n int
	if e.Codec == CodecLZ4 {
		var err error
		if n, err = e.lz4.CompressBlock(src, dst[at:at+need]); err != nil {
			return nil, err
		}
	} else {
		out, err := e.Zstd.Deflate(dst[at:at:at+need], src)
		if err != nil {
			return nil, err
		}
		if n = len(out); n > 0 && n < len(src) && &out[0] != &dst[:at+1][at] {
			copy(dst[at:at+n], out)
		}
	}
	if n == 0 || n >= len(src) {
		return append(dst[:at], src...), nil
	}
	return dst[:at+n], nil
}

func (e *Encoder) lz4Frame(dst, src []byte) ([]byte, error) {
	block := min(blockSize, len(src))
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(src)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(block))
	for len(src) > 0 {
		n := min(block, len(src))
		at := len(dst)
		need := lz4.CompressBlockBound(n)
		var ok bool
		if dst, ok = e.sparse.encodeLZ4(append(dst, 0, 0, 0, 0), src[:n]); !ok {
			dst = grow(dst[:at+4], need)
			c, err := e.lz4.CompressBlock(src[:n], dst[at+4:at+4+need])
			if err != nil {
				return nil, err
			}
			dst = dst[:at+4+c]
		}
		if c := len(dst) - at - 4; c == 0 || c >= n {
			dst = append(dst[:at+4], src[:n]...)
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		src = src[n:]
	}
	return dst, nil
}

// grow returns b with the same length and room for n more bytes.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	out := make([]byte, len(b), 2*cap(b)+n)
	copy(out, b)
	return out
}

// AllZero reports whether every byte is zero.
func AllZero(b []byte) bool {
	for len(b) >= 32 {
		if binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:])|binary.LittleEndian.Uint64(b[16:])|binary.LittleEndian.Uint64(b[24:]) != 0 {
			return false
		}
		b = b[32:]
	}
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

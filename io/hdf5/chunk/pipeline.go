// Package chunk decodes and encodes the chunks of HDF5 datasets, filter by filter, in Go.
//
// It knows the bytes that the filters make and nothing of HDF5 files: no library, no plugin, no cgo.
package chunk

import (
	"errors"
	"fmt"
)

// The registered numbers of the filters.
const (
	Deflate    = 1
	Shuffle    = 2
	Fletcher32 = 3
	LZF        = 32000
	Blosc      = 32001
	LZ4        = 32004
	Zstd       = 32015
)

// ErrDamaged reports bytes that are not what their filter writes.
var ErrDamaged = errors.New("the chunk is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// A Filter is one step of a dataset's pipeline.
type Filter struct {
	ID     int
	Values []uint32 // the client data
}

// names are those of the HDF Group's list of registered filters.
var names = map[int]string{
	Deflate: "gzip", Shuffle: "shuffle", Fletcher32: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset",
	305: "lzo", 307: "bzip2", LZF: "lzf", Blosc: "blosc", 32002: "mafisc", 32003: "snappy", LZ4: "lz4",
	32008: "bitshuffle", 32013: "zfp", Zstd: "zstd", 32017: "sz", 32018: "fcidecomp", 32019: "jpeg",
	32024: "sz3", 32026: "blosc2", 32029: "pcodec", 36559: "prophesee ecf",
}

// Name returns what a filter is called, or "unnamed".
func Name(id int) string {
	if n, ok := names[id]; ok {
		return n
	}
	return "unnamed"
}

// Known reports whether a filter can be decoded.
func Known(id int) bool {
	switch id {
	case Deflate, Shuffle, Fletcher32, LZF, Blosc, LZ4, Zstd:
		return true
	}
	return false
}

// A Decoder undoes the filters of one dataset's chunks. It serves one goroutine and keeps its memory.
type Decoder struct {
	filters []Filter
	size    int // bytes of one element
	codecs  codecs
	a, b    []byte
}

// NewDecoder readies a decoder for chunks of elements of size bytes; z may be nil for the decoder in Go.
func NewDecoder(filters []Filter, size int, z ZstdCodec) (*Decoder, error) {
	packers := 0
	for _, f := range filters {
		if !Known(f.ID) {
			return nil, fmt.Errorf("filter %d (%s) is not one that evq decodes; rewrite the file with gzip, lzf, lz4, zstd or blosc", f.ID, Name(f.ID))
		}
		if f.ID != Shuffle && f.ID != Fletcher32 {
			packers++
		}
	}
	if packers > 1 {
		return nil, errors.New("two compressors on one dataset; rewrite the file with one (h5repack)")
	}
	return &Decoder{filters: filters, size: size, codecs: codecs{zstd: z}}, nil
}

// Decode fills dst, the whole chunk, from its stored bytes. Bit i of mask says that filter i was left out.
func (d *Decoder) Decode(dst, stored []byte, mask uint32) error {
	cur := stored
	for q := len(d.filters) - 1; q >= 0; q-- {
		if mask>>q&1 != 0 {
			continue
		}
		f := d.filters[q]
		if f.ID == Fletcher32 {
			var err error
			if cur, err = checkFletcher32(cur); err != nil {
				return err
			}
			continue
		}
		out := dst
		if n := len(dst) + d.checksums(q, mask); d.inner(q, mask) || n != len(dst) {
			out = d.scratch(n, cur)
		}
		if err := d.undo(f, out, cur); err != nil {
			return fmt.Errorf("filter %s: %w", Name(f.ID), err)
		}
		cur = out
	}
	if len(cur) != len(dst) {
		return damaged("%d bytes instead of %d", len(cur), len(dst))
	}
	if &cur[0] != &dst[0] {
		copy(dst, cur)
	}
	return nil
}

// inner reports whether a filter before q has still to be undone into other memory.
func (d *Decoder) inner(q int, mask uint32) bool {
	for i := range q {
		if mask>>i&1 == 0 && d.filters[i].ID != Fletcher32 {
			return true
		}
	}
	return false
}

// checksums returns how many bytes the checksums before filter q add to the chunk.
func (d *Decoder) checksums(q int, mask uint32) int {
	n := 0
	for i := range q {
		if mask>>i&1 == 0 && d.filters[i].ID == Fletcher32 {
			n += 4
		}
	}
	return n
}

// scratch returns n bytes that do not overlap cur.
func (d *Decoder) scratch(n int, cur []byte) []byte {
	buf := &d.a
	if len(cur) > 0 && cap(d.a) > 0 && &cur[:1][0] == &d.a[:1][0] {
		buf = &d.b
	}
	if cap(*buf) < n {
		*buf = make([]byte, n)
	}
	return (*buf)[:n]
}

func (d *Decoder) undo(f Filter, dst, src []byte) error {
	switch f.ID {
	case Deflate:
		return d.codecs.inflateZlib(dst, src)
	case Shuffle:
		size := d.size
		if len(f.Values) > 0 && f.Values[0] > 0 {
			size = int(f.Values[0])
		}
		if len(src) != len(dst) {
			return damaged("%d bytes instead of %d", len(src), len(dst))
		}
		unshuffle(dst, src, size)
		return nil
	case LZF:
		return inflateLZF(dst, src)
	case Blosc:
		return d.codecs.inflateBlosc(dst, src)
	case LZ4:
		return inflateLZ4Frame(dst, src)
	case Zstd:
		return d.codecs.inflateZstd(dst, src)
	}
	return fmt.Errorf("filter %d has no decoder", f.ID)
}

// checkFletcher32 verifies the checksum that ends b and returns the bytes before it.
func checkFletcher32(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, damaged("filter fletcher32: %d bytes hold no checksum", len(b))
	}
	data, tail := b[:len(b)-4], b[len(b)-4:]
	got := uint32(tail[0]) | uint32(tail[1])<<8 | uint32(tail[2])<<16 | uint32(tail[3])<<24
	want := fletcher32(data)
	// HDF5 before 1.6.3 swapped the bytes of each half on little-endian machines; such files are still read.
	swapped := want>>8&0x00ff00ff | want&0x00ff00ff<<8
	if got != want && got != swapped {
		return nil, damaged("filter fletcher32: checksum %#x instead of %#x", got, want)
	}
	return data, nil
}

// fletcher32 is HDF5's H5_checksum_fletcher32: sums of big-endian 16-bit words.
func fletcher32(b []byte) uint32 {
	var s1, s2 uint32
	for len(b) > 1 {
		n := min(len(b)/2, 360) // as many words as 32 bits hold without overflow
		for i := range n {
			s1 += uint32(b[2*i])<<8 | uint32(b[2*i+1])
			s2 += s1
		}
		b = b[2*n:]
		s1, s2 = s1&0xffff+s1>>16, s2&0xffff+s2>>16
	}
	if len(b) == 1 {
		s1 += uint32(b[0]) << 8
		s2 += s1
		s1, s2 = s1&0xffff+s1>>16, s2&0xffff+s2>>16
	}
	s1, s2 = s1&0xffff+s1>>16, s2&0xffff+s2>>16
	return s2<<16 | s1
}

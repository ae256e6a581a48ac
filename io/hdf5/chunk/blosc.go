package chunk

import "encoding/binary"

// A Blosc1 frame (c-blosc 1.x, README_HEADER.rst): version, codec version, flags, element size, then as
// little-endian words the sizes of data, block and frame, then the offset of each block. A block is one
// stream, or one per byte of an element, each after its size.
const (
	bloscHeader    = 16
	flagShuffle    = 0x01
	flagMemcpy     = 0x02
	flagBitShuffle = 0x04
	flagNoSplit    = 0x10

	maxSplits    = 16  // elements wider than this were never split
	minSplitSize = 128 // nor were streams shorter than this
)

type bloscFrame struct {
	flags     byte
	typesize  int
	blockSize int
	src       []byte
	left      bool // blocks stay shuffled
}

// inflateBlosc decodes one frame into dst, which it fills.
func (c *codecs) inflateBlosc(dst, src []byte) error {
	if len(src) < bloscHeader {
		return damaged("%d bytes hold no header", len(src))
	}
	f := bloscFrame{flags: src[2], typesize: int(src[3]), src: src}
	nbytes, block, size := binary.LittleEndian.Uint32(src[4:]), binary.LittleEndian.Uint32(src[8:]), binary.LittleEndian.Uint32(src[12:])
	if src[0] < 1 || src[0] > 2 || nbytes != uint32(len(dst)) || size > uint32(len(src)) || size < bloscHeader || f.typesize == 0 {
		return damaged("a frame of version %d with %d of %d bytes for %d of %d", src[0], size, len(src), nbytes, len(dst))
	}
	f.src = src[:size]
	if f.flags&flagMemcpy != 0 {
		return filled(copy(dst, f.src[bloscHeader:]), dst)
	}
	if block == 0 || block > nbytes {
		return damaged("blocks of %d bytes in a frame of %d", block, nbytes)
	}
	f.blockSize = int(block)
	blocks := (len(dst) + f.blockSize - 1) / f.blockSize
	if blocks > (len(f.src)-bloscHeader)/4 {
		return damaged("%d blocks in %d bytes", blocks, len(f.src))
	}
	f.left = f.flags&flagShuffle != 0 && c.keep > 1 && f.typesize == c.keep && f.blockSize%c.keep == 0 && len(dst)%c.keep == 0
	if f.left {
		c.kept = Layout{c.keep, f.blockSize}
	}
	for i := range blocks {
		at := binary.LittleEndian.Uint32(f.src[bloscHeader+4*i:])
		if at > size {
			return damaged("block %d starts at %d of %d", i, at, size)
		}
		if err := c.inflateBlock(&f, dst[i*f.blockSize:min((i+1)*f.blockSize, len(dst))], f.src[at:]); err != nil {
			return err
		}
	}
	return nil
}

// inflateBlock decodes one block; src starts at it.
func (c *codecs) inflateBlock(f *bloscFrame, dst, src []byte) error {
	shuffled := f.flags&flagShuffle != 0 && f.typesize > 1
	bytewise := shuffled && !f.left
	bitwise := !shuffled && f.flags&flagBitShuffle != 0 && len(dst) >= f.typesize
	out := dst
	if bytewise || bitwise {
		if cap(c.tmp) < len(dst) {
			c.tmp = make([]byte, len(dst))
		}
		out = c.tmp[:len(dst)]
	}
	splits := 1
	if f.flags&flagNoSplit == 0 && f.typesize <= maxSplits && len(dst) == f.blockSize && len(dst)/f.typesize >= minSplitSize {
		splits = f.typesize
	}
	n := len(dst) / splits
	if n*splits != len(dst) {
		return damaged("a block of %d bytes in %d streams", len(dst), splits)
	}
	for s := range splits {
		if len(src) < 4 {
			return damaged("a stream is missing")
		}
		size := binary.LittleEndian.Uint32(src)
		if src = src[4:]; size > uint32(len(src)) {
			return damaged("a stream of %d bytes in %d", size, len(src))
		}
		if err := c.inflateStream(f.flags>>5, out[s*n:(s+1)*n], src[:size]); err != nil {
			return err
		}
		src = src[size:]
	}
	switch {
	case bytewise:
		unshuffle(dst, out, f.typesize)
	case bitwise:
		unshuffleBits(dst, out, f.typesize)
	}
	return nil
}

func (c *codecs) inflateStream(codec byte, dst, src []byte) error {
	if len(src) == len(dst) { // what does not shrink is stored
		copy(dst, src)
		return nil
	}
	switch codec {
	case 0:
		return inflateBloscLZ(dst, src)
	case 1:
		return inflateLZ4(dst, src)
	case 2:
		return inflateSnappy(dst, src)
	case 3:
		return c.inflateZlib(dst, src)
	case 4:
		return c.inflateZstd(dst, src)
	}
	return damaged("codec %d is none of blosc's", codec)
}

// inflateBloscLZ undoes c-blosc's own codec, a relative of FastLZ with distances of up to 64 KiB.
func inflateBloscLZ(dst, src []byte) error {
	const far = 8191 // the largest distance of the short form
	ip, op := 0, 0
	for first := true; ip < len(src); first = false {
		ctrl := int(src[ip])
		ip++
		if first {
			ctrl &= 31
		}
		if ctrl < 32 { // a run of literals
			if ctrl++; op+ctrl > len(dst) || ip+ctrl > len(src) {
				return damaged("literals pass the end")
			}
			copy(dst[op:op+ctrl], src[ip:])
			ip, op = ip+ctrl, op+ctrl
			continue
		}
		n, dist := ctrl>>5+2, ctrl&31<<8
		if ctrl>>5 == 7 {
			for code := 255; code == 255; ip++ {
				if ip >= len(src) || n > len(dst) {
					return damaged("a match is cut")
				}
				code = int(src[ip])
				n += code
			}
		}
		if ip >= len(src) {
			return damaged("a match is cut")
		}
		low := int(src[ip])
		ip++
		if dist += low; low == 255 && dist == far {
			if ip+2 > len(src) {
				return damaged("a match is cut")
			}
			dist = far + int(src[ip])<<8 + int(src[ip+1])
			ip += 2
		}
		if dist++; dist > op || op+n > len(dst) {
			return damaged("a match passes the ends")
		}
		copyMatch(dst, op, op-dist, n)
		op += n
	}
	return filled(op, dst)
}

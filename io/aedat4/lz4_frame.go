package aedat4

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/pierrec/lz4/v4"
)

// An lz4Frame decompresses the frames that cameras' software writes, each block straight to where it belongs: the
// library's reader copies every block twice, and costs as much again as decompressing. What is not just such a frame
// is the reader's: other flags, checksums, several frames, damage. Source: the LZ4 frame format, version 1.6.
type lz4Frame struct {
	head  []byte // magic, flags and header checksum of a frame that the reader has taken; nil before the first
	block int    // the most bytes of one of its blocks
}

const (
	lz4HeadSize = 7
	// The flags of a frame that is taken here: version 1, whatever the bit of independent blocks says.
	lz4Flags, lz4FlagsMask = 0x40, 0xDF
	lz4Window              = 64 << 10
	lz4Stored              = 1 << 31 // of a block's size: it is not compressed
)

// learn takes in the header of a packet that the reader has decompressed, so that its checksum is right.
func (f *lz4Frame) learn(packet []byte) {
	if len(packet) < lz4HeadSize || packet[4]&lz4FlagsMask != lz4Flags {
		return
	}
	size := packet[5] >> 4 & 7
	if size < 4 {
		return
	}
	f.head, f.block = bytes.Clone(packet[:lz4HeadSize]), 1<<(8+2*size)
}

// inflate appends what a packet holds to out, at most limit bytes; false says that the reader has to see to it.
func (f *lz4Frame) inflate(out, packet []byte, limit int64) ([]byte, bool) {
	if f.head == nil || !bytes.HasPrefix(packet, f.head) {
		return nil, false
	}
	for rest := packet[lz4HeadSize:]; len(rest) >= 4; {
		head := binary.LittleEndian.Uint32(rest)
		rest = rest[4:]
		if head == 0 {
			return out, len(rest) == 0
		}
		size := int(head &^ lz4Stored)
		if size > len(rest) || size > f.block {
			return nil, false
		}
		from := len(out)
		out = slices.Grow(out, f.block)
		if head&lz4Stored != 0 {
			out = append(out, rest[:size]...)
		} else {
			n, err := lz4.UncompressBlockWithDict(rest[:size], out[from:from+f.block], out[max(0, from-lz4Window):from])
			if err != nil {
				return nil, false
			}
			out = out[:from+n]
		}
		if int64(len(out)) > limit {
			return nil, false
		}
		rest = rest[size:]
	}
	return nil, false
}

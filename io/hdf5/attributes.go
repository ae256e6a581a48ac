package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// What bounds the reading of attributes: bytes of a block of messages, blocks, and bytes of a string.
const (
	largestHeader = 1 << 20
	mostBlocks    = 64
	longestText   = 1024
)

// attributesOf returns those attributes of a file's root that are single strings. They are read here, from the bytes:
// the library trusts the lengths of strings that it reads, and a damaged file would make it write beyond its memory.
// What is not understood is left out.
func attributesOf(path string) []event.Field {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	return readAttributes(format.File{ReaderAt: f, Size: st.Size(), Path: path})
}

func readAttributes(f format.File) []event.Field {
	r := headerReader{file: f}
	if root, ok := r.root(); ok {
		r.header(root)
	}
	return r.found
}

// zeroChunks reports whether the dataset whose header stands at an address says that its chunks have an extent of 0, or
// other axes than the dataset: the library divides by their extents when it opens one.
func zeroChunks(path string, address uint64) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false
	}
	r := headerReader{file: format.File{ReaderAt: f, Size: st.Size(), Path: path}}
	if _, ok := r.root(); ok {
		r.header(address)
	}
	return r.zero || r.extents > 0 && r.extents != r.rank+1
}

// A headerReader walks through the messages of one object. Sources: the HDF5 File Format Specification 3.0, sections
// II (superblock), III.E (global heap) and IV.A (object headers).
type headerReader struct {
	file   format.File
	base   int64 // addresses count from here
	blocks int
	second bool // the header is of version 2
	order  bool // its messages have a creation order
	found  []event.Field
	rank   int // of the dataset
	// What the message of the layout says: extents of a chunk, the last of which is the element's size, 0 where the
	// dataset isn't chunked; and whether one is 0 or there are none.
	extents int
	zero    bool
}

// at reads n bytes at an address; nil where they are not all there.
func (r *headerReader) at(address uint64, n int) []byte {
	if address > uint64(r.file.Size) || n < 0 || n > largestHeader || r.base+int64(address)+int64(n) > r.file.Size {
		return nil
	}
	b := make([]byte, n)
	if got, err := r.file.ReadAt(b, r.base+int64(address)); got < n || err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return b
}

// root returns the address of the root's header.
func (r *headerReader) root() (uint64, bool) {
	at := findSignature(r.file)
	if at < 0 {
		return 0, false
	}
	b := r.at(uint64(at), 80)
	if b == nil {
		return 0, false
	}
	sizes, base, header := b[13:15], 24, 64
	switch b[8] {
	case 0:
	case 1:
		base, header = 28, 68
	case 2, 3:
		sizes, base, header = b[9:11], 12, 36
	default:
		return 0, false
	}
	start := binary.LittleEndian.Uint64(b[base:])
	if sizes[0] != 8 || sizes[1] != 8 || start > uint64(r.file.Size) {
		return 0, false
	}
	r.base = int64(start)
	return binary.LittleEndian.Uint64(b[header:]), true
}

// header reads the object header at an address.
func (r *headerReader) header(address uint64) {
	b := r.at(address, 16)
	switch {
	case b == nil:
	case b[0] == 1:
		r.messages(r.at(address+16, int(min(binary.LittleEndian.Uint32(b[8:]), largestHeader))))
	case bytes.HasPrefix(b, []byte("OHDR")) && b[4] == 2:
		flags, size := b[5], 6
		r.second, r.order = true, flags&4 != 0
		if flags&0x20 != 0 {
			size += 16
		}
		if flags&0x10 != 0 {
			size += 4
		}
		width := 1 << (flags & 3)
		if b = r.at(address+uint64(size), width); b != nil {
			var n [8]byte
			copy(n[:], b)
			r.messages(r.at(address+uint64(size+width), int(min(binary.LittleEndian.Uint64(n[:]), largestHeader))))
		}
	}
}

// messages reads one block of messages, and those that it leads to.
func (r *headerReader) messages(b []byte) {
	if r.blocks++; r.blocks > mostBlocks {
		return
	}
	head := 8
	if r.second {
		head = 4
		if r.order {
			head = 6
		}
	}
	for len(b) >= head {
		kind, size := int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:]))
		if r.second {
			kind, size = int(b[0]), int(binary.LittleEndian.Uint16(b[1:]))
		}
		if b = b[head:]; size > len(b) {
			return
		}
		switch kind {
		case 0x01:
			if size > 1 {
				r.rank = int(b[1])
			}
		case 0x08:
			n, zero := chunkExtents(b[:size])
			r.extents, r.zero = max(r.extents, n), r.zero || zero
		case 0x0C:
			r.attribute(b[:size])
		case 0x10:
			r.continuation(b[:size])
		}
		b = b[size:]
	}
}

// chunkExtents returns how many extents a layout message, of any version, gives a chunk, and whether one is 0 or there
// are none; 0 and false where it has no chunks.
func chunkExtents(b []byte) (n int, zero bool) {
	if len(b) < 5 {
		return 0, false
	}
	dims, n, width := b[min(11, len(b)):], int(b[2]), 4
	switch {
	case b[0] < 3 && b[2] == 2:
		dims, n = b[min(16, len(b)):], int(b[1])
	case b[0] == 3 && b[1] == 2:
	case b[0] == 4 && b[1] == 2:
		dims, n, width = b[5:], int(b[3]), int(b[4])
	default:
		return 0, false
	}
	zero = n == 0
	for i := 0; i < n && width > 0 && len(dims) >= width; i++ {
		zero = zero || len(bytes.TrimLeft(dims[:width], "\x00")) == 0
		dims = dims[width:]
	}
	return n, zero
}

func (r *headerReader) continuation(b []byte) {
	if len(b) < 16 {
		return
	}
	block := r.at(binary.LittleEndian.Uint64(b), int(min(binary.LittleEndian.Uint64(b[8:]), largestHeader)))
	if r.second {
		if len(block) < 8 || !bytes.HasPrefix(block, []byte("OCHK")) {
			return
		}
		block = block[4 : len(block)-4] // its checksum
	}
	r.messages(block)
}

// attribute reads one attribute message.
func (r *headerReader) attribute(b []byte) {
	if len(b) < 9 || b[0] < 1 || b[0] > 3 || b[0] > 1 && b[1] != 0 { // shared types are left out
		return
	}
	version := b[0]
	lengths := [3]int{}
	for i := range lengths {
		lengths[i] = int(binary.LittleEndian.Uint16(b[2+2*i:]))
	}
	b = b[8:]
	if version == 3 {
		b = b[1:] // the character set
	}
	var parts [3][]byte // name, type, space
	for i, n := range lengths {
		whole := n
		if version == 1 {
			whole = (n + 7) &^ 7
		}
		if whole > len(b) {
			return
		}
		parts[i], b = b[:n], b[whole:]
	}
	name, typ, space := parts[0], parts[1], parts[2]
	if len(typ) < 8 || len(space) < 2 || space[1] != 0 { // one value
		return
	}
	size := int64(binary.LittleEndian.Uint32(typ[4:]))
	switch class := typ[0] & 0xF; {
	case class == 3 && size <= min(longestText, int64(len(b))):
		b = b[:size]
	case class == 9 && typ[1]&0xF == 1 && len(b) >= 16:
		b = r.heap(binary.LittleEndian.Uint64(b[4:]), binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b))
	default:
		return
	}
	if b != nil {
		r.found = append(r.found, event.Field{Key: text(name), Value: text(b)})
	}
}

// heap returns n bytes of an object of the global heap's collection at an address.
func (r *headerReader) heap(address uint64, index, n uint32) []byte {
	head := r.at(address, 16)
	if !bytes.HasPrefix(head, []byte("GCOL\x01")) || n > longestText {
		return nil
	}
	b := r.at(address, int(min(binary.LittleEndian.Uint64(head[8:]), largestHeader)))
	if len(b) < 16 {
		return nil
	}
	for b = b[16:]; len(b) >= 16; {
		id, size := uint32(binary.LittleEndian.Uint16(b)), binary.LittleEndian.Uint64(b[8:])
		if b = b[16:]; id == 0 || size > uint64(len(b)) {
			return nil // free space ends the collection
		}
		if id == index {
			if uint64(n) > size {
				return nil
			}
			return b[:n]
		}
		b = b[min(int(size+7)&^7, len(b)):]
	}
	return nil
}

// text makes bytes of a file printable, up to their zero.
func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(string(b), "?"))
}

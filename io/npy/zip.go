package npy

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
)

// A zipEntry is one file of an archive.
type zipEntry struct {
	name           string
	method         uint16 // 0 stored, 8 deflated
	crc            uint32
	packed, actual int64 // bytes in the archive and of the file
	offset         int64 // of its local header
}

// le appends numbers in little-endian order.
func le(b []byte, values ...any) []byte {
	for _, v := range values {
		b, _ = binary.Append(b, binary.LittleEndian, v) // fixed-size integers only
	}
	return b
}

const (
	zip64Version = 45
	firstDay     = 0x21 // 1980-01-01, so that equal arrays make equal archives
	tooLarge     = math.MaxUint32
)

// local is the header before the entry's data. It has the 64-bit form always, as numpy.savez writes it, so that
// its length does not depend on the sizes, which are known last.
func (e zipEntry) local() []byte {
	b := le(nil, uint32(0x04034b50), uint16(zip64Version), uint16(0), e.method, uint16(0), uint16(firstDay),
		e.crc, uint32(tooLarge), uint32(tooLarge), uint16(len(e.name)), uint16(20))
	b = append(b, e.name...)
	return le(b, uint16(1), uint16(16), e.actual, e.packed)
}

// central is the entry in the directory, in the 64-bit form only where it is needed.
func (e zipEntry) central() []byte {
	var extra []byte
	packed, actual, offset := uint32(e.packed), uint32(e.actual), uint32(e.offset)
	if max(e.packed, e.actual, e.offset) >= tooLarge {
		packed, actual, offset = tooLarge, tooLarge, tooLarge
		extra = le(nil, uint16(1), uint16(24), e.actual, e.packed, e.offset)
	}
	b := le(nil, uint32(0x02014b50), uint16(zip64Version), uint16(zip64Version), uint16(0), e.method, uint16(0), uint16(firstDay),
		e.crc, packed, actual, uint16(len(e.name)), uint16(len(extra)), uint16(0), uint16(0), uint16(0), uint32(0), offset)
	b = append(b, e.name...)
	return append(b, extra...)
}

// directory is the end of an archive whose entries end at offset at.
func directory(entries []zipEntry, at int64) []byte {
	var b []byte
	for _, e := range entries {
		b = append(b, e.central()...)
	}
	size, n := int64(len(b)), uint16(len(entries))
	start := uint32(min(at, tooLarge))
	if at >= tooLarge {
		b = le(b, uint32(0x06064b50), int64(44), uint16(zip64Version), uint16(zip64Version), uint32(0), uint32(0),
			int64(n), int64(n), size, at)
		b = le(b, uint32(0x07064b50), uint32(0), at+size, uint32(1))
	}
	return le(b, uint32(0x06054b50), uint16(0), uint16(0), n, n, uint32(size), start, uint16(0))
}

// storeEntry writes a whole file without compression.
func storeEntry(w io.Writer, name string, at int64, data []byte) (zipEntry, error) {
	e := zipEntry{name: name, crc: crc32.ChecksumIEEE(data), packed: int64(len(data)), actual: int64(len(data)), offset: at}
	_, err := w.Write(append(e.local(), data...))
	return e, err
}

// joinCRC returns the checksum of a text from those of its two halves, of which the second has n bytes.
// Appending n bytes multiplies the first by x^(8n), modulo the polynomial (Mark Adler's crc32_combine).
func joinCRC(first, second uint32, n int64) uint32 {
	power := uint32(1) << 23 // x^8, in reflected order: the highest bit is x^0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			first = multiplyCRC(first, power)
		}
		power = multiplyCRC(power, power)
	}
	return first ^ second
}

// multiplyCRC multiplies two polynomials modulo that of CRC-32.
func multiplyCRC(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 == 1 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry == 1 {
			b ^= crc32.IEEE
		}
	}
	return product
}

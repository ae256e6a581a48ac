package conformance

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// recordSize is the size of the record of an event.
const recordSize = 13

// A hasher digests records.
type hasher struct {
	hash hash.Hash
	buf  []byte
}

func newHasher() *hasher {
	return &hasher{hash: sha256.New(), buf: make([]byte, 0, 4096*recordSize)}
}

func (h *hasher) add(t int64, x, y uint16, p int8) {
	if len(h.buf) == cap(h.buf) {
		h.flush()
	}
	n := len(h.buf)
	h.buf = h.buf[:n+recordSize]
	r := h.buf[n : n+recordSize : n+recordSize]
	binary.LittleEndian.PutUint16(r[0:], x)
	binary.LittleEndian.PutUint16(r[2:], y)
	r[4] = uint8(p)
	binary.LittleEndian.PutUint64(r[5:], uint64(t))
}

func (h *hasher) flush() {
	h.hash.Write(h.buf)
	h.buf = h.buf[:0]
}

func (h *hasher) sum() string {
	h.flush()
	return hex.EncodeToString(h.hash.Sum(nil))
}

package ecf

import (
	"encoding/binary"
	"slices"
)

// Columns are the events of a block, field by field: what a block is nearest to, and what its reader wants.
type Columns struct {
	T       []int64
	X, Y, P []uint16 // P as stored: 0 or 1 from a block, any int16 from records
}

// Resize makes every column n long; what it holds is not kept.
func (c *Columns) Resize(n int) {
	c.T = slices.Grow(c.T[:0], n)[:n]
	c.X = slices.Grow(c.X[:0], n)[:n]
	c.Y = slices.Grow(c.Y[:0], n)[:n]
	c.P = slices.Grow(c.P[:0], n)[:n]
}

// AppendRecords appends events [lo, hi) as records.
func (c *Columns) AppendRecords(dst []byte, lo, hi int) []byte {
	for i := lo; i < hi; i++ {
		dst = binary.LittleEndian.AppendUint16(dst, c.X[i])
		dst = binary.LittleEndian.AppendUint16(dst, c.Y[i])
		dst = binary.LittleEndian.AppendUint32(dst, uint32(c.P[i]))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(c.T[i]))
	}
	return dst
}

// SetRecords takes the fields of whole records.
func (c *Columns) SetRecords(records []byte) {
	c.Resize(len(records) / RecordSize)
	for i := range c.T {
		r := records[i*RecordSize:][:RecordSize]
		c.T[i] = int64(binary.LittleEndian.Uint64(r[AtT:]))
		c.X[i], c.Y[i], c.P[i] = binary.LittleEndian.Uint16(r[AtX:]), binary.LittleEndian.Uint16(r[AtY:]), binary.LittleEndian.Uint16(r[AtP:])
	}
}

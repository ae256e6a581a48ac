package aedat4

import (
	"encoding/binary"

	"github.com/evq-project/evq/io/event"
)

const (
	blockEvents = 64 // stored events that are taken apart at once
	blockSize   = blockEvents * eventSize
)

// unpack turns stored events {t i64, x i16, y i16, p bool, 3 bytes} into the events of b from the at-th on, and returns
// the bits of all polarities. A block is gone through once for each of few columns, so that all that a pass needs stays in
// registers.
func unpack(b *event.Buffer, at int, in []byte) (seen byte) {
	t, x, y, p := b.T[at:], b.X[at:], b.Y[at:], b.P[at:]
	for len(in) >= blockSize && len(t) >= blockEvents && len(x) >= blockEvents && len(y) >= blockEvents && len(p) >= blockEvents {
		r := (*[blockSize]byte)(in)
		times((*[blockEvents]int64)(t), r)
		pixels((*[blockEvents]uint16)(x), (*[blockEvents]uint16)(y), r)
		seen |= polarities((*[blockEvents]int8)(p), r)
		in, t, x, y, p = in[blockSize:], t[blockEvents:], x[blockEvents:], y[blockEvents:], p[blockEvents:]
	}
	for i := range t {
		r := in[i*eventSize : i*eventSize+eventSize]
		t[i] = int64(binary.LittleEndian.Uint64(r))
		x[i], y[i] = binary.LittleEndian.Uint16(r[8:]), binary.LittleEndian.Uint16(r[10:])
		seen |= r[12]
		p[i] = int8(r[12])
	}
	return seen
}

const turn = 4 * eventSize // bytes of a turn of the loops below

func times(t *[blockEvents]int64, r *[blockSize]byte) {
	for i := 0; i <= blockSize-turn; i += turn {
		k := i / eventSize
		t[k] = int64(binary.LittleEndian.Uint64(r[i:]))
		t[k+1] = int64(binary.LittleEndian.Uint64(r[i+eventSize:]))
		t[k+2] = int64(binary.LittleEndian.Uint64(r[i+2*eventSize:]))
		t[k+3] = int64(binary.LittleEndian.Uint64(r[i+3*eventSize:]))
	}
}

func pixels(x, y *[blockEvents]uint16, r *[blockSize]byte) {
	for i := 0; i <= blockSize-turn; i += turn {
		k := i / eventSize
		x[k], y[k] = pixel(r[i+8:])
		x[k+1], y[k+1] = pixel(r[i+8+eventSize:])
		x[k+2], y[k+2] = pixel(r[i+8+2*eventSize:])
		x[k+3], y[k+3] = pixel(r[i+8+3*eventSize:])
	}
}

func pixel(r []byte) (x, y uint16) {
	v := binary.LittleEndian.Uint32(r)
	return uint16(v), uint16(v >> 16)
}

func polarities(p *[blockEvents]int8, r *[blockSize]byte) (seen byte) {
	for i := 0; i <= blockSize-turn; i += turn {
		k := i / eventSize
		a, b, c, d := r[i+12], r[i+12+eventSize], r[i+12+2*eventSize], r[i+12+3*eventSize]
		seen |= a | b | c | d
		p[k], p[k+1], p[k+2], p[k+3] = int8(a), int8(b), int8(c), int8(d)
	}
	return seen
}

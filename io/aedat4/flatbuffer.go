package aedat4

import (
	"encoding/binary"
	"errors"
)

// errOffset reports a flatbuffer that points outside itself.
var errOffset = errors.New("an offset points outside")

// A table is a flatbuffer's table: at is where in b it starts. Every access is checked; a flatbuffer library would
// trust the bytes.
type table struct {
	b  []byte
	at int
}

// within reports whether n bytes at a position lie in b.
func within(b []byte, at, n int) bool { return at >= 0 && n >= 0 && n <= len(b) && at <= len(b)-n }

// kindOf returns the identifier of a flatbuffer without its size prefix, "" where it is too short.
func kindOf(b []byte) string {
	if len(b) < 8 {
		return ""
	}
	return string(b[4:8])
}

// rootOf returns the root table of a flatbuffer without its size prefix.
func rootOf(b []byte) (table, error) {
	if len(b) < 8 {
		return table{}, errOffset
	}
	return tableAt(b, 0)
}

// tableAt follows the offset stored at a position.
func tableAt(b []byte, at int) (table, error) {
	to, err := follow(b, at)
	if err != nil || !within(b, to, 4) {
		return table{}, errOffset
	}
	return table{b, to}, nil
}

// follow returns where the offset stored at a position points.
func follow(b []byte, at int) (int, error) {
	if !within(b, at, 4) {
		return 0, errOffset
	}
	off := binary.LittleEndian.Uint32(b[at:])
	if uint64(off) > uint64(len(b)-at) {
		return 0, errOffset
	}
	return at + int(off), nil
}

// field returns where the i-th field of size bytes lies, 0 where it is absent.
func (t table) field(i, size int) (int, error) {
	v := t.at - int(int32(binary.LittleEndian.Uint32(t.b[t.at:])))
	if !within(t.b, v, 4) {
		return 0, errOffset
	}
	n := int(binary.LittleEndian.Uint16(t.b[v:]))
	if !within(t.b, v, n) {
		return 0, errOffset
	}
	if 4+2*i+2 > n {
		return 0, nil
	}
	off := int(binary.LittleEndian.Uint16(t.b[v+4+2*i:]))
	if off == 0 {
		return 0, nil
	}
	if !within(t.b, t.at+off, size) {
		return 0, errOffset
	}
	return t.at + off, nil
}

// number returns the i-th field, a signed integer of 1, 4 or 8 bytes.
func (t table) number(i, size int, absent int64) (int64, error) {
	at, err := t.field(i, size)
	if err != nil || at == 0 {
		return absent, err
	}
	switch size {
	case 1:
		return int64(int8(t.b[at])), nil
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(t.b[at:]))), nil
	default:
		return int64(binary.LittleEndian.Uint64(t.b[at:])), nil
	}
}

// vector returns the elements of the i-th field, of size bytes each, and where in the buffer they start.
func (t table) vector(i, size int) (elements []byte, at int, err error) {
	ref, err := t.field(i, 4)
	if err != nil || ref == 0 {
		return nil, 0, err
	}
	if at, err = follow(t.b, ref); err != nil || !within(t.b, at, 4) {
		return nil, 0, errOffset
	}
	n := uint64(binary.LittleEndian.Uint32(t.b[at:])) * uint64(size)
	at += 4
	if n > uint64(len(t.b)-at) {
		return nil, 0, errOffset
	}
	return t.b[at : at+int(n)], at, nil
}

// text returns the i-th field, a string.
func (t table) text(i int) ([]byte, error) {
	b, _, err := t.vector(i, 1)
	return b, err
}

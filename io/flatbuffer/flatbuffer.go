// Package flatbuffer reads flatbuffers of any origin: every offset is checked, so that damaged bytes end in an error and
// never in a panic, and nothing is allocated by a size that they declare.
//
// It knows the encoding and no schema. Source: flatbuffers.dev, "FlatBuffer Internals".
package flatbuffer

import (
	"encoding/binary"
	"errors"
)

// ErrOffset reports a flatbuffer that points outside itself.
var ErrOffset = errors.New("an offset points outside")

// A Table is one table of a flatbuffer.
type Table struct {
	b  []byte
	at int // where in b it starts
}

// within reports whether n bytes at a position lie in b.
func within(b []byte, at, n int) bool { return at >= 0 && n >= 0 && n <= len(b) && at <= len(b)-n }

// Root returns the root table of a flatbuffer without a size prefix.
func Root(b []byte) (Table, error) { return tableAt(b, 0) }

// Kind returns the identifier of a flatbuffer without a size prefix, "" where it is too short.
func Kind(b []byte) string {
	if len(b) < 8 {
		return ""
	}
	return string(b[4:8])
}

// Exists reports whether t is a table: an absent one is the zero Table.
func (t Table) Exists() bool { return t.b != nil }

// tableAt follows the offset stored at a position.
func tableAt(b []byte, at int) (Table, error) {
	to, err := follow(b, at)
	if err != nil || !within(b, to, 4) {
		return Table{}, ErrOffset
	}
	return Table{b, to}, nil
}

// follow returns where the offset stored at a position points.
func follow(b []byte, at int) (int, error) {
	if !within(b, at, 4) {
		return 0, ErrOffset
	}
	off := binary.LittleEndian.Uint32(b[at:])
	if uint64(off) > uint64(len(b)-at) {
		return 0, ErrOffset
	}
	return at + int(off), nil
}

// field returns where the i-th field of size bytes lies, 0 where it is absent.
func (t Table) field(i, size int) (int, error) {
	v := t.at - int(int32(binary.LittleEndian.Uint32(t.b[t.at:])))
	if !within(t.b, v, 4) {
		return 0, ErrOffset
	}
	n := int(binary.LittleEndian.Uint16(t.b[v:]))
	if !within(t.b, v, n) {
		return 0, ErrOffset
	}
	if 4+2*i+2 > n {
		return 0, nil
	}
	off := int(binary.LittleEndian.Uint16(t.b[v+4+2*i:]))
	if off == 0 {
		return 0, nil
	}
	if !within(t.b, t.at+off, size) {
		return 0, ErrOffset
	}
	return t.at + off, nil
}

// Number returns the i-th field, a signed integer of 1, 2, 4 or 8 bytes; absent is its value where the table lacks it.
func (t Table) Number(i, size int, absent int64) (int64, error) {
	at, err := t.field(i, size)
	if err != nil || at == 0 {
		return absent, err
	}
	switch size {
	case 1:
		return int64(int8(t.b[at])), nil
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(t.b[at:]))), nil
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(t.b[at:]))), nil
	default:
		return int64(binary.LittleEndian.Uint64(t.b[at:])), nil
	}
}

// Child returns the i-th field, a table; the zero Table where it is absent.
func (t Table) Child(i int) (Table, error) {
	at, err := t.field(i, 4)
	if err != nil || at == 0 {
		return Table{}, err
	}
	return tableAt(t.b, at)
}

// Vector returns the elements of the i-th field, of size bytes each, and where in the buffer they start.
func (t Table) Vector(i, size int) (elements []byte, at int, err error) {
	ref, err := t.field(i, 4)
	if err != nil || ref == 0 {
		return nil, 0, err
	}
	if at, err = follow(t.b, ref); err != nil || !within(t.b, at, 4) {
		return nil, 0, ErrOffset
	}
	n := uint64(binary.LittleEndian.Uint32(t.b[at:])) * uint64(size)
	at += 4
	if n > uint64(len(t.b)-at) {
		return nil, 0, ErrOffset
	}
	return t.b[at : at+int(n)], at, nil
}

// Text returns the i-th field, a string.
func (t Table) Text(i int) (string, error) {
	b, _, err := t.Vector(i, 1)
	return string(b), err
}

// Tables calls do with the tables of the i-th field, a vector of them, up to most and to the first error of do.
func (t Table) Tables(i, most int, do func(Table) error) error {
	refs, at, err := t.Vector(i, 4)
	if err != nil {
		return err
	}
	for k := 0; k < len(refs)/4 && k < most; k++ {
		child, err := tableAt(t.b, at+4*k)
		if err != nil {
			return err
		}
		if err := do(child); err != nil {
			return err
		}
	}
	return nil
}

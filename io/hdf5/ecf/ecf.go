// Package ecf decodes and encodes blocks of the event compression format of Prophesee's HDF5 files: HDF5 filter
// 36559 (0x8ECF).
//
// A block holds up to 65535 events as four columns: a count and a mode, the times as runs of steps, then y, x and p
// in one of three codings. Outside a block events are records of 16 bytes, as /CD/events stores them: x uint16 at 0,
// y uint16 at 2, p int16 at 4, t int64 at 8, little-endian, times in microseconds. The package knows these bytes and
// nothing of HDF5 files.
package ecf

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Filter is the registered number of the filter.
const Filter = 36559

// RecordSize is the bytes of one event outside a block.
const RecordSize = 16

// MaxEvents is the most events that a block holds.
const MaxEvents = 65535

// Where the fields lie in a record: t has 8 bytes, the others have 2, and 2 are unused.
const (
	AtX = 0
	AtY = 2
	AtP = 4
	AtT = 8
)

const (
	headerSize = 4
	originSize = 8
	escape     = 0xF  // in the high nibble of a time step: more of the step follows
	longT      = 0xF  // runs of times of this length and more are spelled out after the step
	longY      = 0x1F // runs of y
	longP      = 0x7F // runs of p
	maxPixel   = 2047 // coordinates have 11 bits
)

// A mode is how y, x and p are coded.
type mode uint32

const (
	masked   mode = 0 // runs of y, then x with a mask of its five neighbours, then runs of p
	packedXP mode = 1 // runs of y, then x and p in 12 bits
	packed   mode = 2 // y, x and p in 24 bits
)

// ErrDamaged reports bytes that are no block.
var ErrDamaged = errors.New("the ECF block is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// Len returns how many events a block says it holds.
func Len(block []byte) (int, error) {
	if len(block) < headerSize {
		return 0, damaged("%d bytes have no header", len(block))
	}
	n := binary.LittleEndian.Uint32(block) >> 2
	if n > MaxEvents {
		return 0, damaged("it says that it holds %d events; blocks hold at most %d", n, MaxEvents)
	}
	return int(n), nil
}

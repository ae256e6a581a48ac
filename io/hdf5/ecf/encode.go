package ecf

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrValue reports an event that a block cannot hold.
var ErrValue = errors.New("ECF has no place for this event")

// Append encodes records as one block after dst. Times must not go back, coordinates end at 2047 and p is 0 or 1:
// other records, or more than MaxEvents, are an error and dst is returned as it was. The coding of the pixels is the
// one that the first quarter of the events favours.
func Append(dst, records []byte) ([]byte, error) {
	if len(records)%RecordSize != 0 {
		return dst, fmt.Errorf("%d bytes are no whole records of %d", len(records), RecordSize)
	}
	e := encoder{records: records, n: len(records) / RecordSize}
	if e.n > MaxEvents {
		return dst, fmt.Errorf("%d events; a block holds at most %d, so split them", e.n, MaxEvents)
	}
	if err := e.check(); err != nil {
		return dst, err
	}
	return e.append(dst, e.choose()), nil
}

// An encoder reads records by field.
type encoder struct {
	records []byte
	n       int
}

func (e encoder) t(i int) int64 {
	return int64(binary.LittleEndian.Uint64(e.records[i*RecordSize+AtT:]))
}
func (e encoder) y(i int) uint16 { return binary.LittleEndian.Uint16(e.records[i*RecordSize+AtY:]) }
func (e encoder) x(i int) uint16 { return binary.LittleEndian.Uint16(e.records[i*RecordSize+AtX:]) }
func (e encoder) p(i int) uint16 { return binary.LittleEndian.Uint16(e.records[i*RecordSize+AtP:]) }

func (e encoder) check() error {
	for i := range e.n {
		switch x, y, p := e.x(i), e.y(i), e.p(i); {
		case x > maxPixel || y > maxPixel:
			return fmt.Errorf("%w: event %d at x=%d, y=%d; coordinates end at %d", ErrValue, i, x, y, maxPixel)
		case p > 1:
			return fmt.Errorf("%w: event %d has polarity %d; polarities are 0 or 1", ErrValue, i, int16(p))
		case i > 0 && e.t(i) < e.t(i-1):
			return fmt.Errorf("%w: event %d goes back from %d to %d us; sort the events first", ErrValue, i, e.t(i-1), e.t(i))
		case i > 0 && e.t(i)-e.t(i-1) < 0:
			return fmt.Errorf("%w: event %d lies more than 63 bits after the one before; start a block there", ErrValue, i)
		}
	}
	return nil
}

// choose returns the mode that suits the first quarter: packed where few neighbours share a row, masked where many
// x rise by no more than a mask reaches.
func (e encoder) choose() mode {
	most := e.n
	if most >= 16 {
		most = (e.n + 2) / 4
	}
	sameRow, rising := 0, 0
	for i := 1; i < most; i++ {
		if e.y(i) == e.y(i-1) {
			sameRow++
		}
		if x, before := e.x(i), e.x(i-1); x > before && x <= before+5 {
			rising++
		}
	}
	switch {
	case sameRow*5 <= most:
		return packed
	case rising*25 <= 2*most:
		return packedXP
	}
	return masked
}

func (e encoder) append(b []byte, m mode) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(e.n)<<2|uint32(m))
	if e.n == 0 {
		return b
	}
	b = e.times(b)
	if m == packed {
		return e.allPacked(b)
	}
	b = e.rows(b)
	if m == packedXP {
		return e.columnsPacked(b)
	}
	return e.polarities(e.columnsMasked(b))
}

func (e encoder) times(b []byte) []byte {
	now := e.t(0)
	b = binary.LittleEndian.AppendUint64(b, uint64(now))
	for i := 0; i < e.n; {
		step := uint64(e.t(i)) - uint64(now)
		now = e.t(i)
		if step >= escape {
			for ; step > 0; step >>= 4 {
				b = append(b, escape<<4|byte(step&0xF))
			}
		}
		run := 1
		for i+run < e.n && e.t(i+run) == now {
			run++
		}
		if run < longT {
			b = append(b, byte(step)<<4|byte(run))
		} else {
			b = append(b, byte(step)<<4|longT)
			b = binary.LittleEndian.AppendUint16(b, uint16(run))
		}
		i += run
	}
	return b
}

func (e encoder) rows(b []byte) []byte {
	for i := 0; i < e.n; {
		run := 1
		for i+run < e.n && e.y(i+run) == e.y(i) {
			run++
		}
		if run < longY {
			b = binary.LittleEndian.AppendUint16(b, e.y(i)<<5|uint16(run))
		} else {
			b = binary.LittleEndian.AppendUint16(b, e.y(i)<<5|longY)
			b = binary.LittleEndian.AppendUint16(b, uint16(run))
		}
		i += run
	}
	return b
}

func (e encoder) columnsMasked(b []byte) []byte {
	for i := 0; i < e.n; {
		x, mask := e.x(i), uint16(0)
		i++
		for j := range uint16(5) {
			if i < e.n && e.x(i) == x+j+1 {
				mask |= 0x10 >> j
				i++
			}
		}
		b = binary.LittleEndian.AppendUint16(b, x<<5|mask)
	}
	return b
}

func (e encoder) polarities(b []byte) []byte {
	for i := 0; i < e.n; {
		run := 1
		for i+run < e.n && e.p(i+run) == e.p(i) {
			run++
		}
		if run < longP {
			b = append(b, byte(e.p(i)<<7)|byte(run))
		} else {
			b = append(b, byte(e.p(i)<<7)|longP)
			b = binary.LittleEndian.AppendUint16(b, uint16(run))
		}
		i += run
	}
	return b
}

// pixels returns event i as the packed modes have it; beyond the last event it is 0.
func (e encoder) pixels(i int) uint32 {
	if i >= e.n {
		return 0
	}
	return uint32(e.y(i))<<12 | uint32(e.x(i))<<1 | uint32(e.p(i))
}

func (e encoder) columnsPacked(b []byte) []byte {
	for i := 0; i < e.n; i += 4 {
		v0, v1, v2, v3 := e.pixels(i)&0xFFF, e.pixels(i+1)&0xFFF, e.pixels(i+2)&0xFFF, e.pixels(i+3)&0xFFF
		for _, w := range [3]uint32{v0<<4 | v1&0xF, v1>>4<<8 | v2&0xFF, v2>>8<<12 | v3} {
			b = binary.LittleEndian.AppendUint16(b, uint16(w))
		}
	}
	return b
}

func (e encoder) allPacked(b []byte) []byte {
	for i := 0; i < e.n; i += 4 {
		v0, v1, v2, v3 := e.pixels(i), e.pixels(i+1), e.pixels(i+2), e.pixels(i+3)
		for _, w := range [3]uint32{v0<<8 | v1&0xFF, v1>>8<<16 | v2&0xFFFF, v2>>16<<24 | v3} {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
	}
	return b
}

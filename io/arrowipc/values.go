package arrowipc

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A valueError is one value that no event can have.
type valueError struct {
	row int
	msg string
}

func (e *valueError) Error() string { return e.msg }

func bad(row int, format string, args ...any) error {
	return &valueError{row, fmt.Sprintf(format, args...)}
}

// widen reads values as int64; an unsigned one of 2^63 or more comes out negative.
func (c column) widen(dst []int64, raw []byte) {
	switch {
	case c.bits == 1:
		for i := range dst {
			dst[i] = int64(raw[i/8] >> (i % 8) & 1)
		}
	case c.bits == 64:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	case c.bits == 32 && c.signed:
		for i := range dst {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	case c.bits == 32:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case c.bits == 16 && c.signed:
		for i := range dst {
			dst[i] = int64(int16(binary.LittleEndian.Uint16(raw[2*i:])))
		}
	case c.bits == 16:
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	case c.signed:
		for i := range dst {
			dst[i] = int64(int8(raw[i]))
		}
	default:
		for i := range dst {
			dst[i] = int64(raw[i])
		}
	}
}

// toMicros turns times into microseconds, rounded half to even.
func (u unit) toMicros(v []int64, unsigned bool) error {
	for i, t := range v {
		switch {
		case unsigned && t < 0:
			return bad(i, "%d is beyond 2^63-1; the column is damaged or not a time", uint64(t))
		case u.micros == 0:
			v[i] = perMicro(t, u.perMicro)
		case t > math.MaxInt64/u.micros || t < math.MinInt64/u.micros:
			return bad(i, "%d %s is beyond what 64 bits of microseconds hold; give the right --time-unit", t, u.name)
		default:
			v[i] = t * u.micros
		}
	}
	return nil
}

// perMicro divides, rounded half to even.
func perMicro(v, n int64) int64 {
	q, r := v/n, v%n
	if r < 0 {
		q, r = q-1, r+n
	}
	if 2*r > n || 2*r == n && q&1 != 0 {
		q++
	}
	return q
}

// coordinates turns whole numbers into coordinates. Negative ones lie off every sensor, as 65535.
func (c column) coordinates(dst []uint16, v []int64) (negative bool, err error) {
	for i, n := range v {
		if uint64(n) > math.MaxUint16 {
			if n >= 0 || !c.signed {
				return negative, bad(i, "%d is beyond 65535, which no sensor reaches; scale coordinates first", uint64(n))
			}
			negative, n = true, math.MaxUint16
		}
		dst[i] = uint16(n)
	}
	return negative, nil
}

// polarities turns whole numbers into 0 = OFF and 1 = ON. It returns how many were stored otherwise, which was the
// first, and whether one was a -1 in an unsigned column.
func (c column) polarities(dst []int8, v []int64, rule string) (n, first int, unsigned bool, err error) {
	minus := int64(-1)
	if !c.signed && c.bits < 64 {
		minus = 1<<c.bits - 1
	}
	for i, p := range v {
		switch {
		case p == 1, p == 0 && rule != "pm1":
			dst[i] = int8(p)
			continue
		case rule == "nonzero":
			dst[i] = 1
		case p == minus && rule != "01":
			dst[i] = 0
			unsigned = unsigned || !c.signed
		default:
			return n, first, unsigned, bad(i, "%d is no polarity of the encoding; use --polarity-encoding auto (0, 1 or -1) or nonzero", p)
		}
		if n == 0 {
			first = i
		}
		n++
	}
	return n, first, unsigned, nil
}

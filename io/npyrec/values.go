package npyrec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/evq-project/evq/io/npy"
)

// A unit is one in which times are kept; perMicro and micros say how it becomes microseconds.
type unit struct {
	name     string
	micros   int64 // of one unit, or 0
	perMicro int64 // units in a microsecond, or 0
}

var units = []unit{{"us", 1, 1}, {"s", 1e6, 0}, {"ms", 1e3, 0}, {"ns", 0, 1e3}}

// unitOf returns the unit of times of a type: the caller's, or what the type says.
func unitOf(f npy.Field, name string) (unit, error) {
	if name == "" || name == "auto" {
		switch f.Kind {
		case 'f':
			return unit{}, errors.New("times are floating-point numbers, which say no unit; give --time-unit s, ms, us or ns")
		case 'm', 'M':
			_, in, _ := strings.Cut(f.Descr, "[")
			name = strings.TrimSuffix(in, "]")
		default:
			name = "us"
		}
	}
	for _, u := range units {
		if u.name == name {
			return u, nil
		}
	}
	return unit{}, fmt.Errorf("times in %q are not read; give --time-unit s, ms, us or ns", name)
}

// numeric refuses types that hold no numbers.
func numeric(f npy.Field, role int) error {
	switch {
	case strings.IndexByte("iu", f.Kind) >= 0 && (f.Size == 1 || f.Size == 2 || f.Size == 4 || f.Size == 8):
	case f.Kind == 'b' && f.Size == 1 && role == roleP:
	case f.Kind == 'f' && (f.Size == 4 || f.Size == 8):
	case strings.IndexByte("mM", f.Kind) >= 0 && f.Size == 8 && role == roleT:
	default:
		return fmt.Errorf("%w: values of type %q are not read; save them as integers or as floats of 4 or 8 bytes", ErrLayout, f.Descr)
	}
	return nil
}

// ints widens n values of an integer type to int64; an unsigned one of 2^63 or more comes out negative.
func (s *series) ints(dst []int64, raw []byte) {
	var order binary.ByteOrder = binary.LittleEndian
	if s.field.Big {
		order = binary.BigEndian
	}
	signed := s.field.Kind != 'u' && s.field.Kind != 'b'
	for i, at := 0, 0; i < len(dst); i, at = i+1, at+s.step {
		switch b := raw[at:]; {
		case s.field.Size == 8:
			dst[i] = int64(order.Uint64(b))
		case s.field.Size == 4 && signed:
			dst[i] = int64(int32(order.Uint32(b)))
		case s.field.Size == 4:
			dst[i] = int64(order.Uint32(b))
		case s.field.Size == 2 && signed:
			dst[i] = int64(int16(order.Uint16(b)))
		case s.field.Size == 2:
			dst[i] = int64(order.Uint16(b))
		case signed:
			dst[i] = int64(int8(b[0]))
		default:
			dst[i] = int64(b[0])
		}
	}
}

// A valueError is one value that no event can have.
type valueError struct {
	index int
	msg   string
}

func (e *valueError) Error() string { return e.msg }

func bad(i int, format string, args ...any) error {
	return &valueError{i, fmt.Sprintf(format, args...)}
}

// float returns value i of a floating type.
func (s *series) float(raw []byte, i int) float64 {
	var order binary.ByteOrder = binary.LittleEndian
	if s.field.Big {
		order = binary.BigEndian
	}
	if b := raw[i*s.step:]; s.field.Size == 8 {
		return math.Float64frombits(order.Uint64(b))
	}
	return float64(math.Float32frombits(order.Uint32(raw[i*s.step:])))
}

// whole reads values of any type as whole numbers.
func (s *series) whole(dst []int64, raw []byte) error {
	if s.field.Kind != 'f' {
		s.ints(dst, raw)
		return nil
	}
	for i := range dst {
		v := s.float(raw, i)
		if v != math.Trunc(v) || v < -1<<62 || v > 1<<62 {
			return bad(i, "%v is not a whole number; scale and round coordinates first", v)
		}
		dst[i] = int64(v)
	}
	return nil
}

// times reads times in microseconds, rounded half to even.
func (s *series) times(dst []int64, raw []byte, u unit) error {
	if s.field.Kind == 'f' {
		return s.floatTimes(dst, raw, u)
	}
	s.ints(dst, raw)
	for i, v := range dst {
		switch {
		case s.field.Kind == 'u' && v < 0:
			return bad(i, "%d is beyond 2^63-1; the column is damaged or not a time", uint64(v))
		case s.field.Kind != 'i' && s.field.Kind != 'u' && v == math.MinInt64:
			return bad(i, "it is not a time (NaT)")
		case u.micros == 1:
		case u.micros == 0:
			dst[i] = perMicro(v, u.perMicro)
		case v > math.MaxInt64/u.micros || v < math.MinInt64/u.micros:
			return bad(i, "%d %s is beyond what 64 bits of microseconds hold; give the right --time-unit", v, u.name)
		default:
			dst[i] = v * u.micros
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

func (s *series) floatTimes(dst []int64, raw []byte, u unit) error {
	for i := range dst {
		v := s.float(raw, i)
		micros := v * float64(u.micros)
		if u.micros == 0 {
			micros = v / float64(u.perMicro)
		}
		switch r := math.RoundToEven(micros); {
		case !(r >= -1<<63 && r < 1<<63):
			return bad(i, "%v %s is beyond what 64 bits of microseconds hold; give the right --time-unit", v, u.name)
		case u.micros == 1 && r != v:
			return bad(i, "%v is not a whole number of microseconds; if times are in seconds, give --time-unit s", v)
		default:
			dst[i] = int64(r)
		}
	}
	return nil
}

// coordinates turns whole numbers into coordinates. Negative ones lie off every sensor, as 65535.
func coordinates(dst []uint16, v []int64) (negative bool, err error) {
	for i, c := range v {
		if uint64(c) > math.MaxUint16 {
			if c >= 0 {
				return negative, bad(i, "%d is beyond 65535, which no sensor reaches; scale coordinates first", c)
			}
			negative, c = true, math.MaxUint16
		}
		dst[i] = uint16(c)
	}
	return negative, nil
}

// A polarityRule is what --polarity-encoding allows.
type polarityRule uint8

const (
	polarityAuto polarityRule = iota
	polarity01
	polarityPM1
	polarityNonzero
)

func polarityByName(name string) (polarityRule, error) {
	for i, s := range []string{"auto", "01", "pm1", "nonzero"} {
		if s == name {
			return polarityRule(i), nil
		}
	}
	return 0, fmt.Errorf("the polarity encoding is one of auto, 01, pm1, nonzero, not %q", name)
}

// polarities turns whole numbers into 0 = OFF and 1 = ON. It returns how many were stored otherwise, which was the
// first, and whether one was a -1 in an unsigned column.
func (s *series) polarities(dst []int8, v []int64, rule polarityRule) (n, first int, unsigned bool, err error) {
	minus := int64(-1)
	if s.field.Kind == 'u' && s.field.Size < 8 {
		minus = 1<<(8*s.field.Size) - 1
	}
	for i, p := range v {
		switch {
		case p == 1, p == 0 && rule != polarityPM1:
			dst[i] = int8(p)
			continue
		case rule == polarityNonzero:
			dst[i] = 1
		case p == minus && rule != polarity01:
			dst[i] = 0
			unsigned = unsigned || s.field.Kind == 'u'
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

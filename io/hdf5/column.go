package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"github.com/evq-project/evq/io/event"
)

// An elem is how a column stores its numbers.
type elem struct {
	size   int // bytes: 1, 2, 4 or 8
	signed bool
	big    bool // big-endian
	bool   bool
	float  bool // of 4 or 8 bytes
}

// String returns the type as NumPy writes it, such as <u4.
func (e elem) String() string {
	if e.bool {
		return "bool"
	}
	order, kind := "<", "u"
	if e.big {
		order = ">"
	}
	if e.size == 1 {
		order = "|"
	}
	switch {
	case e.float:
		kind = "f"
	case e.signed:
		kind = "i"
	}
	return order + kind + strconv.Itoa(e.size)
}

// polarity names the encodings that a column of the type can hold.
func (e elem) polarity() string {
	switch {
	case e.bool:
		return "bool"
	case e.signed:
		return "0/1 or -1/1"
	}
	return "0/1"
}

// at returns element i. An unsigned value of 2^63 or more comes out negative.
func (e elem) at(b []byte, i int) int64 {
	var order binary.ByteOrder = binary.LittleEndian
	if e.big {
		order = binary.BigEndian
	}
	b = b[i*e.size:]
	var v uint64
	switch e.size {
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(order.Uint16(b))
	case 4:
		v = uint64(order.Uint32(b))
	default:
		return int64(order.Uint64(b))
	}
	if e.signed {
		shift := 64 - 8*e.size
		return int64(v<<shift) >> shift
	}
	return int64(v)
}

// A column is one dataset of events: its name, its type, and what its values met so far.
type column struct {
	name string // with the path
	elem elem
}

func (c column) bad(index int64, v int64, msg string) error {
	text := strconv.FormatInt(v, 10)
	if !c.elem.signed {
		text = strconv.FormatUint(uint64(v), 10)
	}
	return &ValueError{Dataset: c.name, Index: index, Value: text, Msg: msg}
}

// times converts stored times and adds the recording's offset. first is the index of the first element.
func (c column) times(dst []int64, src []byte, offset, first int64) error {
	c.storedTimes(dst, src)
	return c.timesFrom(dst, offset, first)
}

// storedTimes converts times as they are stored.
func (c column) storedTimes(dst []int64, src []byte) {
	src = src[:len(dst)*c.elem.size]
	switch {
	case c.elem == elem{size: 4}:
		widen(dst, src)
	case c.elem.size == 8 && !c.elem.big && littleHost && len(dst) > 0:
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 8*len(dst)), src)
	default:
		for i := range dst {
			dst[i] = c.elem.at(src, i)
		}
	}
}

// timesFrom checks stored times and adds the offset.
func (c column) timesFrom(dst []int64, offset, first int64) error {
	if c.elem.size == 8 && !c.elem.signed {
		for i, t := range dst {
			if t < 0 {
				return c.bad(first+int64(i), t, "times end at 2^63-1 µs; the column is damaged or not a time")
			}
		}
	}
	return c.shift(dst, offset, first)
}

// shift adds the recording's offset to times.
func (c column) shift(dst []int64, offset, first int64) error {
	if offset == 0 {
		return nil
	}
	for i, t := range dst {
		if (offset > 0 && t > math.MaxInt64-offset) || (offset < 0 && t < math.MinInt64-offset) {
			return c.bad(first+int64(i), t, fmt.Sprintf("with t_offset %d it passes 64 bits; the column is damaged or not a time", offset))
		}
		dst[i] = t + offset
	}
	return nil
}

// widen converts little-endian unsigned 32-bit times, four at a turn.
func widen(dst []int64, src []byte) {
	for len(dst) >= 4 && len(src) >= 16 {
		a, b := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
		dst[0], dst[1], dst[2], dst[3] = int64(a&math.MaxUint32), int64(a>>32), int64(b&math.MaxUint32), int64(b>>32)
		dst, src = dst[4:], src[16:]
	}
	for i := range dst {
		dst[i] = int64(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

// littleHost says that the machine's own order of bytes is the file's.
var littleHost = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// copyUint16 converts little-endian unsigned 16-bit coordinates.
func copyUint16(dst []uint16, src []byte) {
	if littleHost && len(dst) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 2*len(dst)), src)
		return
	}
	for i := range dst {
		dst[i] = binary.LittleEndian.Uint16(src[2*i:])
	}
}

// offEverySensor is what a negative coordinate is read as, so that the policy for off-sensor events meets it.
const offEverySensor = math.MaxUint16

// coordinates converts pixels and returns how many were negative.
func (c column) coordinates(dst []uint16, src []byte, first int64) (negative int64, err error) {
	src = src[:len(dst)*c.elem.size]
	switch c.elem {
	case elem{size: 2}:
		copyUint16(dst, src)
		return 0, nil
	case elem{size: 2, signed: true}:
		for i := range dst {
			v := int16(binary.LittleEndian.Uint16(src[2*i:]))
			if v < 0 {
				v = -1
				negative++
			}
			dst[i] = uint16(v)
		}
		return negative, nil
	}
	for i := range dst {
		v := c.elem.at(src, i)
		switch {
		case c.elem.signed && v < 0:
			v = offEverySensor
			negative++
		case uint64(v) > math.MaxUint16:
			return 0, c.bad(first+int64(i), v, "coordinates end at 65535; scale and round them first, or --swap-xy and t were mixed up")
		}
		dst[i] = uint16(v)
	}
	return negative, nil
}

// A polarityRule is the encoding that the caller allows.
type polarityRule uint8

const (
	polarityAuto    polarityRule = iota // 0, 1, -1, and -1 stored without a sign
	polarity01                          // 0, 1
	polarityPM1                         // -1, 1
	polarityNonzero                     // 0 is OFF, all else is ON
)

func parsePolarity(word string) (polarityRule, error) {
	switch word {
	case "", "auto":
		return polarityAuto, nil
	case "01":
		return polarity01, nil
	case "pm1":
		return polarityPM1, nil
	case "nonzero":
		return polarityNonzero, nil
	}
	return 0, fmt.Errorf("polarity encoding is one of auto, 01, pm1, nonzero, not %q", word)
}

// A remap counts polarities that are stored otherwise than as 0 and 1.
type remap struct {
	n, first int64
	unsigned bool // some were -1 without a sign
}

func (r *remap) add(o remap) {
	if r.n == 0 {
		r.first = o.first
	}
	r.n += o.n
	r.unsigned = r.unsigned || o.unsigned
}

// count tells the report.
func (r remap) count(c column, rep *event.Report) {
	if r.n == 0 {
		return
	}
	rep.Count(event.RemappedPolarity, r.n, r.first)
	if r.unsigned {
		rep.Note("%s holds %d in an unsigned column: -1 without its sign, read as OFF.", c.name, c.elem.allOnes())
	}
}

// allOnes is -1 as an unsigned column stores it.
func (e elem) allOnes() uint64 { return math.MaxUint64 >> (64 - 8*e.size) }

// polarities converts to 0 = OFF and 1 = ON.
func (c column) polarities(dst []int8, src []byte, rule polarityRule, first int64) (remap, error) {
	src = src[:len(dst)*c.elem.size]
	if rule != polarityPM1 && c.plain(dst, src) {
		return remap{}, nil
	}
	var r remap
	minus := int64(-1)
	if !c.elem.signed {
		minus = int64(c.elem.allOnes())
	}
	for i := range dst {
		v := c.elem.at(src, i)
		at := first + int64(i)
		switch {
		case v == 1, v == 0 && rule != polarityPM1:
			dst[i] = int8(v)
			continue
		case rule == polarityNonzero:
			dst[i] = 1
		case v == minus && rule != polarity01:
			dst[i] = 0
			r.unsigned = r.unsigned || !c.elem.signed
		default:
			return r, c.bad(at, v, polarityHelp(rule))
		}
		if r.n == 0 {
			r.first = at
		}
		r.n++
	}
	return r, nil
}

func polarityHelp(rule polarityRule) string {
	switch rule {
	case polarity01:
		return "polarities are 0 or 1; use --polarity-encoding auto or nonzero"
	case polarityPM1:
		return "polarities are -1 or 1; use --polarity-encoding auto or nonzero"
	}
	return "polarities are 0, 1 or -1; use --polarity-encoding nonzero"
}

// plain copies polarities that are all stored as 0 or 1, where the type has a fast way; elsewhere, or where one is not, it
// returns false.
func (c column) plain(dst []int8, src []byte) bool {
	switch {
	case c.elem.size == 1:
		return plain01(dst, src)
	case c.elem.size == 2 && !c.elem.big:
		return plain01Wide(dst, src)
	}
	return false
}

// plain01 copies polarities that are all 0 or 1; where one is not it returns false.
func plain01(dst []int8, src []byte) bool {
	var seen uint64
	rest := src
	for len(rest) >= 32 {
		seen |= binary.LittleEndian.Uint64(rest) | binary.LittleEndian.Uint64(rest[8:]) |
			binary.LittleEndian.Uint64(rest[16:]) | binary.LittleEndian.Uint64(rest[24:])
		rest = rest[32:]
	}
	for _, b := range rest {
		seen |= uint64(b)
	}
	if seen&^0x0101010101010101 != 0 {
		return false
	}
	if len(dst) > 0 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), len(dst)), src)
	}
	return true
}

// plain01Wide is plain01 of polarities that are stored in two bytes, the lower one first.
func plain01Wide(dst []int8, src []byte) bool {
	var seen uint64
	out := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst))
	for len(src) >= 8 && len(out) >= 4 {
		v := binary.LittleEndian.Uint64(src)
		seen |= v
		v = (v | v>>8) & 0x0000FFFF0000FFFF // two bytes of two polarities each
		binary.LittleEndian.PutUint32(out, uint32(v|v>>16))
		src, out = src[8:], out[4:]
	}
	for i := range out {
		seen |= uint64(binary.LittleEndian.Uint16(src[2*i:]))
		out[i] = src[2*i]
	}
	return seen&^0x0001000100010001 == 0
}

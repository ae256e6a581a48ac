package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// A timeUnit is what times are stored in: 10^exp us.
type timeUnit struct {
	name string
	exp  int
}

var (
	microseconds = timeUnit{"us", 0}
	seconds      = timeUnit{"s", 6}
)

// parseUnit returns the unit that a word names; none for auto.
func parseUnit(word string) (u timeUnit, given bool, err error) {
	switch word {
	case "", "auto":
		return timeUnit{}, false, nil
	case "s":
		return seconds, true, nil
	case "ms":
		return timeUnit{"ms", 3}, true, nil
	case "us":
		return microseconds, true, nil
	case "ns":
		return timeUnit{"ns", -3}, true, nil
	}
	return timeUnit{}, false, fmt.Errorf("the unit of time is one of auto, s, ms, us, ns, not %q", word)
}

// unitOf returns the unit of a column of times by its type: seconds for floats, microseconds for integers.
func unitOf(e elem) timeUnit {
	if e.float {
		return seconds
	}
	return microseconds
}

var powers = [...]int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}

// scaled returns v in microseconds, rounded half to even; false where it passes 64 bits.
func (u timeUnit) scaled(v int64) (int64, bool) {
	if u.exp >= 0 {
		k := powers[u.exp]
		return v * k, v <= math.MaxInt64/k && v >= math.MinInt64/k
	}
	k := powers[-u.exp]
	q, r := v/k, v%k
	switch twice := 2 * max(r, -r); {
	case twice < k, twice == k && q&1 == 0:
	case v < 0:
		q--
	default:
		q++
	}
	return q, true
}

// micros returns v in microseconds: the shortest decimal that reads back as v, which is what its writer meant, rounded
// half to even. bits are those of the type it is stored in, 32 or 64. False: it is no number, or passes 64 bits.
func (u timeUnit) micros(v float64, bits int) (int64, bool) {
	scale, ulp := math.Pow10(u.exp), 0x1p-53
	if bits == 32 {
		ulp = 0x1p-24
	}
	var product, rest float64 // together the exact product, or all but
	if u.exp >= 0 {
		product = v * scale
		rest = math.FMA(v, scale, -product)
	} else {
		by := float64(powers[-u.exp])
		product = v / by
		rest = math.FMA(-product, by, v) / by
	}
	size := math.Abs(product)
	if !(size < 1<<63) {
		return 0, false
	}
	whole := math.RoundToEven(product)
	d := product - whole + rest
	// Between v and its shortest decimal lies half a unit of its last place at most: only near a tie does that matter.
	if size >= 1<<52 || math.Abs(math.Abs(d)-0.5) <= 1.01*ulp*size+1e-12 {
		return u.decimal(v, bits)
	}
	switch {
	case d > 0.5:
		whole++
	case d < -0.5:
		whole--
	}
	return int64(whole), true
}

// decimal is micros by way of the digits of v, which must be finite.
func (u timeUnit) decimal(v float64, bits int) (int64, bool) {
	var b [32]byte
	digits, exp, negative := uint64(0), u.exp, false
	text := strconv.AppendFloat(b[:0], v, 'e', -1, bits)
	point := false
	for i, c := range text {
		switch c {
		case '-':
			negative = true
		case '.':
			point = true
		case 'e':
			e, err := strconv.Atoi(string(text[i+1:]))
			if err != nil {
				return 0, false
			}
			exp += e
		default:
			digits = digits*10 + uint64(c-'0')
			if point {
				exp--
			}
		}
		if c == 'e' {
			break
		}
	}
	digits, ok := shifted(digits, exp)
	if !ok || digits > math.MaxInt64 {
		return 0, false
	}
	if negative {
		return -int64(digits), true
	}
	return int64(digits), true
}

// shifted returns v * 10^exp, rounded half to even.
func shifted(v uint64, exp int) (uint64, bool) {
	for ; exp > 0 && v > 0; exp-- {
		if v > math.MaxUint64/10 {
			return 0, false
		}
		v *= 10
	}
	if exp < -19 { // v has 17 digits
		return 0, true
	}
	if exp >= 0 {
		return v, true
	}
	k := uint64(1)
	for ; exp < 0; exp++ {
		k *= 10
	}
	q, r := v/k, v%k
	if r > k-r || r == k-r && q&1 == 1 {
		q++
	}
	return q, true
}

// number returns float i of a column.
func (e elem) number(b []byte, i int) float64 {
	var order binary.ByteOrder = binary.LittleEndian
	if e.big {
		order = binary.BigEndian
	}
	if e.size == 4 {
		return float64(math.Float32frombits(order.Uint32(b[4*i:])))
	}
	return math.Float64frombits(order.Uint64(b[8*i:]))
}

func (c column) badNumber(index int64, v float64, msg string) error {
	return &ValueError{Dataset: c.name, Index: index, Value: strconv.FormatFloat(v, 'g', -1, 8*c.elem.size), Msg: msg}
}

// timesIn converts times of any unit and type and adds the offset: as stored for integers, in microseconds for floats.
func (c column) timesIn(u timeUnit, dst []int64, src []byte, offset, first int64) error {
	if c.elem.float {
		for i := range dst {
			v := c.elem.number(src, i)
			t, ok := u.micros(v, 8*c.elem.size)
			if !ok {
				return c.badNumber(first+int64(i), v, "it is no time, or passes 64 bits in us; correct it, or give the right --time-unit")
			}
			dst[i] = t
		}
		return c.shift(dst, offset, first)
	}
	c.storedTimes(dst, src)
	return c.timesOf(u, dst, offset, first)
}

// timesOf checks whole numbers that are stored as times, and adds the offset and changes the unit.
func (c column) timesOf(u timeUnit, dst []int64, offset, first int64) error {
	if err := c.timesFrom(dst, offset, first); err != nil || u == microseconds {
		return err
	}
	for i, v := range dst {
		t, ok := u.scaled(v)
		if !ok {
			return c.bad(first+int64(i), v, "it passes 64 bits in us; give the right --time-unit")
		}
		dst[i] = t
	}
	return nil
}

// wholeNumbers converts floats, which must be whole, to little-endian int64 in dst.
func (c column) wholeNumbers(dst, src []byte, first int64) error {
	for i := range len(dst) / 8 {
		v := c.elem.number(src, i)
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return c.badNumber(first+int64(i), v, "it is no whole number; scale and round coordinates first")
		}
		binary.LittleEndian.PutUint64(dst[8*i:], uint64(int64(v)))
	}
	return nil
}

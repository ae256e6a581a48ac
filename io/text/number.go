package text

import "math/bits"

// A decimal is a number as it is written: (-1)^neg * digits * 10^exp, and a little more where sticky is set because it
// has more digits than fit.
type decimal struct {
	neg     bool
	sticky  bool
	digits  uint64
	exp     int
	pointed bool // it has a decimal point or an exponent
}

// most is how large digits may become before further digits are only remembered as sticky.
const most = (1<<64 - 10) / 10

// parseDecimal reads a whole field: a sign, digits with at most one point, and an exponent.
func parseDecimal(s []byte) (d decimal, ok bool) {
	i := 0
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		d.neg, i = s[0] == '-', 1
	}
	seen := false
	for ; i < len(s); i++ {
		c := s[i] - '0'
		switch {
		case s[i] == '.' && !d.pointed:
			d.pointed = true
			continue
		case c > 9:
			if !seen || s[i] != 'e' && s[i] != 'E' {
				return d, false
			}
			d.pointed = true
			e, ok := parseExponent(s[i+1:])
			d.exp += e
			return d, ok
		}
		seen = true
		d.digit(c)
	}
	return d, seen
}

// digit adds one digit behind those there are.
func (d *decimal) digit(c byte) {
	switch {
	case d.digits < most:
		d.digits = d.digits*10 + uint64(c)
		if d.pointed {
			d.exp--
		}
	default:
		d.sticky = d.sticky || c != 0
		if !d.pointed {
			d.exp++
		}
	}
}

// parseExponent reads what follows the e. An exponent beyond any use is held at a bound.
func parseExponent(s []byte) (e int, ok bool) {
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	for _, c := range s {
		if c -= '0'; c > 9 {
			return 0, false
		}
		e = min(e*10+int(c), 1<<20)
	}
	if neg {
		e = -e
	}
	return e, len(s) > 0
}

var powers = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// scaled returns d * 10^shift rounded half to even. exact says that nothing was rounded; ok that it fits.
func (d decimal) scaled(shift int) (v int64, exact, ok bool) {
	shift += d.exp
	u, exact := d.digits, !d.sticky
	switch {
	case u == 0:
	case shift >= len(powers):
		return 0, false, false
	case shift >= 0:
		hi, lo := bits.Mul64(u, powers[shift])
		if hi != 0 || d.sticky {
			return 0, false, false
		}
		u = lo
	case shift <= -len(powers):
		u, exact = 0, false // below 2^64 / 10^20 = 0.18
	default:
		u, exact = divide(u, powers[-shift], d.sticky)
	}
	if d.neg {
		return -int64(u), exact, u <= 1<<63
	}
	return int64(u), exact, u < 1<<63
}

// divide returns u/by rounded half to even, where more says that u is a little more than it is.
func divide(u, by uint64, more bool) (q uint64, exact bool) {
	q, r := u/by, u%by
	half := by / 2
	if r > half || r == half && (more || q&1 == 1) {
		return q + 1, false
	}
	return q, r == 0 && !more
}

// whole returns d where it is a whole number that fits.
func (d decimal) whole() (v int64, ok bool) {
	v, exact, ok := d.scaled(0)
	return v, exact && ok
}

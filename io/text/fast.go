package text

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/evq-project/evq/io/event"
)

// mostDigits is how many digits always fit in an int64.
const mostDigits = 18

// fast reads lines of plain numbers for as long as there are no others and b has room: digits, a sign, a point within
// the time, single separators or runs of spaces. It returns the bytes it took. lines ends with the end of a line, so
// that no index can leave it before a line's own end is seen. It is one function because a call for each line or field
// costs a fifth of its speed.
func (d *decoder) fast(b *event.Buffer, lines []byte) int {
	var (
		n      = b.Len()
		limit  = b.Cap()
		bt, bx = b.T[:limit], b.X[:limit]
		by, bp = b.Y[:limit], b.P[:limit]
		roles  = d.roles
		sep    = d.sep
		done   int
	)
	for n < limit && done < len(lines) {
		i := done
		var t int64
		var x, y, p uint64
		var minus bool // the polarity is -1
		for k, r := range roles {
			c := lines[i]
			for c == ' ' || c == '\t' && sep == ' ' {
				i++
				c = lines[i]
			}
			neg := c == '-'
			if neg {
				i++
			}
			if i+8 > len(lines) {
				goto other
			}
			v, digits := digits8(binary.LittleEndian.Uint64(lines[i:]))
			if digits == 8 {
				v, digits = longer(lines[i:], v)
			}
			i += digits
			decimals := 0
			if r == roleT && lines[i] == '.' && d.unit.shift != 0 {
				if i++; i+8 > len(lines) {
					goto other
				}
				var u uint64
				u, decimals = digits8(binary.LittleEndian.Uint64(lines[i:]))
				if decimals == 8 {
					u, decimals = longer(lines[i:], u)
				}
				if digits += decimals; digits <= mostDigits {
					v = v*powers[decimals] + u
				}
				i += decimals
			}
			if digits == 0 || digits > mostDigits {
				goto other
			}
			switch c = lines[i]; {
			case k == len(roles)-1:
				if c == '\r' {
					i++
					c = lines[i]
				}
				if c != '\n' {
					goto other
				}
				i++
			case c == sep || sep == ' ' && c == '\t':
				i++
			default:
				goto other
			}
			switch r {
			case roleT:
				s, ok := micros(v, digits, d.unit.shift-decimals)
				if !ok {
					goto other
				}
				if t = s; neg {
					t = -s
				}
			case roleX, roleY:
				if neg || v > math.MaxUint16 {
					goto other
				}
				if r == roleX {
					x = v
				} else {
					y = v
				}
			case roleP:
				if v > 1 || d.polarity != polarityAuto && (neg || d.polarity != polarity01) {
					goto other
				}
				p, minus = v, neg && v == 1
			}
		}
		if minus {
			p = 0
			d.rep.Count(event.RemappedPolarity, 1, d.at+int64(done))
		}
		bt[n], bx[n], by[n], bp[n] = t, uint16(x), uint16(y), int8(p)
		n++
		done = i
		d.line++
	}
other:
	if n > b.Len() {
		d.damage.end(d.rep)
	}
	b.Resize(n)
	return done
}

// micros returns v * 10^shift rounded half to even, where v has that many digits; ok is false where it may not fit.
func micros(v uint64, digits, shift int) (int64, bool) {
	switch {
	case shift == 0:
		return int64(v), true
	case shift == -3: // nanoseconds in all: the compiler divides by a constant
		q, r := v/1000, v%1000
		if r > 500 || r == 500 && q&1 == 1 {
			q++
		}
		return int64(q), true
	case shift < 0:
		q, _ := divide(v, powers[-shift], false)
		return int64(q), true
	case digits+shift > mostDigits:
		return 0, false
	}
	return int64(v * powers[shift]), true
}

// digits8 reads the digits that eight bytes, the first in the lowest, start with, and says how many they are. It has no
// branch: numbers of changing lengths are what a processor cannot foresee.
//
// Bytes of digits become 0 to 9; adding 0x76 sets the top bit of all others, and of none before the first of them. The
// digits are moved to the end, behind zeros, and joined in pairs, fours and all eight.
func digits8(w uint64) (v uint64, n int) {
	w ^= 0x3030303030303030
	n = bits.TrailingZeros64((w+0x7676767676767676|w)&0x8080808080808080) >> 3
	w <<= (64 - 8*uint(n)) & 127
	w = (w*10 + w>>8) & 0x00FF00FF00FF00FF
	w = (w*100 + w>>16) & 0x0000FFFF0000FFFF
	return (w*10000 + w>>32) & 0xFFFFFFFF, n
}

// longer reads on behind the first eight digits of b, whose value is v. Of numbers of more than mostDigits only the number
// of digits counts.
func longer(b []byte, v uint64) (uint64, int) {
	n := 8
	if len(b) >= 16 {
		u, m := digits8(binary.LittleEndian.Uint64(b[8:]))
		v, n = v*powers[m]+u, 8+m
		if m < 8 {
			return v, n
		}
	}
	for c := b[n] - '0'; c <= 9; c = b[n] - '0' {
		v = v*10 + uint64(c)
		n++
	}
	return v, n
}

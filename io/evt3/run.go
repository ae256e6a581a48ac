package evt3

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/evq-project/evq/io/event"
)

// slack is how many slots of a buffer stay free for one turn of the fast loop: four single words, then a vector group
// of up to 32 events, whose last store reaches 8 slots from its start.
const slack = 64

const (
	everyWord = 0x0001_0001_0001_0001
	everyByte = 0x0101_0101_0101_0101

	groupTypes = 0xF000 * everyWord
	groupWords = vect8<<60 | vect12<<44 | vect12<<28 | vectBaseX<<12
)

// columns are the starts of a buffer's columns.
type columns struct{ t, x, y, p unsafe.Pointer }

// run decodes words for as long as they are of the usual kinds: rows, single events, low times and whole vector groups.
// It needs a running clock, a row and no open group, leaves the word at which it stops to step, and returns the bytes it
// took. What it does with a word is what step does with it.
//
// It takes four words a turn, without a branch on what each of them is: scenes mix them without a pattern, so that a
// branch would be guessed wrong as often as not. Every word is written to the next slot as if it were an event; only
// those that are one move to the slot after it.
//
// The stores go through pointers without bounds checks. That is safe because every turn starts with n <= cap-slack,
// moves n by at most 4+32 and stores to no slot past n+4+32+8.
func (d *decoder) run(b *event.Buffer, words []byte) int {
	n, limit := b.Len(), min(cap(b.T), cap(b.X), cap(b.Y), cap(b.P))-slack
	c := columns{unsafe.Pointer(unsafe.SliceData(b.T)), unsafe.Pointer(unsafe.SliceData(b.X)),
		unsafe.Pointer(unsafe.SliceData(b.Y)), unsafe.Pointer(unsafe.SliceData(b.P))}
	base, t, y := d.base, d.t, uint64(d.y)
	rest := words
	for n <= limit && len(rest) >= 16 {
		v := binary.LittleEndian.Uint64(rest)
		good := bits.TrailingZeros64(unusual(v)) / 16
		v |= ^uint64(0) << (16 * good) // words from the first unusual one on become CONTINUED words, which do nothing
		for range 4 {
			kind := v >> 12 & 0xF
			*(*int64)(unsafe.Add(c.t, n*8)) = t
			*(*uint16)(unsafe.Add(c.x, n*2)) = uint16(v & 0x7FF)
			*(*uint16)(unsafe.Add(c.y, n*2)) = uint16(y)
			*(*int8)(unsafe.Add(c.p, n)) = int8(v >> 11 & 1)
			n += int(kind >> 1 & 1 &^ (kind >> 2)) // 1 for addrX
			if kind == addrY {
				y = v & 0x7FF
			}
			if kind == timeLow {
				t = base + int64(v&0xFFF)
			}
			v >>= 16
		}
		rest = rest[2*good:]
		if good == 4 {
			continue
		}
		v = binary.LittleEndian.Uint64(rest)
		if v&groupTypes != groupWords {
			break
		}
		n += c.group(n, v, t, y)
		d.x, d.hasX, d.p = uint16(v&0x7FF)+groupSize, true, int8(v>>11&1)
		rest = rest[8:]
	}
	d.t, d.y = t, uint16(y)
	b.Resize(n)
	return len(words) - len(rest)
}

// unusual sets a bit in each of four words that is of another type than addrY, addrX and timeLow: 0000, 0010, 0110.
func unusual(v uint64) uint64 {
	return v&(0x9000*everyWord) | v&^(v<<1)&(0x4000*everyWord)
}

// lanes holds, for each byte, the positions of its set bits in rising order, four 16-bit lanes to a word, in the
// machine's byte order; ones holds their number.
var lanes, ones = makeLanes()

func makeLanes() (lanes [256][2]uint64, ones [256]uint8) {
	for m := range lanes {
		var at [8]uint16
		n := 0
		for k := range at {
			if m>>k&1 != 0 {
				at[n] = uint16(k)
				n++
			}
		}
		lanes[m], ones[m] = *(*[2]uint64)(unsafe.Pointer(&at)), uint8(n)
	}
	return lanes, ones
}

// group writes the events of the vector group v at slot n and returns how many they are. It goes byte by byte through
// the mask and writes eight slots for each, of which the next byte overwrites those it did not need.
//
//go:noinline
func (c *columns) group(n int, v uint64, t int64, y uint64) int {
	start := n
	mask := uint32(v>>16&0xFFF | v>>32&0xFFF<<12 | v>>48&0xFF<<24)
	xs, ys, ps := v&0x7FF*everyWord, y*everyWord, v>>11&1*everyByte
	for range groupSize / 8 {
		l, k := &lanes[mask&0xFF], ones[mask&0xFF]
		x, y := (*[2]uint64)(unsafe.Add(c.x, n*2)), (*[2]uint64)(unsafe.Add(c.y, n*2))
		x[0], x[1] = xs+l[0], xs+l[1]
		y[0], y[1] = ys, ys
		*(*uint64)(unsafe.Add(c.p, n)) = ps
		ts := (*[8]int64)(unsafe.Add(c.t, n*8))
		ts[0], ts[1], ts[2], ts[3], ts[4], ts[5], ts[6], ts[7] = t, t, t, t, t, t, t, t
		n += int(k)
		xs += 8 * everyWord
		mask >>= 8
	}
	return n - start
}

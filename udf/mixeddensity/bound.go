package mixeddensity

import "encoding/binary"

// ones has the lowest bit of each byte set, tops the highest.
const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
)

// bound limits every value to -cutoff and cutoff. Few lie beyond them, so it looks at eight at a time first.
func bound(values []byte, cutoff int8) {
	shift, room := uint64(cutoff)*ones, uint64(255-2*int(cutoff))*ones
	for len(values) >= 8 {
		v := binary.LittleEndian.Uint64(values)
		// v+cutoff lies in 0..2*cutoff where v is within the limits; with room added, anything else overflows.
		if v != 0 && overflows(add8(v, shift), room) {
			boundEach(values[:8], cutoff)
		}
		values = values[8:]
	}
	boundEach(values, cutoff)
}

func boundEach(values []byte, cutoff int8) {
	for i, v := range values {
		values[i] = byte(max(min(int8(v), cutoff), -cutoff))
	}
}

// add8 adds eight bytes to eight others, each modulo 256.
func add8(a, b uint64) uint64 { return (a&^tops + b&^tops) ^ (a^b)&tops }

// overflows reports whether any of the eight sums is more than a byte holds.
func overflows(a, b uint64) bool { return (a&b|(a|b)&^add8(a, b))&tops != 0 }

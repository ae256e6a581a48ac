//go:build hdf5 && cgo

package hdf5

import (
	"hash/crc32"
	"slices"
)

// blockSums are the checksums of blocks, by row.
type blockSums struct {
	to    *[]uint32
	size  int    // of a block
	zeros uint32 // of one that is all zero
	known bool
}

// put notes the sum of the block in a row.
func (s *blockSums) put(row int64, sum uint32) {
	if n := int(row) + 1; n > len(*s.to) {
		*s.to = slices.Grow(*s.to, n-len(*s.to))[:n]
	}
	(*s.to)[row] = sum
}

func (s *blockSums) ofZeros() uint32 {
	if !s.known {
		s.zeros, s.known = sumOfZeros(s.size), true
	}
	return s.zeros
}

// noBytes are all zero.
var noBytes [64 << 10]byte

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOfZeros returns the CRC-32C of n zeros.
func sumOfZeros(n int) (sum uint32) {
	for ; n > 0; n -= len(noBytes) {
		sum = crc32.Update(sum, castagnoli, noBytes[:min(n, len(noBytes))])
	}
	return sum
}

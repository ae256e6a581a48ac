package voxelgrid

import (
	"encoding/binary"
	"math"
)

// normalize gives the values that are not 0 mean 0 and standard deviation 1: (v - mean) / deviation, the deviation
// that of the population. Where all are equal they become 0. Sums are in float64 in the order of the values.
func normalize(data []byte) {
	n, sum := 0, 0.0
	low, high := math.Inf(1), math.Inf(-1)
	each(data, func(v float64) float64 {
		n, sum, low, high = n+1, sum+v, min(low, v), max(high, v)
		return v
	})
	if n == 0 {
		return
	}
	if low == high {
		clear(data)
		return
	}
	mean, squares := sum/float64(n), 0.0
	each(data, func(v float64) float64 {
		squares += float64((v - mean) * (v - mean)) // the conversion keeps the product from being fused
		return v
	})
	deviation := math.Sqrt(squares / float64(n))
	each(data, func(v float64) float64 { return (v - mean) / deviation })
}

// each replaces the values of a block that are not 0, in their order. Most are, so it looks at two at a time first.
func each(data []byte, do func(float64) float64) {
	for ; len(data) >= 8; data = data[8:] {
		if binary.LittleEndian.Uint64(data) != 0 {
			replace(data, do)
			replace(data[4:], do)
		}
	}
	if len(data) >= 4 {
		replace(data, do)
	}
}

// replace replaces the first value where it is not 0.
func replace(data []byte, do func(float64) float64) {
	if v := math.Float32frombits(binary.LittleEndian.Uint32(data)); v != 0 {
		binary.LittleEndian.PutUint32(data, math.Float32bits(float32(do(float64(v)))))
	}
}

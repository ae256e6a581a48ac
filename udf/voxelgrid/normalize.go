package voxelgrid

import (
	"encoding/binary"
	"math"
)

// normalize gives the values that are not 0 mean 0 and standard deviation 1: (v - mean) / deviation, the deviation
// that of the population. Where all are equal they become 0. Sums are in float64 in the order of the values. It
// returns places, in which it keeps where the values are, for the next call.
//
// Source: uzh-rpg/rpg_e2vid, utils/inference_utils.py, EventPreprocessor, which divides by 0 where all are equal.
func normalize(data []byte, places []uint32) []uint32 {
	places = nonzero(data, places[:0])
	sum, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for _, at := range places {
		v := value(data, at)
		sum, low, high = sum+v, min(low, v), max(high, v)
	}
	mean, squares := sum/float64(len(places)), 0.0
	for _, at := range places {
		d := value(data, at) - mean
		squares += float64(d * d) // the conversion keeps the product from being fused
	}
	deviation := math.Sqrt(squares / float64(len(places)))
	for _, at := range places {
		v := 0.0
		if low < high {
			v = (value(data, at) - mean) / deviation
		}
		binary.LittleEndian.PutUint32(data[4*int(at):], math.Float32bits(float32(v)))
	}
	return places
}

// nonzero appends the places of the values that are not 0. Most are, so it looks at two at a time first.
func nonzero(data []byte, places []uint32) []uint32 {
	n := len(data) / 4
	for i := 0; i < n; i += 2 {
		if i+1 == n {
			if binary.LittleEndian.Uint32(data[4*i:]) != 0 {
				places = append(places, uint32(i))
			}
			break
		}
		two := binary.LittleEndian.Uint64(data[4*i:])
		if two == 0 {
			continue
		}
		if uint32(two) != 0 {
			places = append(places, uint32(i))
		}
		if two>>32 != 0 {
			places = append(places, uint32(i+1))
		}
	}
	return places
}

func value(data []byte, at uint32) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*int(at):])))
}

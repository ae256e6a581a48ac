package parquet

import (
	"math"
	"math/bits"
	"sort"
	"unsafe"

	"github.com/evq-project/evq/io/event"
)

// countIn counts the n events of b, in time order, that lie in the box, by the columns that are named.
func countIn(b event.Buffer, n int, box event.Box, by [numColumns]bool) int64 {
	lo, hi := 0, n
	if by[colT] {
		lo = sort.Search(n, func(i int) bool { return b.T[i] >= box.T0 })
		hi = lo + sort.Search(n-lo, func(i int) bool { return b.T[lo+i] > box.T1 })
	}
	switch {
	case lo == hi:
		return 0
	case by[colP]:
		return countEach(b, lo, hi, box, by)
	case by[colX] && by[colY]:
		return countRect(b.X[lo:hi], b.Y[lo:hi], box)
	case by[colX]:
		box.Y0, box.Y1 = box.X0, box.X1
		return countRect(b.X[lo:hi], b.X[lo:hi], box)
	case by[colY]:
		box.X0, box.X1 = box.Y0, box.Y1
		return countRect(b.Y[lo:hi], b.Y[lo:hi], box)
	}
	return int64(hi - lo)
}

// countEach counts by polarity and by what else is named.
func countEach(b event.Buffer, lo, hi int, box event.Box, by [numColumns]bool) (n int64) {
	for i := lo; i < hi; i++ {
		in := b.P[i] >= box.P0 && b.P[i] <= box.P1
		if by[colX] {
			in = in && b.X[i]-box.X0 <= box.X1-box.X0
		}
		if by[colY] {
			in = in && b.Y[i]-box.Y0 <= box.Y1-box.Y0
		}
		if in {
			n++
		}
	}
	return n
}

// countRect counts the pixels in a rectangle, which is not empty, four at a time where all are below 1<<15.
func countRect(x, y []uint16, box event.Box) (n int64) {
	y = y[:len(x)]
	i := 0
	if littleHost && box.X0 <= math.MaxInt16 && box.Y0 <= math.MaxInt16 {
		x0, x1 := lanes*uint64(box.X0), lanesHigh|lanes*uint64(min(box.X1, math.MaxInt16))
		y0, y1 := lanes*uint64(box.Y0), lanesHigh|lanes*uint64(min(box.Y1, math.MaxInt16))
		px, py := unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
		for ; i+4 <= len(x); i += 4 {
			u, v := load(unsafe.Add(px, 2*i)), load(unsafe.Add(py, 2*i))
			if (u|v)&lanesHigh != 0 {
				n += countPixels(x[i:i+4], y[i:i+4], box)
				continue
			}
			// A lane's highest bit stays where nothing was borrowed: where the lane is not below what is taken from it.
			in := ((u | lanesHigh) - x0) & (x1 - u) & ((v | lanesHigh) - y0) & (y1 - v) & lanesHigh
			n += int64(bits.OnesCount64(in))
		}
	}
	return n + countPixels(x[i:], y[i:], box)
}

func countPixels(x, y []uint16, box event.Box) (n int64) {
	for i, v := range x {
		if v-box.X0 <= box.X1-box.X0 && y[i]-box.Y0 <= box.Y1-box.Y0 {
			n++
		}
	}
	return n
}

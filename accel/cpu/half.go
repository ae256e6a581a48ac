package cpu

import (
	"unsafe"

	"github.com/evq-project/evq/accel"
)

const everyLane = 0x0001_0001_0001_0001

// lanes holds, for each set of four events, the positions of its members in rising order, four 16-bit lanes to a
// word in the machine's byte order; members holds their number.
var lanes, members = makeLanes()

func makeLanes() (lanes [16]uint64, members [16]uint8) {
	for set := range lanes {
		var at [4]uint16
		n := 0
		for k := range at {
			if set>>k&1 != 0 {
				at[n] = uint16(k)
				n++
			}
		}
		lanes[set], members[set] = *(*uint64)(unsafe.Pointer(&at)), uint8(n)
	}
	return lanes, members
}

// littleEndian says that the first of four 16-bit lanes is the lowest of their word, as half needs it.
var littleEndian = lanes[1<<1] == 1

// half lists the positions of a block's events with odd x and odd y, four events at a time and without a branch, and
// reports whether all events, counted or not, lie on the sensor.
//
// The stores go through a pointer without a bounds check: a block has at most 1024 events, the list has room for four
// more, and every store is at n, the number of events listed so far, or within the three slots after it.
func (k *kernel) half(x, y []uint16) (n int, inside bool) {
	const low = 0x7fff7fff7fff7fff
	roomX, roomY := uint64(1<<15-k.grid.Width)*everyLane, uint64(1<<15-k.grid.Height)*everyLane
	x4, y4 := inFours(x), inFours(y)
	to := unsafe.Pointer(&k.listed)
	var seen, at uint64
	for i, a := range x4 {
		b := y4[i]
		seen |= a | (a&low + roomX) | b | (b&low + roomY)
		set := (a & b & everyLane) * (1<<48 | 1<<33 | 1<<18 | 1<<3) >> 48 & 15
		*(*uint64)(unsafe.Add(to, 2*n)) = at + lanes[set]
		n += int(members[set])
		at += 4 * everyLane
	}
	for i := len(x) &^ 3; i < len(x); i++ {
		a, b := uint64(x[i]), uint64(y[i])
		seen |= a | (a&0x7fff + roomX&0xffff) | b | (b&0x7fff + roomY&0xffff)
		k.listed[n] = uint16(i)
		n += int(a & b & 1)
	}
	return n, seen&^low == 0
}

// addHalf counts the listed events of a block that lies on the sensor.
//
// The loads go through pointers without bounds checks: every position in the list is one of the block's, which half
// wrote from its own loop.
func (k *kernel) addHalf(dst []uint8, x, y []uint16, p []int8, base uint32, listed []uint16) {
	xs, ys, ps := unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y)), unsafe.Pointer(unsafe.SliceData(p))
	columns, on, cut := k.columns, k.on, uint8(k.grid.Cutoff)
	cell := func(i uint16) uint32 {
		x, y := uint32(*(*uint16)(unsafe.Add(xs, 2*uintptr(i)))), uint32(*(*uint16)(unsafe.Add(ys, 2*uintptr(i))))
		return base + uint32(*(*uint8)(unsafe.Add(ps, uintptr(i))))*on + y>>1*columns + x>>1
	}
	if !k.grid.Wrap {
		for _, i := range listed {
			if c := cell(i); dst[c] < cut {
				dst[c]++
			}
		}
		return
	}
	over, passed := uint32(cut+1), uint32(0) // over is 0 at the cutoff 255, which no count passes
	for _, i := range listed {
		c := cell(i)
		n := dst[c] + 1
		dst[c] = n
		passed |= (uint32(n) ^ over) - 1 // borrows into the top bit where n is over
	}
	if passed>>31 == 0 {
		return
	}
	hot := k.listHot(len(listed))
	for _, i := range listed { // seldom: only where a count just passed the cutoff
		if c := cell(i); dst[c] > cut {
			hot = append(hot, c)
		}
	}
	k.hot = hot
}

// halved reports whether a grid takes this file's way.
func halved(g accel.Grid) bool { return g.Downsample == 2 && littleEndian }

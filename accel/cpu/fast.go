package cpu

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/evq-project/evq/accel"
)

const (
	// block is how many events are looked at together: first which of them count and where, without a
	// branch, then the counting.
	block = 1024
	// patience is how many events are counted between two looks at the context.
	patience = 64 * block
	// hotCells bounds the list of the cells of one bin that passed the cutoff. When it is full, the bin's
	// planes are clipped whole instead.
	hotCells = 8 * block
)

type kernel struct {
	grid accel.Grid
	// Distances in an output: from row to row, from plane to plane, from an OFF plane to its ON plane.
	columns, plane, on uint32

	cells  [block]uint32     // of the events of one block that count
	listed [block + 4]uint16 // the positions of those events in the block
	hot    []uint32          // cells that passed the cutoff since the last clip
	spilt  bool              // hot was too small
	sorted []accel.Segment   // where the caller's are not
}

// window counts one window. Each bin's two planes are cleared just before they are filled, so that they are
// in the cache when they are.
func (k *kernel) window(ctx context.Context, job accel.Job, segments []accel.Segment, dst []uint8) (off int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(segments) == 0 {
		clear(dst)
		return 0, nil
	}
	if k.grid.Flat && k.strays(job, segments) {
		return k.flatWindow(ctx, job, segments, dst)
	}
	plane := int(k.plane)
	for bin := range k.grid.Bins {
		offPlane := dst[bin*plane:][:plane]
		onPlane := dst[(k.grid.Bins+bin)*plane:][:plane]
		clear(offPlane)
		clear(onPlane)
		for len(segments) > 0 && int(segments[0].Bin) == bin {
			n, err := k.segment(ctx, job, segments[0], dst)
			if err != nil {
				return 0, err
			}
			off += n
			segments = segments[1:]
		}
		k.clip(dst, offPlane, onPlane)
	}
	return off, nil
}

// segment counts the events of one segment, block by block.
func (k *kernel) segment(ctx context.Context, job accel.Job, s accel.Segment, dst []uint8) (off int64, err error) {
	g := k.grid
	base := s.Bin * k.plane
	lo, end := int(s.Start), int(s.Start)+int(s.Len)
	for done := 0; lo < end; done, lo = done+block, lo+block {
		if done%patience == 0 {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
		}
		hi := min(lo+block, end)
		x, y, p := job.X[lo:hi], job.Y[lo:hi], job.P[lo:hi]
		if err := checkPolarity(p, lo); err != nil {
			return 0, err
		}
		if halved(g) {
			if n, inside := k.half(x, y); inside {
				k.addHalf(dst, x, y, p, base, k.listed[:n])
				continue
			}
		} else if g.Downsample == 1 && !outside(x, g.Width) && !outside(y, g.Height) {
			k.add(dst, k.cells[:k.full(x, y, p, base)])
			continue
		}
		n, dropped := k.checked(x, y, p, base)
		k.add(dst, k.cells[:n])
		off += int64(dropped)
	}
	return off, nil
}

// full lists the cells of a block whose events all lie on the sensor.
func (k *kernel) full(x, y []uint16, p []int8, base uint32) int {
	columns, on := k.columns, k.on
	y, p = y[:len(x)], p[:len(x)]
	cells := k.cells[:len(x)]
	for i := range cells {
		cells[i] = base + uint32(p[i])*on + uint32(y[i])*columns + uint32(x[i])
	}
	return len(x)
}

// checked lists the cells of any block, at any resolution; events off the sensor are left out and counted.
func (k *kernel) checked(x, y []uint16, p []int8, base uint32) (n, dropped int) {
	columns, on := k.columns, k.on
	width, height := uint32(k.grid.Width), uint32(k.grid.Height)
	shift := uint32(k.grid.Downsample - 1)
	y, p = y[:len(x)], p[:len(x)]
	for i := range x {
		xi, yi := uint32(x[i]), uint32(y[i])
		inside := (xi - width) & (yi - height) >> 31 // both differences are negative: their top bits are set
		odd := xi&yi&1 | (shift ^ 1)
		k.cells[n&(block-1)] = base + uint32(p[i])*on + yi>>(shift&1)*columns + xi>>(shift&1)
		n += int(inside & odd)
		dropped += int(inside ^ 1)
	}
	return n, dropped
}

// add counts one event for each cell.
func (k *kernel) add(dst []uint8, cells []uint32) {
	cut := uint8(k.grid.Cutoff)
	if !k.grid.Wrap {
		for _, c := range cells {
			if n := dst[c]; n < cut {
				dst[c] = n + 1
			}
		}
		return
	}
	over, passed := uint32(cut+1), uint32(0) // over is 0 at the cutoff 255, which no count passes
	for _, c := range cells {
		n := dst[c] + 1
		dst[c] = n
		passed |= (uint32(n) ^ over) - 1 // borrows into the top bit where n is over
	}
	if passed>>31 == 0 {
		return
	}
	hot := k.listHot(len(cells))
	for _, c := range cells { // seldom: only where a count just passed the cutoff
		if dst[c] > cut {
			hot = append(hot, c)
		}
	}
	k.hot = hot
}

// listHot returns the list of the cells that passed the cutoff, with room for n more.
func (k *kernel) listHot(n int) []uint32 {
	if len(k.hot)+n > cap(k.hot) {
		k.hot, k.spilt = k.hot[:0], true
	}
	return k.hot
}

// clip brings down to the cutoff the counts that passed it: the listed cells, or the planes.
func (k *kernel) clip(dst []uint8, planes ...[]uint8) {
	cut := uint8(k.grid.Cutoff)
	if k.spilt {
		for _, plane := range planes {
			for i, n := range plane {
				plane[i] = min(n, cut)
			}
		}
	}
	for _, c := range k.hot {
		dst[c] = min(dst[c], cut)
	}
	k.hot, k.spilt = k.hot[:0], false
}

// checkPolarity refuses what is neither 0 nor 1; first is the number of the first event.
func checkPolarity(p []int8, first int) error {
	var seen uint64
	n := len(p) &^ 7
	for i := 0; i < n; i += 8 {
		q := p[i : i+8 : i+8]
		seen |= uint64(uint8(q[0])) | uint64(uint8(q[1]))<<8 | uint64(uint8(q[2]))<<16 | uint64(uint8(q[3]))<<24 |
			uint64(uint8(q[4]))<<32 | uint64(uint8(q[5]))<<40 | uint64(uint8(q[6]))<<48 | uint64(uint8(q[7]))<<56
	}
	for _, v := range p[n:] {
		seen |= uint64(uint8(v))
	}
	if seen&^0x0101010101010101 == 0 {
		return nil
	}
	for i, v := range p {
		if v&^1 != 0 {
			return fmt.Errorf("accel: polarity %d of event %d; 0 (OFF) and 1 (ON) are possible", v, first+i)
		}
	}
	return nil
}

// inFours views coordinates four to a word, in the machine's byte order; up to three at the end are left out.
func inFours(v []uint16) []uint64 {
	if len(v) < 4 {
		return nil // a word would reach past the slice
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(v))), len(v)/4)
}

// outside reports whether a coordinate is size or more; size is at most 1<<15. It looks at four at a time:
// adding 1<<15 - size to the lower 15 bits of each carries into its top bit where it is too large. Which of the
// four is which does not matter, so neither does the machine's byte order.
func outside(v []uint16, size int) bool {
	const low = 0x7fff7fff7fff7fff
	room := uint64(1<<15-size) * 0x0001000100010001
	var seen uint64
	fours := inFours(v)
	for ; len(fours) >= 4; fours = fours[4:] {
		a, b, c, d := fours[0], fours[1], fours[2], fours[3]
		seen |= a | (a&low + room) | b | (b&low + room) | c | (c&low + room) | d | (d&low + room)
	}
	for _, c := range v[len(v)&^15:] {
		seen |= uint64(c) | (uint64(c)&0x7fff + uint64(1<<15-size))
	}
	return seen&^low != 0
}

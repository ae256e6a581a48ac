package eventframe

import (
	"encoding/binary"

	"github.com/evq-project/evq/accel"
	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// An encoder counts one window after the other in place.
type encoder struct {
	udf.Blocks
	frame     Frame
	g         event.Geometry
	slices    udf.Slices
	offSensor int64
}

// window makes the block of one window. Each slice is cleared just before it is counted, while it is near.
func (e *encoder) window(w event.Window, all udf.Events, data []byte) error {
	ev := all.Slice(w.Lo, w.Hi)
	e.slices.Whole = e.frame.Variant == Tonic
	var parts []accel.Segment
	if len(ev.T) > 0 {
		from, to := e.frame.Timebase.Span(ev.T, w)
		parts = e.slices.Cut(ev.T, from, to, e.frame.Bins)
	}
	size, done := len(data)/e.frame.Bins, 0
	count := e.count
	if e.frame.Signed {
		count = e.countSigned
	}
	for bin := range e.frame.Bins {
		slice := data[bin*size:][:size]
		clear(slice)
		if len(parts) == 0 || int(parts[0].Bin) != bin {
			continue
		}
		done = int(parts[0].Start + parts[0].Len)
		if err := count(ev.Slice(int(parts[0].Start), done), slice); err != nil {
			return err
		}
		parts = parts[1:]
	}
	off, err := ev.Slice(done, len(ev.T)).Check(e.g) // what no slice holds
	e.offSensor += off
	return err
}

// count counts events by polarity, up to the limit.
func (e *encoder) count(ev udf.Events, data []byte) error {
	width, height, limit := e.g.Width, e.g.Height, uint32(e.frame.limit())
	x, y, p := ev.X, ev.Y[:len(ev.X)], ev.P[:len(ev.X)]
	for i, column := range x {
		column, row, on := int(column), int(y[i]), uint8(p[i])
		if column >= width || row >= height {
			e.offSensor++
			continue
		}
		if on > 1 {
			return udf.ErrPolarity
		}
		cell := data[4*((int(on)*height+row)*width+column):][:4]
		if n := binary.LittleEndian.Uint32(cell); n < limit {
			binary.LittleEndian.PutUint32(cell, n+1)
		}
	}
	return nil
}

// countSigned counts ON events up and OFF events down, and bounds the sums.
func (e *encoder) countSigned(ev udf.Events, data []byte) error {
	width, height := e.g.Width, e.g.Height
	x, y, p := ev.X, ev.Y[:len(ev.X)], ev.P[:len(ev.X)]
	for i, column := range x {
		column, row, on := int(column), int(y[i]), uint8(p[i])
		if column >= width || row >= height {
			e.offSensor++
			continue
		}
		if on > 1 {
			return udf.ErrPolarity
		}
		cell := data[4*(row*width+column):][:4]
		binary.LittleEndian.PutUint32(cell, binary.LittleEndian.Uint32(cell)+2*uint32(on)-1)
	}
	if e.frame.Mode == Count && e.frame.Cutoff == 0 {
		return nil
	}
	limit := e.frame.limit()
	for i := 0; i+4 <= len(data); i += 4 {
		if n := int32(binary.LittleEndian.Uint32(data[i:])); n != 0 {
			binary.LittleEndian.PutUint32(data[i:], uint32(max(min(n, limit), -limit)))
		}
	}
	return nil
}

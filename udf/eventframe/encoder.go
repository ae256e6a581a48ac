package eventframe

import (
	"context"
	"encoding/binary"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/udf"
)

// An encoder counts one window after the other in place, slice by slice.
type encoder struct {
	udf.Pieces
	frame     Frame
	g         event.Geometry
	slices    udf.Slices
	count     func(ev udf.Events, slice []byte) error
	offSensor int64

	data     []byte // the block of the window at hand
	from, to int64  // the time that its slices divide
	bin      int    // the slice under way, -1 before the first
}

// window makes the block of one window.
func (e *encoder) window(w event.Window, all udf.Events, data []byte) error {
	ev := all.Slice(w.Lo, w.Hi)
	var first, last int64
	if n := len(ev.T); n > 0 {
		first, last = ev.T[0], ev.T[n-1]
	}
	e.begin(w, first, last, data)
	err := e.add(ev)
	if err == nil {
		e.advance(e.frame.Bins)
		e.slices.Done(int64(len(ev.T)), e.from, e.to, e.frame.Bins)
	}
	return err
}

// Begin implements udf.GradualEncoder.
func (e *encoder) Begin(w event.Window, first, last int64, data []byte) error {
	e.begin(w, first, last, data)
	return e.Start(w, data)
}

// Add implements udf.GradualEncoder.
func (e *encoder) Add(ctx context.Context, b event.Batch) error { return e.Take(ctx, b, e.add) }

// Finish implements udf.GradualEncoder.
func (e *encoder) Finish(w event.Window) error {
	e.advance(e.frame.Bins)
	e.slices.Done(int64(w.Hi), e.from, e.to, e.frame.Bins)
	return nil
}

func (e *encoder) begin(w event.Window, first, last int64, data []byte) {
	e.data, e.bin = data, -1
	e.from, e.to = e.frame.Timebase.Limits(first, last, w)
}

// add counts the next events of the window.
func (e *encoder) add(ev udf.Events) error {
	done := 0
	if len(ev.T) > 0 {
		for _, part := range e.slices.Part(ev.T, e.from, e.to, e.frame.Bins) {
			e.advance(int(part.Bin))
			done = int(part.Start + part.Len)
			if err := e.count(ev.Slice(int(part.Start), done), e.slice(e.bin)); err != nil {
				return err
			}
		}
	}
	off, err := ev.Slice(done, len(ev.T)).Check(e.g) // what no slice holds
	e.offSensor += off
	return err
}

// advance completes the slices before bin. Each is cleared just before it is counted, while it is near.
func (e *encoder) advance(bin int) {
	for e.bin < bin {
		if e.bin >= 0 && e.frame.Signed {
			e.bound(e.slice(e.bin))
		}
		if e.bin++; e.bin < e.frame.Bins {
			clear(e.slice(e.bin))
		}
	}
}

func (e *encoder) slice(bin int) []byte {
	size := len(e.data) / e.frame.Bins
	return e.data[bin*size:][:size]
}

// countUp counts events by polarity, up to the limit.
func (e *encoder) countUp(ev udf.Events, data []byte) error {
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

// countSigned counts ON events up and OFF events down.
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
	return nil
}

// bound bounds the sums of a slice.
func (e *encoder) bound(data []byte) {
	if e.frame.Mode == Count && e.frame.Cutoff == 0 {
		return
	}
	limit := e.frame.limit()
	for i := 0; i+4 <= len(data); i += 4 {
		if n := int32(binary.LittleEndian.Uint32(data[i:])); n != 0 {
			binary.LittleEndian.PutUint32(data[i:], uint32(max(min(n, limit), -limit)))
		}
	}
}

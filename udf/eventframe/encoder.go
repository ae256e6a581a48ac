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
	part      udf.Part
	places    *udf.Places
	slices    udf.Slices

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
	return e.places.Runs(ev.Slice(done, len(ev.T)), func(udf.Events, int) {}) // what no slice holds is checked all the same
}

// advance completes the slices before bin. Each is cleared just before it is counted, while it is near.
func (e *encoder) advance(bin int) {
	for e.bin < bin {
		if e.bin >= 0 && e.frame.Signed {
			e.rows(e.slice(e.bin), e.bound)
		}
		if e.bin++; e.bin < e.frame.Bins {
			e.rows(e.slice(e.bin), func(rows []byte) { clear(rows) })
		}
	}
}

func (e *encoder) slice(bin int) []byte {
	size := len(e.data) / e.frame.Bins
	return e.data[bin*size:][:size]
}

// rows calls do with the encoder's own rows of a slice.
func (e *encoder) rows(slice []byte, do func([]byte)) {
	plane, row := 4*e.g.Height*e.g.Width, 4*e.g.Width
	for ; len(slice) > 0; slice = slice[plane:] {
		e.part.Rows(e.g.Height, func(from, to int) { do(slice[from*row : to*row]) })
	}
}

// count counts events: by polarity and up to the limit, or ON events up and OFF events down.
func (e *encoder) count(ev udf.Events, data []byte) error {
	if e.frame.Signed {
		return e.places.Runs(ev, func(run udf.Events, n int) {
			for i, at := range e.places.At[:n] {
				cell := data[4*int(at):][:4]
				binary.LittleEndian.PutUint32(cell, binary.LittleEndian.Uint32(cell)+2*uint32(run.P[e.places.Index[i]])-1)
			}
		})
	}
	limit := uint32(e.frame.limit())
	return e.places.Runs(ev, func(_ udf.Events, n int) {
		for _, at := range e.places.At[:n] {
			cell := data[4*int(at):][:4]
			binary.LittleEndian.PutUint32(cell, min(binary.LittleEndian.Uint32(cell)+1, limit))
		}
	})
}

// bound bounds the sums of some rows.
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

package exec

import (
	"context"
	"errors"
	"io"

	"github.com/evq-project/evq/io/event"
)

// A holder keeps the events that windows to come may need, in one buffer.
type holder struct {
	pool *event.Pool
	buf  *event.Buffer
	peak int // the most events held
	last int // how many were handed on last
}

// eventBytes is what an event takes in memory.
const eventBytes = 13

// holdRoom is the capacity of a fresh buffer, in events; buffers grow to the windows and stay grown.
const holdRoom = 1 << 17

func (h *holder) len() int {
	if h.buf == nil {
		return 0
	}
	return h.buf.Len()
}

func (h *holder) times() []int64 {
	if h.buf == nil {
		return nil
	}
	return h.buf.T
}

func (h *holder) add(b event.Batch) {
	if h.buf == nil {
		h.buf = h.fresh()
	}
	h.room(b)
	h.buf.AppendBatch(b)
	h.peak = max(h.peak, h.buf.Len())
}

// room makes room for a batch. Where a buffer must grow, it grows at once to what windows seem to need, or to twice its
// size: fresh memory costs more than what is done with the events, so that none is touched but for events.
func (h *holder) room(b event.Batch) {
	need := h.buf.Len() + b.Len()
	if need <= h.buf.Cap() {
		return
	}
	size := max(need, 2*h.buf.Cap(), h.last+h.last/8)
	h.buf.T = grown(h.buf.T, b.T(), size)
	h.buf.X, h.buf.Y = grown(h.buf.X, b.X(), size), grown(h.buf.Y, b.Y(), size)
	h.buf.P = grown(h.buf.P, b.P(), size)
}

// grown returns a column with room for size values, where the batch has that column.
func grown[T any](column, more []T, size int) []T {
	if len(more) == 0 {
		return column
	}
	return append(make([]T, 0, size), column...)
}

func (h *holder) fresh() *event.Buffer {
	if h.pool == nil {
		h.pool = event.NewPool(holdRoom)
	}
	return h.pool.Get()
}

// cutAt hands the held events on and keeps a copy of those from index at on.
func (h *holder) cutAt(at int) event.Batch {
	if h.buf == nil {
		return event.Batch{}
	}
	out := h.buf.Batch()
	h.buf, h.last = nil, out.Len()
	if at < out.Len() {
		h.add(out.Slice(at, out.Len()))
	}
	return out
}

// pull hands the next batch of in to take, or notes in done that there are no more.
func pull(ctx context.Context, in EventOp, done *bool, take func(event.Batch) error) error {
	b, err := in.Next(ctx)
	if errors.Is(err, io.EOF) {
		*done = true
		return nil
	}
	if err != nil {
		return err
	}
	return take(b)
}

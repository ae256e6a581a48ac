package exec

import (
	"context"
	"errors"
	"io"
	"sort"

	"github.com/evq-project/evq/io/event"
)

// A holder keeps the events that windows to come may need, in one buffer.
type holder struct {
	pool *event.Pool
	buf  *event.Buffer
	peak int // the most events held
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
	h.buf.AppendBatch(b)
	h.peak = max(h.peak, h.buf.Len())
}

func (h *holder) fresh() *event.Buffer {
	if h.pool == nil {
		h.pool = event.NewPool(holdRoom)
	}
	return h.pool.Get()
}

// cut hands the held events on and keeps a copy of those from the time from on.
func (h *holder) cut(from int64) event.Batch {
	if h.buf == nil {
		return event.Batch{}
	}
	t := h.buf.T
	return h.cutAt(sort.Search(len(t), func(i int) bool { return t[i] >= from }))
}

// cutAt hands the held events on and keeps a copy of those from index at on.
func (h *holder) cutAt(at int) event.Batch {
	if h.buf == nil {
		return event.Batch{}
	}
	out := h.buf.Batch()
	h.buf = nil
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

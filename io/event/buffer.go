package event

import "sync"

// A Buffer is a set of writable event columns of equal length and capacity, owned by one goroutine at a
// time. Decoders fill buffers; Batch freezes one.
type Buffer struct {
	T    []int64
	X, Y []uint16
	P    []int8

	pool *Pool
}

// NewBuffer returns an empty buffer for n events that belongs to no pool.
func NewBuffer(n int) *Buffer {
	return &Buffer{T: make([]int64, 0, n), X: make([]uint16, 0, n), Y: make([]uint16, 0, n), P: make([]int8, 0, n)}
}

// Len returns the number of events.
func (b *Buffer) Len() int { return len(b.T) }

// Cap returns how many events fit without allocation.
func (b *Buffer) Cap() int { return cap(b.T) }

// Resize sets the number of events to n <= Cap. Events beyond the old length hold stale values.
func (b *Buffer) Resize(n int) {
	b.T, b.X, b.Y, b.P = b.T[:n], b.X[:n], b.Y[:n], b.P[:n]
}

// Append adds one event. It is for tests and cold paths; hot loops write the columns.
func (b *Buffer) Append(t int64, x, y uint16, p int8) {
	b.T, b.X, b.Y, b.P = append(b.T, t), append(b.X, x), append(b.Y, y), append(b.P, p)
}

// AppendBatch adds the events of a batch that has all columns.
func (b *Buffer) AppendBatch(a Batch) {
	b.T, b.X, b.Y, b.P = append(b.T, a.t...), append(b.X, a.x...), append(b.Y, a.y...), append(b.P, a.p...)
}

// Batch freezes the buffer: nobody may write to it until the batch is released. Columns that were left empty
// are missing in the batch.
func (b *Buffer) Batch() Batch {
	out := Batch{t: b.T, buf: b}
	if len(b.X) > 0 {
		out.x = b.X
	}
	if len(b.Y) > 0 {
		out.y = b.Y
	}
	if len(b.P) > 0 {
		out.p = b.P
	}
	return out
}

// Release hands the buffer back to its pool, if any.
func (b *Buffer) Release() {
	if b.pool != nil {
		b.pool.put(b)
	}
}

// A Pool hands out buffers of one capacity and reuses those that are released. It keeps memory warm: the
// first touch of fresh memory costs more than decoding into it. A pool is safe for concurrent use.
type Pool struct {
	capacity int
	mu       sync.Mutex
	free     []*Buffer
}

// pooled bounds how many idle buffers a pool keeps.
const pooled = 32

// NewPool makes a pool of buffers for n events each.
func NewPool(n int) *Pool { return &Pool{capacity: n} }

// Get returns an empty buffer.
func (p *Pool) Get() *Buffer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		b.Resize(0)
		return b
	}
	b := NewBuffer(p.capacity)
	b.pool = p
	return b
}

func (p *Pool) put(b *Buffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < pooled {
		p.free = append(p.free, b)
	}
}

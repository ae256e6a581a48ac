package parquet

import (
	"math/bits"
	"sync"
)

// pageMemory is what the library allocates pages in: memory that was given back is handed out again. Without it, every
// column chunk is read into fresh memory, whose first touch costs more than decoding does. It implements
// memory.Allocator, for any number of goroutines.
type pageMemory struct{}

// leastClass and mostClass bound what is kept: buffers of 2^class bytes.
const (
	leastClass = 12
	mostClass  = 26
)

var freePages [mostClass + 1]sync.Pool // of *[]byte

// class is the power of two that holds n bytes.
func class(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// Allocate returns n bytes, all zero.
func (pageMemory) Allocate(n int) []byte {
	c := class(n)
	if c < leastClass || c > mostClass {
		return make([]byte, n)
	}
	if b, ok := freePages[c].Get().(*[]byte); ok {
		clear((*b)[:n]) // some of what the library keeps here it expects to be clear
		return (*b)[:n]
	}
	return make([]byte, n, 1<<c)
}

// Reallocate returns n bytes that start with those of b.
func (m pageMemory) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) {
		if n > len(b) {
			clear(b[len(b):n])
		}
		return b[:n]
	}
	out := m.Allocate(n)
	copy(out, b)
	m.Free(b)
	return out
}

// Free takes memory back.
func (pageMemory) Free(b []byte) {
	c := class(cap(b))
	if c < leastClass || c > mostClass || cap(b) != 1<<c {
		return
	}
	b = b[:cap(b)]
	freePages[c].Put(&b)
}

package arrowtensor

// A recycler is an allocator of the library's that hands out again what is freed: the memory into which batches are
// compressed, which is as large as a window. It serves one goroutine.
type recycler struct{ free [][]byte }

// recycled bounds how many pieces are kept: those of a window of a few representations.
const recycled = 16

// Allocate returns size bytes with stale values.
func (r *recycler) Allocate(size int) []byte {
	for i, b := range r.free {
		if n := cap(b); n >= size && n <= 2*size {
			last := len(r.free) - 1
			r.free[i], r.free = r.free[last], r.free[:last]
			return b[:size]
		}
	}
	return make([]byte, size)
}

// Reallocate returns size bytes that begin with those of b.
func (r *recycler) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	grown := r.Allocate(size)
	copy(grown, b)
	r.Free(b)
	return grown
}

// Free takes memory back.
func (r *recycler) Free(b []byte) {
	if len(r.free) < recycled && cap(b) > 0 {
		r.free = append(r.free, b)
	}
}

//go:build hdf5 && cgo

package hdf5

/*
// The loops below are of no use without a vector for each step.
#cgo CFLAGS: -O3
#include <stdint.h>
#include <string.h>

typedef uint8_t evq_v8 __attribute__((vector_size(16)));
typedef uint16_t evq_v16 __attribute__((vector_size(16)));
typedef uint32_t evq_v32 __attribute__((vector_size(16)));

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define EVQ_MIX(a, b, v, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#endif
#endif
#ifndef EVQ_MIX
#define EVQ_MIX(a, b, v, ...) __builtin_shuffle(a, b, (v){__VA_ARGS__})
#endif

// The first and the last halves of two vectors, their elements by turns.
#define EVQ_LO8(a, b) EVQ_MIX(a, b, evq_v8, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define EVQ_HI8(a, b) EVQ_MIX(a, b, evq_v8, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define EVQ_LO16(a, b) (evq_v8) EVQ_MIX((evq_v16)(a), (evq_v16)(b), evq_v16, 0, 8, 1, 9, 2, 10, 3, 11)
#define EVQ_HI16(a, b) (evq_v8) EVQ_MIX((evq_v16)(a), (evq_v16)(b), evq_v16, 4, 12, 5, 13, 6, 14, 7, 15)
#define EVQ_LO32(a, b) (evq_v8) EVQ_MIX((evq_v32)(a), (evq_v32)(b), evq_v32, 0, 4, 1, 5)
#define EVQ_HI32(a, b) (evq_v8) EVQ_MIX((evq_v32)(a), (evq_v32)(b), evq_v32, 2, 6, 3, 7)

static evq_v8 evq_load(const uint8_t *p) { evq_v8 v; memcpy(&v, p, sizeof v); return v; }
static void evq_store(void *p, evq_v8 v) { memcpy(p, &v, sizeof v); }

// evq_merge16 puts n elements of two bytes together; their second bytes stand stride behind the first.
static void evq_merge16(uint16_t *restrict to, const uint8_t *restrict a, size_t stride, size_t n) {
	const uint8_t *b = a + stride;
	size_t i = 0;
	for (; i + 16 <= n; i += 16) {
		evq_v8 u = evq_load(a + i), v = evq_load(b + i);
		evq_store(to + i, EVQ_LO8(u, v));
		evq_store(to + i + 8, EVQ_HI8(u, v));
	}
	for (; i < n; i++) to[i] = (uint16_t)(a[i] | b[i] << 8);
}

// evq_merge64 puts n elements of eight bytes together, or of four, which it widens.
static void evq_merge64(int64_t *restrict to, const uint8_t *restrict a, size_t stride, size_t n, int bytes) {
	const evq_v8 none = {0};
	size_t i = 0;
	for (; i + 16 <= n; i += 16) {
		evq_v8 w[8];
		for (int k = 0; k < 4; k += 2) {
			evq_v8 u = evq_load(a + k * stride + i), v = evq_load(a + (k + 1) * stride + i);
			w[k] = EVQ_LO8(u, v);
			w[k + 1] = EVQ_HI8(u, v);
		}
		evq_v8 low[4] = {EVQ_LO16(w[0], w[2]), EVQ_HI16(w[0], w[2]), EVQ_LO16(w[1], w[3]), EVQ_HI16(w[1], w[3])}, high[4] = {none, none, none, none};
		if (bytes == 8) {
			for (int k = 4; k < 8; k += 2) {
				evq_v8 u = evq_load(a + k * stride + i), v = evq_load(a + (k + 1) * stride + i);
				w[k] = EVQ_LO8(u, v);
				w[k + 1] = EVQ_HI8(u, v);
			}
			high[0] = EVQ_LO16(w[4], w[6]), high[1] = EVQ_HI16(w[4], w[6]), high[2] = EVQ_LO16(w[5], w[7]), high[3] = EVQ_HI16(w[5], w[7]);
		}
		for (int k = 0; k < 4; k++) {
			evq_store(to + i + 4 * k, EVQ_LO32(low[k], high[k]));
			evq_store(to + i + 4 * k + 2, EVQ_HI32(low[k], high[k]));
		}
	}
	for (; i < n; i++) {
		uint64_t v = 0;
		for (int k = 0; k < bytes; k++) v |= (uint64_t)a[k * stride + i] << 8 * k;
		to[i] = (int64_t)v;
	}
}
*/
import "C"

import "unsafe"

// A span is rows of one column as a chunk holds them: one after another, or the bytes of each apart.
type span struct {
	bytes  []byte // from the first row on, where they are one after another; else the block that the rows lie in
	stride int    // 0, or how far the next byte of an element stands behind the one before it
	from   int    // the first row in the block
}

// merge16 puts the elements of two bytes together that a span holds apart.
func (s span) merge16(dst []uint16) {
	if a := s.planes(2, len(dst)); a != nil {
		C.evq_merge16((*C.uint16_t)(unsafe.SliceData(dst)), (*C.uint8_t)(unsafe.SliceData(a)), C.size_t(s.stride), C.size_t(len(dst)))
	}
}

// merge64 does so with elements of eight bytes, or of four, which have no sign.
func (s span) merge64(dst []int64, size int) {
	if a := s.planes(size, len(dst)); a != nil {
		C.evq_merge64((*C.int64_t)(unsafe.SliceData(dst)), (*C.uint8_t)(unsafe.SliceData(a)), C.size_t(s.stride), C.size_t(len(dst)), C.int(size))
	}
}

// planes returns the bytes of n elements, from the first of the first one to the last of the last one.
func (s span) planes(size, n int) []byte {
	if n == 0 {
		return nil
	}
	return s.bytes[s.from : (size-1)*s.stride+s.from+n]
}

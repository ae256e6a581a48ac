// The kernels of the CUDA device. `make cuda-kernel` turns them into scatter.ptx with clang alone, without a
// CUDA toolkit and its headers; tests compile them for the host (EVQ_HOST).
typedef unsigned int u32;
typedef unsigned char u8;

#if defined(EVQ_HOST)
#include "host.h"
#else
#define EVQ_FN __attribute__((device)) __attribute__((always_inline)) static inline
#define EVQ_KERNEL extern "C" __attribute__((global)) void
#define EVQ_BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define EVQ_THREAD __nvvm_read_ptx_sreg_tid_x()
#define EVQ_THREADS __nvvm_read_ptx_sreg_ntid_x()
#define EVQ_ADD(p, v) __atomic_fetch_add((p), (u32)(v), __ATOMIC_RELAXED)
#define EVQ_CAS(p, old, now) __sync_val_compare_and_swap((p), (old), (now))
#define EVQ_LOAD(p) (*(volatile u32 *)(p))
#endif
#define EVQ_GLOBAL
#define EVQ_WORD u32
#include "body.h"

// evq_scatter counts the events of one run, a block of threads for each. A run is three words: the cell its
// OFF plane begins at, its first event, and how many.
EVQ_KERNEL evq_scatter(u32 *__restrict__ counts, const u32 *__restrict__ events, const u32 *__restrict__ runs,
                       u32 columns, u32 half_size, u32 plane_step, u32 wrap, u32 cutoff) {
  u32 base = runs[3u * EVQ_BLOCK], first = runs[3u * EVQ_BLOCK + 1u], len = runs[3u * EVQ_BLOCK + 2u];
  for (u32 i = EVQ_THREAD; i < len; i += EVQ_THREADS) {
    u32 cell = evq_cell(events[first + i], base, columns, half_size, plane_step);
    if (cell == EVQ_NOWHERE) continue;
    if (wrap) evq_count_wrapping(counts, cell);
    else evq_count_saturating(counts, cell, cutoff);
  }
}

// evq_clip brings the cells that events of a run lie in down to the cutoff, after all are counted. Threads that
// meet in a cell store the same byte.
EVQ_KERNEL evq_clip(u8 *__restrict__ counts, const u32 *__restrict__ events, const u32 *__restrict__ runs, u32 columns,
                    u32 half_size, u32 plane_step, u32 cutoff) {
  u32 base = runs[3u * EVQ_BLOCK], first = runs[3u * EVQ_BLOCK + 1u], len = runs[3u * EVQ_BLOCK + 2u];
  for (u32 i = EVQ_THREAD; i < len; i += EVQ_THREADS) {
    u32 cell = evq_cell(events[first + i], base, columns, half_size, plane_step);
    if (cell == EVQ_NOWHERE) continue;
    if (counts[cell] > cutoff) counts[cell] = (u8)cutoff;
  }
}

// evq_count counts the events of one run in words, by tiles of pixels. Where is_signed is set an OFF event counts -1.
EVQ_KERNEL evq_count(u32 *__restrict__ counts, const u32 *__restrict__ events, const u32 *__restrict__ runs, u32 columns,
                     u32 x_by, u32 x_shift, u32 y_by, u32 y_shift, u32 plane_step, u32 is_signed) {
  u32 base = runs[3u * EVQ_BLOCK], first = runs[3u * EVQ_BLOCK + 1u], len = runs[3u * EVQ_BLOCK + 2u];
  for (u32 i = EVQ_THREAD; i < len; i += EVQ_THREADS) {
    u32 event = events[first + i];
    u32 cell = evq_tile(event, base, columns, x_by, x_shift, y_by, y_shift, plane_step);
    if (cell == EVQ_NOWHERE) continue;
    u32 off = is_signed & ~(event >> 30);
    EVQ_ADD(counts + cell, 1u - 2u * off);
  }
}

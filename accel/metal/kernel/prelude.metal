#include <metal_stdlib>
using namespace metal;
typedef uint u32;
typedef uchar u8;
#define EVQ_FN static inline
#define EVQ_GLOBAL device
#define EVQ_WORD atomic_uint
#define EVQ_ADD(p, v) atomic_fetch_add_explicit((p), (u32)(v), memory_order_relaxed)
#define EVQ_CAS(p, old, now) evq_swap((p), (old), (now))
#define EVQ_LOAD(p) atomic_load_explicit((p), memory_order_relaxed)

// Metal has only the weak compare and swap, which may fail although the word is the old one.
static inline u32 evq_swap(device atomic_uint *p, u32 old, u32 now) {
  u32 seen = old;
  while (!atomic_compare_exchange_weak_explicit(p, &seen, now, memory_order_relaxed, memory_order_relaxed))
    if (seen != old) return seen;
  return old;
}


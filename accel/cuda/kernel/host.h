// Runs the kernels on the processor: blocks on several threads of the system, the threads of a block in turn.
#include <thread>
#include <vector>

struct evq_place {
  u32 block, thread, threads;
};
static thread_local evq_place evq_here;

#define EVQ_FN static inline
#define EVQ_KERNEL static void
#define EVQ_BLOCK evq_here.block
#define EVQ_THREAD evq_here.thread
#define EVQ_THREADS evq_here.threads
#define EVQ_ADD(p, v) __atomic_fetch_add((p), (u32)(v), __ATOMIC_RELAXED)
#define EVQ_CAS(p, old, now) __sync_val_compare_and_swap((p), (old), (now))
#define EVQ_LOAD(p) __atomic_load_n((p), __ATOMIC_RELAXED)

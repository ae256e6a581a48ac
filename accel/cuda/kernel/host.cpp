// The kernels compiled for the processor, for tests: launches as functions of a shared library.
#define EVQ_HOST 1
#include "scatter.cu"

// launch runs each block's threads in turn, and blocks on several threads of the system at once.
template <class Kernel> static void launch(u32 blocks, u32 threads, u32 workers, Kernel kernel) {
  auto work = [&](u32 first) {
    for (u32 block = first; block < blocks; block += workers)
      for (u32 thread = 0; thread < threads; thread++) {
        evq_here = {block, thread, threads};
        kernel();
      }
  };
  std::vector<std::thread> others;
  for (u32 i = 1; i < workers; i++) others.emplace_back(work, i);
  work(0);
  for (auto &t : others) t.join();
}

extern "C" void evq_host_scatter(u32 blocks, u32 threads, u32 workers, u32 *counts, const u32 *events, const u32 *runs,
                                 u32 columns, u32 half_size, u32 plane_step, u32 wrap, u32 cutoff) {
  launch(blocks, threads, workers,
         [=] { evq_scatter(counts, events, runs, columns, half_size, plane_step, wrap, cutoff); });
}

extern "C" void evq_host_clip(u32 blocks, u32 threads, u32 workers, u8 *counts, const u32 *events, const u32 *runs,
                              u32 columns, u32 half_size, u32 plane_step, u32 cutoff) {
  launch(blocks, threads, workers, [=] { evq_clip(counts, events, runs, columns, half_size, plane_step, cutoff); });
}

extern "C" void evq_host_count(u32 blocks, u32 threads, u32 workers, u32 *counts, const u32 *events, const u32 *runs,
                               u32 columns, u32 x_by, u32 x_shift, u32 y_by, u32 y_shift, u32 plane_step,
                               u32 is_signed) {
  launch(blocks, threads, workers, [=] {
    evq_count(counts, events, runs, columns, x_by, x_shift, y_by, y_shift, plane_step, is_signed);
  });
}

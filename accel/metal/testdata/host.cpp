// Metal's kernels compiled for the processor: launches as functions of a shared library. SOURCE is the text that is
// handed to Metal.
#include <thread>
#include <vector>
#include SOURCE

template <class Kernel> static void launch(u32 groups, u32 threads, u32 workers, Kernel run) {
  auto work = [&](u32 first) {
    for (u32 group = first; group < groups; group += workers)
      for (u32 i = 0; i < threads; i++) run(group, i, threads);
  };
  std::vector<std::thread> others;
  for (u32 i = 1; i < workers; i++) others.emplace_back(work, i);
  work(0);
  for (auto &t : others) t.join();
}

extern "C" void evq_host_scatter(u32 groups, u32 threads, u32 workers, u32 *counts, const u32 *events, const u32 *runs,
                                 u32 columns, u32 half_size, u32 plane_step, u32 wrap, u32 cutoff) {
  evq_params a{columns, half_size, plane_step, wrap, cutoff};
  launch(groups, threads, workers,
         [&](u32 g, u32 t, u32 n) { evq_scatter((atomic_uint *)counts, events, runs, a, g, t, n); });
}

extern "C" void evq_host_clip(u32 groups, u32 threads, u32 workers, u8 *counts, const u32 *events, const u32 *runs,
                              u32 columns, u32 half_size, u32 plane_step, u32 cutoff) {
  evq_params a{columns, half_size, plane_step, 1, cutoff};
  launch(groups, threads, workers, [&](u32 g, u32 t, u32 n) { evq_clip(counts, events, runs, a, g, t, n); });
}

extern "C" void evq_host_count(u32 groups, u32 threads, u32 workers, u32 *counts, const u32 *events, const u32 *runs,
                               u32 columns, u32 x_by, u32 x_shift, u32 y_by, u32 y_shift, u32 plane_step,
                               u32 is_signed) {
  evq_table a{columns, x_by, x_shift, y_by, y_shift, plane_step, is_signed};
  launch(groups, threads, workers,
         [&](u32 g, u32 t, u32 n) { evq_count((atomic_uint *)counts, events, runs, a, g, t, n); });
}

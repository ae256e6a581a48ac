
struct evq_params {
  u32 columns, half_size, plane_step, wrap, cutoff;
};

// evq_scatter counts the events of one run, a group of threads for each; see the CUDA kernel of that name.
kernel void evq_scatter(device atomic_uint *counts [[buffer(0)]], const device u32 *events [[buffer(1)]],
                        const device u32 *runs [[buffer(2)]], constant evq_params &a [[buffer(3)]],
                        u32 group [[threadgroup_position_in_grid]], u32 in_group [[thread_position_in_threadgroup]],
                        u32 group_size [[threads_per_threadgroup]]) {
  u32 base = runs[3u * group], first = runs[3u * group + 1u], len = runs[3u * group + 2u];
  for (u32 i = in_group; i < len; i += group_size) {
    u32 cell = evq_cell(events[first + i], base, a.columns, a.half_size, a.plane_step);
    if (cell == EVQ_NOWHERE) continue;
    if (a.wrap) evq_count_wrapping(counts, cell);
    else evq_count_saturating(counts, cell, a.cutoff);
  }
}

// evq_clip brings the cells that events lie in down to the cutoff, after all are counted.
kernel void evq_clip(device u8 *counts [[buffer(0)]], const device u32 *events [[buffer(1)]],
                     const device u32 *runs [[buffer(2)]], constant evq_params &a [[buffer(3)]],
                     u32 group [[threadgroup_position_in_grid]], u32 in_group [[thread_position_in_threadgroup]],
                     u32 group_size [[threads_per_threadgroup]]) {
  u32 base = runs[3u * group], first = runs[3u * group + 1u], len = runs[3u * group + 2u];
  for (u32 i = in_group; i < len; i += group_size) {
    u32 cell = evq_cell(events[first + i], base, a.columns, a.half_size, a.plane_step);
    if (cell == EVQ_NOWHERE) continue;
    if (counts[cell] > a.cutoff) counts[cell] = (u8)a.cutoff;
  }
}

struct evq_table {
  u32 columns, x_by, x_shift, y_by, y_shift, plane_step, is_signed;
};

// evq_count counts the events of one run in words, by tiles of pixels; see the CUDA kernel of that name.
kernel void evq_count(device atomic_uint *counts [[buffer(0)]], const device u32 *events [[buffer(1)]],
                      const device u32 *runs [[buffer(2)]], constant evq_table &a [[buffer(3)]],
                      u32 group [[threadgroup_position_in_grid]], u32 in_group [[thread_position_in_threadgroup]],
                      u32 group_size [[threads_per_threadgroup]]) {
  u32 base = runs[3u * group], first = runs[3u * group + 1u], len = runs[3u * group + 2u];
  for (u32 i = in_group; i < len; i += group_size) {
    u32 event = events[first + i];
    u32 cell = evq_tile(event, base, a.columns, a.x_by, a.x_shift, a.y_by, a.y_shift, a.plane_step);
    if (cell == EVQ_NOWHERE) continue;
    u32 off = a.is_signed & ~(event >> 30);
    EVQ_ADD(counts + cell, 1u - 2u * off);
  }
}

// The scatter kernel's logic, once, in a subset of C that is CUDA, Metal and C++ at the same time.
//
// Who includes it defines:
//   u32                  an unsigned integer of 32 bits
//   EVQ_FN               how a function of the device is declared
//   EVQ_GLOBAL           the address space of device memory
//   EVQ_WORD             the type of a 32-bit word that is changed atomically
//   EVQ_ADD(p, v)        atomic *p += v; yields the old value
//   EVQ_CAS(p, old, now) atomic compare and swap, the strong one; yields the old value
//   EVQ_LOAD(p)          an atomic load
// All arithmetic is on u32: no floating point, no time, no division. Which bin an event falls in was decided
// by the host.

#define EVQ_NOWHERE 0xffffffffu // the cell of an event that does not count
#define EVQ_CELLS 0xffffffffu   // the base of a run whose words are cells already

// evq_cell returns where an event counts: base + the position in its plane, one plane_step further if it is ON.
// Packed events hold x in bits 0 to 14, y in 15 to 29, p in 30, and in bit 31 that the event lies off the
// sensor. At half resolution only odd x and odd y count.
EVQ_FN u32 evq_cell(u32 event, u32 base, u32 columns, u32 half_size, u32 plane_step) {
  if (base == EVQ_CELLS) return event;
  u32 x = event & 0x7fffu;
  u32 y = (event >> 15) & 0x7fffu;
  u32 p = (event >> 30) & 1u;
  if (event >> 31) return EVQ_NOWHERE;
  if (half_size) {
    if ((x & y & 1u) == 0u) return EVQ_NOWHERE;
    x >>= 1;
    y >>= 1;
  }
  return base + p * plane_step + y * columns + x;
}

// evq_count_wrapping adds 1 modulo 256 to one byte of little-endian words and leaves the others as they are.
//
// In the common case that is one atomic add. Where the add carried into higher bytes, what each byte should
// have become is known from the word that was replaced, and the difference is added in turn, byte by byte.
// Each add's intended changes of a byte sum up to that byte's events modulo 256, in whatever order the
// threads come. A correction starts at a byte above the one that overflowed, so there are at most four adds.
EVQ_FN void evq_count_wrapping(EVQ_GLOBAL EVQ_WORD *words, u32 cell) {
  u32 change = 1u << ((cell & 3u) * 8u); // of each byte: 0x00, 0x01, or 0xff for -1
  u32 add = change;                      // the same as one integer
  for (;;) {
    u32 old = EVQ_ADD(words + (cell >> 2), add);
    u32 now = old + add;
    // old + change, byte by byte
    u32 want = ((old & 0x7f7f7f7fu) + (change & 0x7f7f7f7fu)) ^ ((old ^ change) & 0x80808080u);
    if (now == want) return;
    // want - now, byte by byte
    change = ((want | 0x80808080u) - (now & 0x7f7f7f7fu)) ^ ((want ^ ~now) & 0x80808080u);
    add = change - ((change & 0x80808080u) << 1);
  }
}

// evq_count_saturating adds 1 to one byte of little-endian words unless it has reached the cutoff.
EVQ_FN void evq_count_saturating(EVQ_GLOBAL EVQ_WORD *words, u32 cell, u32 cutoff) {
  u32 shift = (cell & 3u) * 8u;
  u32 old = EVQ_LOAD(words + (cell >> 2));
  while (((old >> shift) & 0xffu) < cutoff) {
    u32 seen = EVQ_CAS(words + (cell >> 2), old, old + (1u << shift));
    if (seen == old) return;
    old = seen;
  }
}

// evq_tile returns where an event counts in a table: base + the cell of its tile of pixels, one plane_step further if
// it is ON. x_by and x_shift divide by the tile's width: x * x_by >> x_shift, which no x below 2^15 makes overflow.
EVQ_FN u32 evq_tile(u32 event, u32 base, u32 columns, u32 x_by, u32 x_shift, u32 y_by, u32 y_shift, u32 plane_step) {
  if (event >> 31) return EVQ_NOWHERE;
  u32 x = ((event & 0x7fffu) * x_by) >> x_shift;
  u32 y = (((event >> 15) & 0x7fffu) * y_by) >> y_shift;
  u32 p = (event >> 30) & 1u;
  return base + p * plane_step + y * columns + x;
}

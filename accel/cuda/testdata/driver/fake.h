// A stand-in for NVIDIA's driver library, for tests on machines without the hardware. It is stricter than the driver:
//
//   - it runs the text of the PTX module it is given, with threads interleaved instruction by instruction in a seeded
//     random order;
//   - device memory and registers start as garbage, every access is checked for bounds and alignment, and addresses of
//     the device fault when the host follows them;
//   - streams do nothing before somebody waits for them;
//   - a context must be current on the calling thread of the system;
//   - any call can be made to fail, and what is not given back is counted.
//
// Functions named fake... are the tests' own.
#ifndef FAKE_H
#define FAKE_H

#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

// Some of the driver's codes.
enum {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  INVALID_PTX = 218,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_TIMEOUT = 702,
  MISALIGNED_ADDRESS = 716,
};

// What a test may ask about. `live` things were made and not given back; `left` ones died with their context.
struct stats {
  u64 live_memory, live_pinned, live_stream, live_module, live_context;
  u64 left;
  u64 launches, instructions, atomics;
  u64 pageable_uploads; // asynchronous copies from memory that was not pinned
  u64 hasty_frees;      // memory given back while work was queued
  u64 peak_bytes;
  u64 faults;           // that were asked for and happened
  u64 live_event;
};
extern struct stats stats;

extern char last_error[256]; // of the module or the launch
u32 next_random(void);

// ptx.c: modules.
enum opcode {
  LD_PARAM,
  CVTA,
  MOV,
  MOV_SPECIAL,
  ADD,
  SUB,
  MUL_LO,
  MUL_WIDE,
  MAD,
  SHL,
  SHR,
  AND,
  OR,
  XOR,
  NOT,
  BFE,
  SETP,
  SELP,
  CVT,
  BRA,
  RET,
  LD,
  ST,
  ATOM_ADD,
  ATOM_CAS,
};
struct operand {
  enum { NONE, REGISTER, IMMEDIATE, MEMORY } kind;
  int reg; // or the number of the parameter
  int64_t imm;
};
struct instruction {
  enum opcode op;
  int bits, is_signed, compare, special;
  int predicate, negated; // a register, or -1
  int label;
  struct operand to, a, b, c;
  int line;
};
struct parameter {
  char name[64];
  int size;
};
struct function {
  char name[64];
  struct parameter params[32];
  int n_params;
  struct instruction *code;
  int n;
  char (*registers)[16];
  int n_registers;
  char labels[128][32];
  int label_at[128];
  int n_labels;
  struct function *next;
};
struct module {
  struct function *functions;
  void *owner; // its context
  struct module *next;
};
struct module *ptx_load(const char *text); // NULL and last_error where it is not understood
void ptx_free(struct module *m);

// run.c: launches. check returns the host's address of device memory, or NULL.
typedef u8 *(*memory)(u64 address, size_t n);
int run_grid(const struct function *f, const u64 *params, u32 blocks, u32 threads, memory check);
extern u64 instruction_limit; // of a launch

#endif

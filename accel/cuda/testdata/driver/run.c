// Runs a launch: some threads at a time, interleaved at random.
#include "fake.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

u64 instruction_limit = 4000000000u;
static u64 random_state = 88172645463325252u;

u32 next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (u32)(random_state >> 11);
}

void fakeSeed(u64 seed) { random_state = seed * 2862933555777941757u + 3037000493u; }

struct thread {
  u64 *r; // registers
  int at;
  u32 thread, block;
  int done;
};

struct launch {
  const struct function *f;
  const u64 *params;
  u32 blocks, threads;
  memory check;
};

static int64_t as_signed(u64 v, int bits) { return (int64_t)(v << (64 - bits)) >> (64 - bits); }

static u64 compare(const struct instruction *in, u64 a, u64 b) {
  int less = in->is_signed ? as_signed(a, in->bits) < as_signed(b, in->bits) : a < b;
  switch (in->compare) {
  case 0: return a == b;
  case 1: return a != b;
  case 2: return less;
  case 3: return less || a == b;
  case 4: return !less && a != b;
  default: return !less;
  }
}

static u64 shift_right(const struct instruction *in, u64 a, u64 by) {
  by &= 0xffffffff;
  if (in->is_signed) return (u64)(as_signed(a, in->bits) >> (by < (u64)in->bits ? (int)by : in->bits - 1));
  return by < (u64)in->bits ? a >> by : 0;
}

static u64 bit_field(const struct instruction *in, u64 a, u64 from, u64 length) {
  from &= 255;
  length &= 255;
  u64 v = from < (u64)in->bits ? a >> from : 0;
  return length < (u64)in->bits ? v & ((1ull << length) - 1) : v;
}

static int access_memory(const struct launch *l, const struct instruction *in, struct thread *t, u64 b, u64 c,
                         u64 *out) {
  const struct operand *at = in->op == ST ? &in->to : &in->a;
  u64 address = t->r[at->reg] + (u64)at->imm, old = 0;
  int n = in->bits / 8;
  u8 *p = l->check(address, n);
  if (!p || address % n) {
    snprintf(last_error, sizeof last_error, "%s line %d: %s access of %d bytes at 0x%llx", l->f->name, in->line,
             p ? "misaligned" : "out-of-bounds", n, (unsigned long long)address);
    return p ? MISALIGNED_ADDRESS : ILLEGAL_ADDRESS;
  }
  memcpy(&old, p, n);
  if (in->op == ST) {
    u64 v = in->a.kind == REGISTER ? t->r[in->a.reg] : (u64)in->a.imm;
    memcpy(p, &v, n);
  } else if (in->op == ATOM_ADD || (in->op == ATOM_CAS && old == (u32)b)) {
    u32 v = in->op == ATOM_ADD ? (u32)old + (u32)b : (u32)c;
    memcpy(p, &v, 4);
  }
  stats.atomics += in->op == ATOM_ADD || in->op == ATOM_CAS;
  *out = old;
  return OK;
}

// step runs one instruction of a thread.
static int step(const struct launch *l, struct thread *t) {
  const struct instruction *in = &l->f->code[t->at];
  u64 *r = t->r, x = 0;
  stats.instructions++;
  if (in->predicate >= 0 && (int)(r[in->predicate] & 1) == in->negated) {
    t->at++;
    return OK;
  }
#define VALUE(o) ((o).kind == REGISTER ? r[(o).reg] : (u64)(o).imm)
  int bits = in->op == MUL_WIDE ? 64 : in->bits, rc;
  u64 mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  u64 a = VALUE(in->a), b = VALUE(in->b), c = VALUE(in->c);
  switch (in->op) {
  case LD_PARAM: x = l->params[in->a.reg]; break;
  case CVTA:
  case MOV:
  case CVT: x = a; break;
  case MOV_SPECIAL: x = (u32[]){t->thread, l->threads, t->block, l->blocks}[in->special]; break;
  case ADD: x = a + b; break;
  case SUB: x = a - b; break;
  case MUL_LO: x = a * b; break;
  case MUL_WIDE: x = (u64)(u32)a * (u32)b; break;
  case MAD: x = a * b + c; break;
  case SHL: x = (b & 0xffffffff) < (u64)in->bits ? a << (b & 0xffffffff) : 0; break;
  case SHR: x = shift_right(in, a & mask, b); break;
  case AND: x = a & b; break;
  case OR: x = a | b; break;
  case XOR: x = a ^ b; break;
  case NOT: x = ~a; break;
  case BFE: x = bit_field(in, a & mask, b, c); break;
  case SETP: x = compare(in, a & mask, b & mask), mask = 1; break;
  case SELP: x = c & 1 ? a : b; break;
  case BRA: t->at = l->f->label_at[in->label]; return OK;
  case RET: t->done = 1; return OK;
  default:
    if ((rc = access_memory(l, in, t, b, c, &x))) return rc;
  }
  if (in->op != ST) r[in->to.reg] = x & mask;
  t->at++;
  return OK;
}

enum { LIVE = 64 };

// run_grid starts threads in order and keeps LIVE of them going, a few instructions of a random one at a time.
int run_grid(const struct function *f, const u64 *params, u32 blocks, u32 threads, memory check) {
  struct launch l = {f, params, blocks, threads, check};
  struct thread t[LIVE];
  u64 total = (u64)blocks * threads, next = 0, limit = stats.instructions + instruction_limit;
  u64 *registers = malloc(LIVE * f->n_registers * sizeof *registers);
  int live = 0, rc = OK;
  for (int i = 0; i < LIVE; i++) t[i].r = registers + i * f->n_registers;
  while (!rc && (next < total || live)) {
    for (; live < LIVE && next < total; next++, live++) {
      struct thread *n = &t[live];
      *n = (struct thread){n->r, 0, (u32)(next % threads), (u32)(next / threads), 0};
      for (int i = 0; i < f->n_registers; i++) n->r[i] = 0xdeadbeefcafef00du;
    }
    struct thread *now = &t[next_random() % live];
    for (u32 burst = 1 + next_random() % 8; burst && !now->done && !rc; burst--) rc = step(&l, now);
    if (now->done) {
      struct thread gone = *now;
      *now = t[--live];
      t[live] = gone;
    }
    if (stats.instructions > limit) rc = LAUNCH_TIMEOUT;
  }
  free(registers);
  return rc;
}

// The driver's functions that evq calls.
#define _GNU_SOURCE
#include "fake.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct stats stats;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int initialized, failed; // failed: what every call of a lost device returns
static int idle;                // 1: nothing runs, to time what is around it; of downloads the first and the last byte become 1
static u64 capacity = 8ull << 30, used;

enum { DEVICES = 2 };
static struct context {
  int references;
} contexts[DEVICES];
static __thread struct context *current;

// ---- faults

static struct {
  char call[48];
  long nth;
  int code, lasting;
} fault;

static int inject(const char *call) {
  if (strcmp(fault.call, call) || --fault.nth) return OK;
  stats.faults++;
  if (fault.lasting) failed = fault.code;
  return fault.code;
}

// fakeFail makes the nth call from now of a function fail; with lasting, all calls after it as well.
void fakeFail(const char *call, u64 nth, u64 code, u64 lasting) {
  pthread_mutex_lock(&lock);
  snprintf(fault.call, sizeof fault.call, "%s", call);
  fault.nth = (long)nth, fault.code = (int)code, fault.lasting = (int)lasting, failed = 0;
  pthread_mutex_unlock(&lock);
}

void fakeIdle(u64 on) { idle = (int)on; }
void fakeCapacity(u64 bytes) { capacity = bytes, stats.peak_bytes = used; }
void fakeInstructionLimit(u64 n) { instruction_limit = n; }
const char *fakeLastError(void) { return last_error; }
void fakeStats(struct stats *to) { *to = stats; }

#define ENTER(call)                                                                                                    \
  pthread_mutex_lock(&lock);                                                                                           \
  int rc = inject(#call);                                                                                              \
  if (!rc && !initialized) rc = NOT_INITIALIZED;                                                                       \
  if (rc) goto out
#define ENTER_CONTEXT(call)                                                                                            \
  ENTER(call);                                                                                                         \
  rc = !current || !current->references ? INVALID_CONTEXT : failed;                                                    \
  if (rc) goto out
#define LEAVE                                                                                                          \
  out:                                                                                                                 \
  pthread_mutex_unlock(&lock);                                                                                         \
  return rc

// ---- memory

static struct block {
  u64 address; // on the device: a range the host may not touch
  u8 *bytes;   // where they are in truth
  size_t n;
  int pinned;
  struct context *owner;
  struct block *next;
} *blocks;

// device_bytes returns the bytes at an address of the current context's device, or NULL.
static u8 *device_bytes(u64 address, size_t n) {
  for (struct block *b = blocks; b; b = b->next)
    if (!b->pinned && address >= b->address && address - b->address <= b->n && n <= b->n - (address - b->address))
      return b->bytes + (address - b->address);
  return NULL;
}

static int is_pinned(const u8 *p, size_t n) {
  for (struct block *b = blocks; b; b = b->next)
    if (b->pinned && p >= b->bytes && p + n <= b->bytes + b->n) return 1;
  return 0;
}

static size_t pages(size_t n) { return (n + 4095) / 4096 * 4096; }

static struct block *allocate(size_t n, int pinned) {
  if (!n || (!pinned && used + n > capacity)) return NULL;
  u8 *bytes = mmap(NULL, pages(n), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *range = pinned ? bytes : mmap(NULL, pages(n) + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED || range == MAP_FAILED) return NULL;
  memset(bytes, pinned ? 0x5a : 0xa5, n < (16 << 20) ? n : (16 << 20));
  struct block *b = malloc(sizeof *b);
  *b = (struct block){(u64)range, bytes, n, pinned, current, blocks};
  blocks = b;
  if (pinned) {
    stats.live_pinned++;
  } else {
    stats.live_memory++;
    used += n;
    if (used > stats.peak_bytes) stats.peak_bytes = used;
  }
  return b;
}

static void free_block(struct block **at) {
  struct block *b = *at;
  *at = b->next;
  if (!b->pinned) munmap((void *)b->address, pages(b->n) + 4096);
  munmap(b->bytes, pages(b->n));
  if (b->pinned) {
    stats.live_pinned--;
  } else {
    stats.live_memory--;
    used -= b->n;
  }
  free(b);
}

// ---- streams

static struct event {
  int recorded; // 0: never, 1: queued, 2: the stream came by
  double at;    // milliseconds
  struct context *owner;
  struct event *next;
} *events;

struct work {
  enum { UPLOAD, DOWNLOAD, SET, LAUNCH, RECORD } kind;
  struct event *event;
  u64 address;
  void *host;
  size_t n;
  int value;
  struct function *f;
  u64 params[32];
  u32 blocks, threads;
  struct work *next;
};

static struct stream {
  struct work *head, **tail;
  struct context *owner;
  struct stream *next;
} *streams;

static struct stream *stream_of(void *handle) {
  for (struct stream *s = streams; s; s = s->next)
    if (s == handle && s->owner == current) return s;
  return NULL;
}

static int queue(struct stream *s, struct work w) {
  struct work *copy = malloc(sizeof w);
  *copy = w;
  copy->next = NULL;
  *s->tail = copy;
  s->tail = &copy->next;
  return OK;
}

static double milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int perform(const struct work *w) {
  if (w->kind == RECORD) {
    w->event->recorded = 2, w->event->at = milliseconds();
    return OK;
  }
  if (idle) {
    if (w->kind == DOWNLOAD) ((u8 *)w->host)[0] = ((u8 *)w->host)[w->n - 1] = 1;
    return OK;
  }
  if (w->kind == LAUNCH) return run_grid(w->f, w->params, w->blocks, w->threads, device_bytes);
  u8 *p = device_bytes(w->address, w->n);
  if (!p) return ILLEGAL_ADDRESS;
  if (w->kind == UPLOAD) memcpy(p, w->host, w->n);
  if (w->kind == DOWNLOAD) memcpy(w->host, p, w->n);
  if (w->kind == SET) memset(p, w->value, w->n);
  return OK;
}

static void drain(struct stream *s) {
  while (s->head) {
    struct work *w = s->head;
    if (!failed) failed = perform(w);
    s->head = w->next;
    free(w);
  }
  s->tail = &s->head;
}

static void drain_all(void) {
  for (struct stream *s = streams; s; s = s->next) {
    stats.hasty_frees += s->head && s->owner == current;
    if (s->owner == current) drain(s);
  }
}

static void free_stream(struct stream **at) {
  struct stream *s = *at;
  *at = s->next;
  drain(s);
  free(s);
  stats.live_stream--;
}

// ---- modules

static struct module *modules;

static void free_module(struct module **at) {
  struct module *m = *at;
  *at = m->next;
  ptx_free(m);
  stats.live_module--;
}

static void free_event(struct event **at) {
  struct event *e = *at;
  *at = e->next;
  free(e);
  stats.live_event--;
}

// ---- functions of the driver

int cuInit(unsigned flags) {
  pthread_mutex_lock(&lock);
  int rc = inject("cuInit");
  if (!rc && flags) rc = INVALID_VALUE;
  if (!rc) initialized = 1;
  pthread_mutex_unlock(&lock);
  return rc;
}

int cuDeviceGetCount(int *n) {
  ENTER(cuDeviceGetCount);
  *n = DEVICES;
  LEAVE;
}

int cuDeviceGet(int *device, int number) {
  ENTER(cuDeviceGet);
  if (number < 0 || number >= DEVICES) rc = INVALID_DEVICE;
  *device = number;
  LEAVE;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  ENTER(cuDeviceGetAttribute);
  if (device < 0 || device >= DEVICES) rc = INVALID_DEVICE;
  switch (attribute) {
  case 36: *value = 1000000; break; // kHz
  case 37: *value = 1024; break;    // bits: 256 GB/s
  case 75: *value = 7; break;
  case 76: *value = 5; break;
  default: rc = INVALID_VALUE;
  }
  LEAVE;
}

int cuDeviceGetName(char *name, int n, int device) {
  ENTER(cuDeviceGetName);
  if (device < 0 || device >= DEVICES) rc = INVALID_DEVICE;
  else snprintf(name, (size_t)n, "stand-in %d", device);
  LEAVE;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  ENTER(cuDeviceTotalMem_v2);
  if (device < 0 || device >= DEVICES) rc = INVALID_DEVICE;
  else *bytes = capacity;
  LEAVE;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER(cuDevicePrimaryCtxRetain);
  contexts[device].references++;
  stats.live_context++;
  *context = &contexts[device];
  LEAVE;
}

// The last one to let go of a context ends all that is in it.
int cuDevicePrimaryCtxRelease_v2(int device) {
  ENTER(cuDevicePrimaryCtxRelease_v2);
  struct context *c = &contexts[device];
  if (!c->references) {
    rc = INVALID_CONTEXT;
    goto out;
  }
  stats.live_context--;
  if (--c->references) goto out;
  for (struct stream **s = &streams; *s;)
    if ((*s)->owner == c) free_stream(s), stats.left++;
    else s = &(*s)->next;
  for (struct block **b = &blocks; *b;)
    if ((*b)->owner == c) free_block(b), stats.left++;
    else b = &(*b)->next;
  for (struct module **m = &modules; *m;)
    if ((*m)->owner == c) free_module(m), stats.left++;
    else m = &(*m)->next;
  for (struct event **e = &events; *e;)
    if ((*e)->owner == c) free_event(e), stats.left++;
    else e = &(*e)->next;
  LEAVE;
}

int cuCtxSetCurrent(void *context) {
  ENTER(cuCtxSetCurrent);
  if (context != &contexts[0] && context != &contexts[1]) rc = INVALID_CONTEXT;
  else current = context;
  LEAVE;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
  (void)options, (void)values;
  ENTER_CONTEXT(cuModuleLoadDataEx);
  struct module *m = n ? NULL : ptx_load(image);
  if (m) *module = m, m->owner = current, m->next = modules, modules = m, stats.live_module++;
  else rc = INVALID_PTX;
  LEAVE;
}

int cuModuleUnload(void *module) {
  ENTER_CONTEXT(cuModuleUnload);
  rc = INVALID_HANDLE;
  for (struct module **m = &modules; *m; m = &(*m)->next)
    if (*m == module) {
      free_module(m);
      rc = OK;
      break;
    }
  LEAVE;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  ENTER_CONTEXT(cuModuleGetFunction);
  struct function *f = ((struct module *)module)->functions;
  while (f && strcmp(f->name, name)) f = f->next;
  if (f) *function = f;
  else rc = NOT_FOUND;
  LEAVE;
}

int cuMemGetInfo_v2(size_t *available, size_t *total) {
  ENTER_CONTEXT(cuMemGetInfo_v2);
  *available = capacity > used ? capacity - used : 0, *total = capacity;
  LEAVE;
}

int cuMemAlloc_v2(u64 *address, size_t n) {
  ENTER_CONTEXT(cuMemAlloc_v2);
  struct block *b = allocate(n, 0);
  if (b) *address = b->address;
  else rc = OUT_OF_MEMORY;
  LEAVE;
}

int cuMemFree_v2(u64 address) {
  ENTER_CONTEXT(cuMemFree_v2);
  drain_all();
  rc = INVALID_VALUE;
  for (struct block **b = &blocks; *b; b = &(*b)->next)
    if (!(*b)->pinned && (*b)->address == address && (*b)->owner == current) {
      free_block(b);
      rc = OK;
      break;
    }
  LEAVE;
}

int cuMemHostAlloc(void **p, size_t n, unsigned flags) {
  (void)flags;
  ENTER_CONTEXT(cuMemHostAlloc);
  struct block *b = allocate(n, 1);
  if (b) *p = b->bytes;
  else rc = OUT_OF_MEMORY;
  LEAVE;
}

int cuMemFreeHost(void *p) {
  ENTER_CONTEXT(cuMemFreeHost);
  drain_all();
  rc = INVALID_VALUE;
  for (struct block **b = &blocks; *b; b = &(*b)->next)
    if ((*b)->pinned && (*b)->bytes == p) {
      free_block(b);
      rc = OK;
      break;
    }
  LEAVE;
}

static int copy(struct work w, void *stream) {
  struct stream *s = stream_of(stream);
  if (!s) return INVALID_HANDLE;
  if (!device_bytes(w.address, w.n)) return INVALID_VALUE;
  return queue(s, w);
}

int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t n, void *stream) {
  ENTER_CONTEXT(cuMemcpyHtoDAsync_v2);
  stats.pageable_uploads += !is_pinned(from, n);
  rc = copy((struct work){.kind = UPLOAD, .address = to, .host = (void *)from, .n = n}, stream);
  LEAVE;
}

// The driver waits where `to` is not pinned; to wait as late as possible finds more mistakes.
int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t n, void *stream) {
  ENTER_CONTEXT(cuMemcpyDtoHAsync_v2);
  rc = copy((struct work){.kind = DOWNLOAD, .address = from, .host = to, .n = n}, stream);
  LEAVE;
}

int cuMemsetD8Async(u64 to, unsigned char value, size_t n, void *stream) {
  ENTER_CONTEXT(cuMemsetD8Async);
  rc = copy((struct work){.kind = SET, .address = to, .value = value, .n = n}, stream);
  LEAVE;
}

int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  ENTER_CONTEXT(cuStreamCreate);
  struct stream *s = calloc(1, sizeof *s);
  *s = (struct stream){NULL, &s->head, current, streams};
  streams = s;
  stats.live_stream++;
  *stream = s;
  LEAVE;
}

int cuStreamDestroy_v2(void *stream) {
  ENTER_CONTEXT(cuStreamDestroy_v2);
  rc = INVALID_HANDLE;
  for (struct stream **s = &streams; *s; s = &(*s)->next)
    if (*s == stream) {
      free_stream(s);
      rc = failed;
      break;
    }
  LEAVE;
}

int cuStreamSynchronize(void *stream) {
  ENTER_CONTEXT(cuStreamSynchronize);
  struct stream *s = stream_of(stream);
  if (s) drain(s), rc = failed;
  else rc = INVALID_HANDLE;
  LEAVE;
}

static struct event *event_of(void *handle) {
  for (struct event *e = events; e; e = e->next)
    if (e == handle && e->owner == current) return e;
  return NULL;
}

int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  ENTER_CONTEXT(cuEventCreate);
  struct event *e = calloc(1, sizeof *e);
  *e = (struct event){0, 0, current, events};
  events = e;
  stats.live_event++;
  *event = e;
  LEAVE;
}

int cuEventDestroy_v2(void *event) {
  ENTER_CONTEXT(cuEventDestroy_v2);
  rc = INVALID_HANDLE;
  for (struct event **e = &events; *e; e = &(*e)->next)
    if (*e == event && (*e)->owner == current) {
      rc = (*e)->recorded == 1 ? NOT_READY : OK; // a real driver waits; evq does not need that
      free_event(e);
      break;
    }
  LEAVE;
}

int cuEventRecord(void *event, void *stream) {
  ENTER_CONTEXT(cuEventRecord);
  struct event *e = event_of(event);
  struct stream *s = stream_of(stream);
  if (!e || !s) {
    rc = INVALID_HANDLE;
    goto out;
  }
  e->recorded = 1;
  rc = queue(s, (struct work){.kind = RECORD, .event = e});
  LEAVE;
}

int cuEventSynchronize(void *event) {
  ENTER_CONTEXT(cuEventSynchronize);
  struct event *e = event_of(event);
  if (!e) {
    rc = INVALID_HANDLE;
    goto out;
  }
  // Only the stream that the event is in goes on.
  for (struct stream *s = streams; s && e->recorded == 1; s = s->next)
    for (struct work *w = s->head; w; w = w->next)
      if (w->event == e) {
        drain(s);
        break;
      }
  rc = failed;
  LEAVE;
}

int cuEventElapsedTime(float *millis, void *from, void *to) {
  ENTER_CONTEXT(cuEventElapsedTime);
  struct event *a = event_of(from), *b = event_of(to);
  if (!a || !b || !a->recorded || !b->recorded) rc = INVALID_HANDLE;
  else if (a->recorded == 1 || b->recorded == 1) rc = NOT_READY;
  else *millis = (float)(b->at - a->at);
  LEAVE;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **params, void **extra) {
  (void)extra;
  ENTER_CONTEXT(cuLaunchKernel);
  struct stream *s = stream_of(stream);
  struct function *f = function;
  if (!s) {
    rc = INVALID_HANDLE;
    goto out;
  }
  if (!gx || gx > 0x7fffffff || gy != 1 || gz != 1 || !bx || bx > 1024 || by != 1 || bz != 1 || shared) {
    rc = INVALID_VALUE;
    goto out;
  }
  struct work w = {.kind = LAUNCH, .f = f, .blocks = gx, .threads = bx};
  for (int i = 0; i < f->n_params; i++) memcpy(&w.params[i], params[i], f->params[i].size);
  stats.launches++;
  rc = queue(s, w);
  LEAVE;
}

int cuGetErrorName(int code, const char **name) {
  static const struct {
    int code;
    const char *name;
  } names[] = {
      {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},           {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},       {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
      {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},       {INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
      {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},         {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
      {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},       {LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT"},
      {MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) {
      *name = names[i].name;
      return OK;
    }
  *name = NULL;
  return INVALID_VALUE;
}

// fakePeek reads memory of any device, as a kernel of somebody else would; 0 is success.
int fakePeek(u64 address, void *to, u64 n) {
  pthread_mutex_lock(&lock);
  u8 *p = device_bytes(address, n);
  if (p) memcpy(to, p, n);
  pthread_mutex_unlock(&lock);
  return !p;
}

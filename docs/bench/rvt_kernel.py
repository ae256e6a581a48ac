"""RVT's own stacked histogram on the events of an evq store, and a plain loop compiled by numba: times and checksums, to
set beside `evq bench kernel`.

    evq bench generate -o a.parquet --events 5.1M --seconds 6.4
    evq bench kernel a.parquet --repr rvt
    RVT_DIR=/path/to/RVT MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=8589934592 MALLOC_TOP_PAD_=268435456 \
        python docs/bench/rvt_kernel.py a.parquet

Needs numpy, torch, duckdb and, for the loop, numba. The malloc settings keep torch from drowning in page faults on small machines.
"""
import hashlib
import importlib.util
import os
import sys
import time

import duckdb
import numpy as np
import torch

torch.set_num_threads(1)
spec = importlib.util.spec_from_file_location("repr", os.path.join(os.environ["RVT_DIR"], "data/utils/representations.py"))
rvt = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rvt)

events = duckdb.sql("SELECT t, x, y, p FROM read_parquet('%s')" % sys.argv[1]).fetchnumpy()
t, x, y, p = (torch.from_numpy(np.ascontiguousarray(events[c], dtype="int64")) for c in "txyp")
span = 50_000
first, last = int(t[0]) // span, int(t[-1]) // span
edges = np.searchsorted(events["t"], np.arange(first, last + 2) * span)
hist = rvt.StackedHistogram(bins=10, height=720, width=1280, count_cutoff=10, fastmode=True)


def windows():
    for a, b in zip(edges[:-1], edges[1:]):
        h = hist.construct(x[a:b], y[a:b], p[a:b], t[a:b])
        yield torch.nn.functional.interpolate(h[None], scale_factor=0.5, mode="nearest-exact")[0].numpy()


def measure(name, windows, rounds):
    took, user = [], []
    for _ in range(rounds):
        began, busy = time.perf_counter(), time.process_time()
        for block in windows():
            pass
        took.append(time.perf_counter() - began)
        user.append(time.process_time() - busy)
    digest = hashlib.sha256()
    for block in windows():
        digest.update(np.ascontiguousarray(block).tobytes())
    print("%s, 1 thread: %d events in %d windows, %.1f ms, of which the processor %.1f ms" % (
        name, len(t), len(edges) - 1, min(took) * 1e3, min(user) * 1e3))
    print("sha256", digest.hexdigest())


measure("RVT, torch %s" % torch.__version__, windows, 3)

try:
    import numba
except ImportError as e:
    sys.exit("no loop: %s" % e)


@numba.njit(cache=False)
def count(t, x, y, p, out):
    out[:] = 0
    if len(t) == 0:
        return
    length = np.float32(max(t[-1] - t[0], 1))
    for i in range(len(t)):
        if x[i] & y[i] & 1:
            b = min(int(np.float32(np.float32(t[i] - t[0]) / length) * np.float32(10)), 9)
            out[p[i] * 10 + b, y[i] >> 1, x[i] >> 1] += 1  # a byte, which wraps
    flat = out.reshape(-1)
    for i in range(len(flat)):
        flat[i] = min(flat[i], 10)


columns = [np.ascontiguousarray(events["t"], dtype="int64")] + [np.ascontiguousarray(events[c], dtype=d) for c, d in (("x", "uint16"), ("y", "uint16"), ("p", "int8"))]
block = np.empty((20, 360, 640), dtype="uint8")


def loop(fresh):
    for a, b in zip(edges[:-1], edges[1:]):
        out = np.empty_like(block) if fresh else block
        count(*(c[a:b] for c in columns), out)
        yield out


for _ in loop(False):  # compiles
    break
measure("a loop, numba %s, one block used again" % numba.__version__, lambda: loop(False), 9)
measure("a loop, numba %s, a block for each window" % numba.__version__, lambda: loop(True), 9)

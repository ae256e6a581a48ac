"""RVT's own stacked histogram on the events of an evq store: time and checksum, to set beside `evq bench kernel`.

    evq bench generate -o a.parquet --events 5.1M --seconds 6.4
    evq bench kernel a.parquet --repr rvt
    RVT_DIR=/path/to/RVT MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=8589934592 MALLOC_TOP_PAD_=268435456 \
        python docs/bench/rvt_kernel.py a.parquet

Needs numpy, torch and duckdb. The malloc settings keep torch from drowning in page faults on small machines.
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


took = []
for _ in range(3):
    began = time.perf_counter()
    for block in windows():
        pass
    took.append(time.perf_counter() - began)
digest = hashlib.sha256()
for block in windows():
    digest.update(np.ascontiguousarray(block).tobytes())
print("RVT, torch %s, 1 thread: %d events in %d windows, %.1f ms" % (torch.__version__, len(t), len(edges) - 1, sorted(took)[1] * 1e3))
print("sha256", digest.hexdigest())

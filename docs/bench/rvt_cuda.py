"""RVT's own stacked histogram with torch on CUDA, for `evq accel check --reference`: time and checksum.

    RVT_DIR=/path/to/RVT evq accel check --reference docs/bench/rvt_cuda.py

The arguments are the folder with the data, and the sensor's width and height. DEVICE=cpu runs it without a GPU. Each
line of the output is one measurement: the columns on the device and the result left there, and the whole way from the
processor's memory and back. Needs numpy and torch.
"""
import hashlib
import importlib.util
import json
import os
import sys
import time

import numpy as np
import torch

folder, width, height = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
device = os.environ.get("DEVICE", "cuda")
spec = importlib.util.spec_from_file_location("repr", os.path.join(os.environ["RVT_DIR"], "data/utils/representations.py"))
rvt = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rvt)


def column(name, dtype):
    return torch.from_numpy(np.fromfile(os.path.join(folder, name), dtype=dtype).astype("int64"))


columns = [column(*c) for c in (("x.u16", "<u2"), ("y.u16", "<u2"), ("p.i8", "i1"), ("t.i64", "<i8"))]
windows = np.fromfile(os.path.join(folder, "windows.i64"), dtype="<i8").reshape(-1, 2)
hist = rvt.StackedHistogram(bins=10, height=height, width=width, count_cutoff=10, fastmode=True)


def blocks(columns, there, back):
    for lo, hi in windows:
        part = [c[lo:hi].to(device) if there else c[lo:hi] for c in columns]
        h = torch.nn.functional.interpolate(hist.construct(*part)[None], scale_factor=0.5, mode="nearest-exact")[0]
        yield h.cpu() if back else h


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


def measure(name, columns, there, back):
    took = []
    for _ in range(3):
        wait()
        began = time.perf_counter()
        for _ in blocks(columns, there, back):
            pass
        wait()
        took.append(time.perf_counter() - began)
    digest = hashlib.sha256()
    for block in blocks(columns, there, back):
        digest.update(np.ascontiguousarray(block.cpu().numpy()).tobytes())
    print(json.dumps({"name": "RVT, torch %s, %s, %s" % (torch.__version__, device, name), "ms": min(took) * 1e3, "sha256": digest.hexdigest()}))


measure("columns and result on the device", [c.to(device) for c in columns], False, False)
measure("with both copies", columns, True, True)

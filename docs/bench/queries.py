#!/usr/bin/env python3
"""Times evq's queries and representations beside DuckDB's and tonic's, in turn, on one store.

    python docs/bench/queries.py STORE [--evq bin/evq] [--rounds 5] [--no-tonic]

Needs duckdb and, for the representations, numpy and tonic. evq's times are of whole processes, start-up included;
DuckDB's and tonic's are of the call alone, over a store that is open and over events that are in memory.
"""
import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time

a = argparse.ArgumentParser()
a.add_argument("store")
a.add_argument("--evq", default="bin/evq")
a.add_argument("--rounds", type=int, default=5)
a.add_argument("--threads", type=int, default=2)
a.add_argument("--no-tonic", action="store_true")
o = a.parse_args()

import duckdb

con = duckdb.connect()
con.execute(f"SET threads = {o.threads}")
con.execute(f"CREATE VIEW ev AS SELECT * FROM read_parquet('{o.store}')")
t0, t1, n = con.execute("SELECT min(t), max(t), count(*) FROM ev").fetchone()
mid = (t0 + t1) // 2
out = tempfile.mkdtemp()


def evq(*args):
    def run():
        subprocess.run([o.evq, *args, "--threads", str(o.threads), "-q"], check=True, stdout=subprocess.DEVNULL)
    return run


def duck(sql):
    return lambda: con.execute(sql).fetchall()


def path(name):
    return os.path.join(out, name)


jobs = [
    ("count of 50 ms", evq("query", o.store, "--time", f"{mid}..{mid + 50000}"),
     duck(f"SELECT count(*) FROM ev WHERE t >= {mid} AND t < {mid + 50000}"), "duckdb"),
    ("count of a region", evq("query", o.store, "--roi", "320,180,959,539"),
     duck("SELECT count(*) FROM ev WHERE x BETWEEN 320 AND 959 AND y BETWEEN 180 AND 539"), "duckdb"),
    ("events of each ms", evq("query", o.store, "--group", "t // 1000", "-o", path("ms.arrow"), "--force"),
     duck("CREATE OR REPLACE TEMP TABLE r AS SELECT t // 1000 AS ms, count(*) AS c FROM ev GROUP BY ms ORDER BY ms"), "duckdb"),
    ("events of each pixel", evq("query", o.store, "--group", "pixel", "-o", path("px.arrow"), "--force"),
     duck("CREATE OR REPLACE TEMP TABLE r AS SELECT y, x, count(*) AS c FROM ev GROUP BY y, x ORDER BY y, x"), "duckdb"),
    ("stacked histogram, half size", evq("tensor", o.store, "--window", "50ms", "--repr", "stacked_histogram:downsample=2",
                                         "-o", path("h.h5"), "--force"),
     duck("SELECT sum(c) FROM (SELECT least(count(*), 10) c FROM ev WHERE x % 2 = 1 AND y % 2 = 1 "
          "GROUP BY t // 50000, (t % 50000) // 5000, p, y // 2, x // 2)"), "duckdb"),
]
if not o.no_tonic:
    import numpy as np
    import tonic.functional as F
    d = con.execute("SELECT t, x, y, p FROM ev").fetchnumpy()
    ev = np.empty(n, dtype=[("x", "<i2"), ("y", "<i2"), ("t", "<i8"), ("p", "<i8")])
    for c in "txyp":
        ev[c] = d[c]
    w, h = int(ev["x"].max()) + 1, int(ev["y"].max()) + 1
    sensor = (max(w, 1280), max(h, 720), 2)
    jobs += [
        ("voxel grid, 5 bins, whole", evq("tensor", o.store, "--repr", "voxel_grid:bins=5", "-o", path("v.npy"), "--force"),
         lambda: F.to_voxel_grid_numpy(ev.copy(), sensor, n_time_bins=5), "tonic"),
        ("event frame, 10 slices, whole", evq("tensor", o.store, "--repr", "event_frame:bins=10", "-o", path("f.npy"), "--force"),
         lambda: F.to_frame_numpy(ev, sensor, n_time_bins=10), "tonic"),
        ("time surface, each second", evq("tensor", o.store, "--window", "1s", "--repr", "time_surface:tau=100ms", "-o", path("s.npy"), "--force"),
         lambda: F.to_timesurface_numpy(ev, sensor, dt=1_000_000, tau=100_000), "tonic"),
        ("the dearest of these, each second", evq("tensor", o.store, "--window", "1s", "--repr", "event_frame:bins=10",
                                                  "-o", path("d.h5"), "--compression", "none", "--force"), None, ""),
        ("all three in one pass, each second", evq("tensor", o.store, "--window", "1s", "--repr", "voxel_grid:bins=5", "--repr", "event_frame:bins=10",
                                                   "--repr", "time_surface:tau=100ms", "-o", path("m.h5"), "--compression", "none", "--force"), None, ""),
    ]


def once(f):
    c = resource.getrusage(resource.RUSAGE_CHILDREN)
    before = time.perf_counter()
    f()
    wall = time.perf_counter() - before
    d = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, d.ru_utime + d.ru_stime - c.ru_utime - c.ru_stime


print(f"{n:,} events, {o.threads} threads, medians of {o.rounds}, load {os.getloadavg()[0]:.2f}\n")
print("| what | evq s | evq CPU s | peer s | peer | times as fast |\n| --- | --- | --- | --- | --- | --- |")
for name, ours, theirs, peer in jobs:
    mine, cpu, other = [], [], []
    for _ in range(o.rounds):
        wall, used = once(ours)
        mine.append(wall)
        cpu.append(used)
        if theirs:
            other.append(once(theirs)[0])
    m = statistics.median(mine)
    p = statistics.median(other) if other else float("nan")
    print(f"| {name} | {m:.3f} | {statistics.median(cpu):.2f} | {p:.3f} | {peer} | {p / m:.2f} |", flush=True)

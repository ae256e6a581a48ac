#!/usr/bin/env python3
"""Times evq's conversion into the store beside DuckDB's COPY and Polars' write_parquet of the same events, in turn.

    python docs/bench/convert.py REC... [--evq bin/evq] [--rounds 5] [--threads 2]

REC is any recording, such as EVT3 and gen4 HDF5, or a store. Needs duckdb; Polars is used where it is there. evq's times
are of whole processes: start-up, decoding the recording, putting it in order, writing, and waiting for the disk. Those of
DuckDB and Polars are of writing alone, from columns t BIGINT, x USMALLINT, y USMALLINT, p UTINYINT that are decoded, in
order and in memory, and they do not wait for the disk. zstd is level 1 everywhere. Prints a table of medians.
"""
import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time

a = argparse.ArgumentParser()
a.add_argument("recordings", nargs="+")
a.add_argument("--evq", default="bin/evq")
a.add_argument("--rounds", type=int, default=5)
a.add_argument("--threads", type=int, default=2)
a.add_argument("--codecs", default="zstd,lz4,none")
o = a.parse_args()

os.environ["POLARS_MAX_THREADS"] = str(o.threads)  # which Polars reads when it is imported
import duckdb

try:
    import polars
except ImportError:
    polars = None

# evq's name of a codec, DuckDB's options, Polars'
CODECS = {
    "zstd": ("COMPRESSION zstd, COMPRESSION_LEVEL 1", {"compression": "zstd", "compression_level": 1}),
    "lz4": ("COMPRESSION lz4_raw", {"compression": "lz4"}),
    "none": ("COMPRESSION uncompressed", {"compression": "uncompressed"}),
}


def evq(rec, out, codec):
    def run():
        subprocess.run([o.evq, "convert", rec, "-o", out, "--compression", codec, "--on-offsensor", "keep", "--force", "-q",
                        "--threads", str(o.threads)], check=True)
    return run


def duck(con, out, options):
    return lambda: con.execute(f"COPY ev TO '{out}' (FORMAT parquet, {options})")


def once(f, out):
    """Seconds, CPU seconds and bytes of one writing."""
    if os.path.exists(out):
        os.remove(out)
    used = lambda: sum(r.ru_utime + r.ru_stime for r in map(resource.getrusage, (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)))
    cpu, before = used(), time.perf_counter()
    f()
    return time.perf_counter() - before, used() - cpu, os.path.getsize(out)


def jobs(rec, folder):
    """The events of a recording in memory, and what is to be timed."""
    path = lambda name: os.path.join(folder, name + ".parquet")
    evq(rec, path("in"), "none")()
    con = duckdb.connect()
    con.execute(f"SET threads = {o.threads}")
    con.execute("CREATE TABLE ev AS SELECT t, x::USMALLINT x, y::USMALLINT y, p::UTINYINT p "
                f"FROM read_parquet('{path('in')}')")
    frame = polars.from_arrow(con.sql("FROM ev").to_arrow_table()) if polars else None
    os.remove(path("in"))
    out = []
    for codec in o.codecs.split(","):
        d, p = CODECS[codec]
        out.append((codec, "evq", evq(rec, path("evq"), codec), path("evq")))
        out.append((codec, "DuckDB COPY", duck(con, path("duck"), d), path("duck")))
        out.append((codec, "DuckDB COPY, V2", duck(con, path("duck2"), d + ", PARQUET_VERSION V2"), path("duck2")))
        if polars:
            out.append((codec, "Polars", lambda p=p: frame.write_parquet(path("polars"), **p), path("polars")))
    return con.execute("SELECT count(*) FROM ev").fetchone()[0], out


def main():
    print(f"{o.threads} threads, medians of {o.rounds}, load {os.getloadavg()[0]:.2f}\n")
    print("| recording | codec | writer | s | CPU s | M events a CPU second | MiB | bytes an event |\n" + "| --- " * 8 + "|", flush=True)
    for rec in o.recordings:
        with tempfile.TemporaryDirectory() as folder:
            n, todo = jobs(rec, folder)
            taken = {(codec, who): [] for codec, who, _, _ in todo}
            for _ in range(o.rounds):
                for codec, who, run, out in todo:
                    taken[codec, who].append(once(run, out))
            for (codec, who), t in taken.items():
                wall, cpu, size = (statistics.median(v) for v in zip(*t))
                print(f"| {os.path.basename(rec)}, {n:,} events | {codec} | {who} | {wall:.2f} | {cpu:.2f} | {n / cpu / 1e6:.1f} "
                      f"| {size / 2**20:.1f} | {size / n:.3f} |", flush=True)


if __name__ == "__main__":
    main()

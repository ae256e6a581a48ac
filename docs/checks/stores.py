#!/usr/bin/env python3
"""Hold the Parquet store to other programs, both ways: stores.py [--events 3000000] [--files 120] [FILE...]

Stores that evq writes, of synthetic recordings and of each FILE, are read by pyarrow, DuckDB and Polars: values, types,
statistics and sorting columns must be right, and filters that use them. Files that these three write in many ways must be
read equal by evq. Needs NumPy and pyarrow; DuckDB and Polars are used where they are there. Prints a table; exit code 1
where something differs. $EVQ names another evq.
"""
import argparse
import itertools
import random
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the folder stays as it is

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from decoders import EVENT, binary, compare, evq, evq_events

try:
    import duckdb
except ImportError:
    duckdb = None
try:
    import polars
except ImportError:
    polars = None

CODECS = ["zstd", "lz4", "none"]
SIZES = [0, 1, 2, 33, 2049]
SENSORS = [(1, 1), (2, 3), (128, 128), (346, 260), (640, 480), (1280, 720)]


def scene(n, width, height, seed, start=0, off=False):
    """n events in time order; with off some lie beside the sensor."""
    r = np.random.default_rng(seed)
    a = np.zeros(n, EVENT)
    steps = np.where(r.random(n) < 0.7, 0, r.integers(0, 9, n))
    steps[r.random(n) < 1e-3] = 70000
    a["t"] = start + np.cumsum(steps)
    a["x"] = r.integers(0, width, n)
    a["y"] = np.repeat(r.integers(0, height, n // 17 + 1), 17)[:n]  # rows fire at once
    a["p"] = r.random(n) < 0.4
    if off and n:
        a["x"][::7], a["y"][::11] = 65535 - a["x"][::7], width + height + 1
    return a


def ordered(a):
    return a[np.argsort(a["t"], kind="stable")]


def store(e, d, a, size, codec, *flags):
    """evq's store of a."""
    src, out = d / "in.npy", d / "out.parquet"
    np.save(src, a)
    evq(e, "convert", src, "-o", out, "--force", "--compression", codec, "--size", "%dx%d" % size, "--on-offsensor", "keep", *flags)
    return out


def own(path, want):
    """What is wrong with a store, by pyarrow."""
    f, bad, at = pq.ParquetFile(path), [], 0
    types = {c.name: (c.physical_type, c.logical_type.type, c.max_definition_level) for c in f.schema}
    if types != {"t": ("INT64", "NONE", 0), "x": ("INT32", "NONE", 0), "y": ("INT32", "NONE", 0), "p": ("INT32", "NONE", 0)}:
        bad.append("types %s" % types)
    for g in range(f.metadata.num_row_groups):
        rg = f.metadata.row_group(g)
        part = want[at:at + rg.num_rows]
        at += rg.num_rows
        if [(s.column_index, s.descending) for s in rg.sorting_columns] != [(0, False)]:
            bad.append("group %d has sorting columns %s" % (g, rg.sorting_columns))
        for k, name in enumerate("txyp"):
            s = rg.column(k).statistics
            right = (part[name].min(), part[name].max(), 0, rg.num_rows)
            if s is None or (s.min, s.max, s.null_count, s.num_values) != right:
                bad.append("group %d: statistics of %s are %s, not %s" % (g, name, s and (s.min, s.max, s.null_count, s.num_values), right))
        if any(rg.column(k).file_offset < 0 or rg.column(k).total_compressed_size <= 0 for k in range(4)):
            bad.append("group %d: offsets" % g)
    if at != len(want) or f.metadata.num_rows != at:
        bad.append("%d rows in groups, %d in the footer" % (at, f.metadata.num_rows))
    return bad


def of_columns(c):
    a = np.zeros(len(c["t"]), EVENT)
    for name in "txyp":
        a[name] = c[name]
    return a


def with_pyarrow(path, box):
    t = pq.read_table(path, filters=None if box is None else [("t", ">=", box[0]), ("t", "<=", box[1]), ("x", "<=", box[2])])
    return of_columns({n: t[n].to_numpy() for n in "txyp"}), t.schema.field("x").type == pa.int32() and t.schema.field("t").type == pa.int64()


def with_duckdb(path, box):
    r = duckdb.sql("select t, x, y, p from read_parquet('%s')%s" % (path, "" if box is None else " where t between %d and %d and x <= %d" % box))
    return of_columns(r.fetchnumpy()), [str(t) for t in r.types] == ["BIGINT", "INTEGER", "INTEGER", "INTEGER"]


def with_polars(path, box):
    f = polars.scan_parquet(path)
    if box is not None:
        f = f.filter(polars.col("t").is_between(box[0], box[1]) & (polars.col("x") <= box[2]))
    f = f.collect()
    return of_columns({n: f[n].to_numpy() for n in "txyp"}), f.dtypes == [polars.Int64] + 3 * [polars.Int32]


READERS = {"pyarrow": with_pyarrow} | ({"duckdb": with_duckdb} if duckdb else {}) | ({"polars": with_polars} if polars else {})


def check(path, want):
    """What the readers say that is not so."""
    bad, box = own(path, want), None
    if n := len(want):
        box = (int(want["t"][n // 3]), int(want["t"][n // 2]), int(want["x"][n // 2]))
    for name, reader in READERS.items():
        for b in {None, box}:
            right = want if b is None else want[(want["t"] >= b[0]) & (want["t"] <= b[1]) & (want["x"] <= b[2])]
            got, types = reader(str(path), b)
            if not np.array_equal(got, right):
                bad.append("%s%s: %s" % (name, "" if b is None else " within %s" % (b,), compare(right, got)))
            if not types:
                bad.append("%s: other types" % name)
    return bad


def report(what, n, bad):
    print("| %s | %d | %s |" % (what, n, "; ".join(bad)[:300].replace("|", "/") or "equal"), flush=True)
    return bool(bad)


def written(e, d, events, recordings):
    """Stores of evq."""
    failed, seed = False, 0
    for (w, h), codec in itertools.product(SENSORS, CODECS):
        bad = []
        for n in SIZES:
            seed += 1
            for a, flags in ((scene(n, w, h, seed), []), (scene(n, w, h, seed, start=-10**9), []), (scene(n, w, h, seed, off=True), []),
                             (np.random.default_rng(seed).permutation(scene(n, w, h, seed)), []), (scene(n, w, h, seed, start=2**52), [])):
                try:
                    bad += ["%d events: %s" % (n, b) for b in check(store(e, d, a, (w, h), codec, *flags), ordered(a))]
                except RuntimeError as err:
                    bad.append("%d events: evq: %s" % (n, err))
        failed |= report("evq's stores, %dx%d, %s" % (w, h, codec), sum(SIZES) * 5, bad)
    for codec in CODECS:
        a = scene(events, 1280, 720, 99)
        failed |= report("evq's store, 1280x720, %s" % codec, events, check(store(e, d, a, (1280, 720), codec), a))
        a = np.random.default_rng(1).permutation(a)
        failed |= report("the same, shuffled", events, check(store(e, d, a, (1280, 720), codec), ordered(a)))
        for path in recordings:
            want, out = evq_events(e, path), d / "rec.parquet"
            evq(e, "convert", path, "-o", out, "--force", "--compression", codec, "--on-offsensor", "keep")
            failed |= report("evq's store of %s, %s" % (Path(path).name, codec), len(want), check(out, want))
    return failed


def arrow(a, r):
    """a as an Arrow table of types drawn at random."""
    fits = [t for t in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64())]
    ints = lambda c: [t for t in fits if len(a) == 0 or a[c].max() <= np.iinfo(t.to_pandas_dtype()).max]
    t = r.choice([pa.int64(), pa.uint64(), pa.timestamp("us"), pa.timestamp("us", "UTC")])
    p, bools = r.choice(fits), r.random() < 0.3
    null = r.random() < 0.5  # nullable, but every value is there
    fields = [("t", t), ("x", r.choice(ints("x"))), ("y", r.choice(ints("y"))), ("p", pa.bool_() if bools else p)]
    r.shuffle(fields)
    schema = pa.schema([pa.field(n, f, nullable=null) for n, f in fields])
    v = a["p"].astype(bool) if bools else a["p"]
    if not bools and p in (pa.int8(), pa.int16(), pa.int32(), pa.int64()) and r.random() < 0.3:
        v = 2 * a["p"].astype(np.int64) - 1
    columns = {c: pa.array(v if c == "p" else a[c].astype(np.int64)).cast(f) for c, f in fields}
    return pa.table([columns[n] for n, _ in fields], schema=schema), {n: f for n, f in fields}


def by_pyarrow(path, a, r):
    table, types = arrow(a, r)
    o = {"version": r.choice(["1.0", "2.4", "2.6"]), "data_page_version": r.choice(["1.0", "2.0"]), "data_page_size": r.choice([64, 1000, 1 << 20]),
         "compression": r.choice(["NONE", "SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4"]), "row_group_size": r.choice([1 + len(a) // 3, 1 << 20]),
         "write_statistics": r.random() < 0.8, "write_page_index": r.random() < 0.3, "write_page_checksum": r.random() < 0.3,
         "write_batch_size": r.choice([16, 1024]), "store_schema": r.random() < 0.5, "dictionary_pagesize_limit": r.choice([100, 1 << 20])}
    if o["version"] == "1.0":  # which has no 32-bit unsigned integers, and writes them as 64-bit ones
        o["coerce_timestamps"] = "us"
    if r.random() < 0.5:
        o["use_dictionary"] = False
        o["column_encoding"] = {c: r.choice(["PLAIN", "RLE"] if t == pa.bool_() else ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]) for c, t in types.items()}
    if r.random() < 0.5:
        o["sorting_columns"] = [pq.SortingColumn(table.column_names.index("t"))]
    pq.write_table(table, path, **o)
    return {"types": {c: str(t) for c, t in types.items()}, **o}


def by_duckdb(path, a, r):
    table, types = arrow(a, r)  # noqa: F841: DuckDB finds the table by its name
    o = "PARQUET_VERSION %s, COMPRESSION %s, ROW_GROUP_SIZE %d" % (r.choice(["V1", "V2"]), r.choice(["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"]), r.choice([2048, 122880]))
    if r.random() < 0.3:
        o += ", DICTIONARY_SIZE_LIMIT 1"
    duckdb.from_arrow(table).query("v", "copy v to '%s' (format parquet, %s)" % (path, o))
    return {"types": {c: str(t) for c, t in types.items()}, "options": o}


def by_polars(path, a, r):
    table, types = arrow(a, r)
    o = {"compression": r.choice(["lz4", "uncompressed", "snappy", "gzip", "brotli", "zstd"]), "statistics": r.choice([True, False, "full"]),
         "row_group_size": r.choice([None, 1 + len(a) // 3]), "data_page_size": r.choice([None, 500])}
    polars.from_arrow(table).write_parquet(path, **o)
    return {"types": {c: str(t) for c, t in types.items()}, **o}


WRITERS = {"pyarrow": by_pyarrow} | ({"duckdb": by_duckdb} if duckdb else {}) | ({"polars": by_polars} if polars else {})


def foreign(e, d, files):
    """Files of other writers."""
    failed = False
    for name, write in WRITERS.items():
        r, bad, total = random.Random(7), [], 0
        for i in range(files):
            w, h = SENSORS[i % len(SENSORS)] if i % 7 else (65536, 300)
            n = (SIZES + [70000])[i % 6]
            a = scene(n, w, h, i)
            total += n
            o = write(d / "foreign.parquet", a, r)
            try:
                got = evq_events(e, d / "foreign.parquet", "--size", "65536x65536")
                if not np.array_equal(a, got):
                    bad.append("file %d, %s: %s" % (i, o, compare(a, got)))
            except RuntimeError as err:
                bad.append("file %d, %s: evq: %s" % (i, o, err))
        failed |= report("%d files of %s" % (files, name), total, bad)
    return failed


def main():
    a = argparse.ArgumentParser()
    a.add_argument("recordings", nargs="*")
    a.add_argument("--events", type=int, default=3_000_000)
    a.add_argument("--files", type=int, default=120)
    o = a.parse_args()
    e = binary()
    print("| what | events | result |\n| --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as d:
        return foreign(e, Path(d), o.files) | written(e, Path(d), o.events, o.recordings)


if __name__ == "__main__":
    sys.exit(main())

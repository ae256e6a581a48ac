"""Other programs that decode event recordings, and what the checks of this folder share.

Each reader returns the columns t (microseconds), x, y, p (0 = OFF, 1 = ON) in file order. What is not installed is left
out. Run as a program, it is one reader in a process of its own, so that a crash of a decoder ends no check:
decoders.py NAME FORMAT FILE OUT.npy
"""
import json, os, shutil, subprocess, sys, tempfile
from pathlib import Path

import numpy as np

EVENT = np.dtype([("t", "<i8"), ("x", "<u2"), ("y", "<u2"), ("p", "u1")])


def pack(t, x, y, p):
    a = np.zeros(len(t), EVENT)
    a["t"], a["x"], a["y"], a["p"] = t, x, y, np.asarray(p).astype(np.int64) > 0
    return a


def evlib(_, path):
    import evlib
    f = evlib.load_events(str(path), sort=False).collect()
    t = f["t"].dt.total_microseconds().to_numpy()
    return pack(t, f["x"].to_numpy(), f["y"].to_numpy(), f["polarity"].to_numpy())


def faery(_, path):
    import faery
    parts = [pack(a["t"].astype(np.int64), a["x"], a["y"], a["on"] if "on" in a.dtype.names else a["p"])
             for a in faery.events_stream_from_file(str(path))]
    return np.concatenate(parts or [np.zeros(0, EVENT)])


def evutils(_, path):
    from evutils.io import EventReader
    a = EventReader(str(path)).read_all()
    return pack(a["t"], a["x"], a["y"], a["p"])


def expelliarmus(fmt, path):
    from expelliarmus import Wizard
    a = Wizard(encoding=fmt).read(str(path))
    return pack(a["t"], a["x"], a["y"], a["p"])


def evt3(_, path):
    import evt3
    e = evt3.decode_file(str(path))
    return pack(e.t, e.x, e.y, e.p)


def dv(_, path):
    import dv_processing
    reader, parts = dv_processing.io.MonoCameraRecording(str(path)), []
    while (batch := reader.getNextEventBatch()) is not None:
        n = batch.numpy()
        parts.append(pack(n["timestamp"], n["x"], n["y"], n["polarity"]))
    return np.concatenate(parts or [np.zeros(0, EVENT)])


def openeb(fmt, path):
    with tempfile.TemporaryDirectory() as d:
        out = Path(d) / "events.csv"
        subprocess.run(["metavision_%s_raw_file_decoder" % fmt, str(path), str(out)], check=True, capture_output=True)
        a = np.loadtxt(out, delimiter=",", dtype=np.int64, comments="%", ndmin=2)
    return pack(a[:, 3], a[:, 0], a[:, 1], a[:, 2])


def h5(_, path):
    import h5py
    try:
        import hdf5plugin  # noqa: F401: it registers the filters
    except ImportError:
        pass
    with h5py.File(path) as f:
        if "CD/events" in f:
            a = f["CD/events"][:]
            return pack(a["t"], a["x"], a["y"], a["p"])
        e = f["events"]
        t = e["t"][:].astype(np.int64) + (int(f["t_offset"][()]) if "t_offset" in f else 0)
        return pack(t, e["x"][:], e["y"][:], e["p"][:])


def npfile(_, path):
    a = np.load(path)
    return pack(a["t"], a["x"], a["y"], a["p"])


def arrow(fmt, path):
    import pyarrow as pa
    import pyarrow.ipc as ipc
    with pa.memory_map(str(path)) as m:
        try:
            table = ipc.open_file(m).read_all()
        except pa.ArrowInvalid:
            m.seek(0)
            table = ipc.open_stream(m).read_all()
    return columns(table)


def parquet(_, path):
    import pyarrow.parquet
    return columns(pyarrow.parquet.read_table(path))


def columns(table):
    import pyarrow as pa
    c = {n: table.column(n).cast(pa.int64()).to_numpy() for n in "txyp"}
    return pack(c["t"], c["x"], c["y"], c["p"])


def duck(fmt, path):
    import duckdb
    read = {"parquet": "read_parquet", "csv": "read_csv"}[fmt]
    more = ", comment='#'" if fmt == "csv" else ""
    c = duckdb.sql("select t, x, y, cast(p as int) p from %s('%s'%s)" % (read, str(path).replace("'", "''"), more)).fetchnumpy()
    return pack(c["t"], c["x"], c["y"], c["p"])


def words(_, path):
    """Text as NumPy reads it: t x y p, seconds as decimals where there is a point."""
    from decimal import ROUND_HALF_EVEN, Decimal
    rows = [l.replace(",", " ").split() for l in Path(path).read_text().splitlines() if l and l[0] not in "#%t"]
    t = [int((Decimal(r[0]) * 1000000).quantize(0, ROUND_HALF_EVEN)) if "." in r[0] else int(r[0]) for r in rows]
    c = np.array([r[1:4] for r in rows], dtype=np.int64).reshape(-1, 3)
    return pack(t, c[:, 0], c[:, 1], c[:, 2])


# name: reader, Python modules or programs that it needs, the formats that it claims
PEERS = {
    "evlib": (evlib, ["evlib", "polars"], ["evt2", "evt21", "evt3", "aedat1", "aedat2", "aedat3", "aedat4", "hdf5", "text"]),
    "faery": (faery, ["faery"], ["evt2", "evt21", "evt3", "dat", "aedat4", "es", "csv"]),
    "evutils": (evutils, ["evutils"], ["evt2", "evt21", "evt3", "dat", "aedat4", "hdf5", "npz", "csv"]),
    "expelliarmus": (expelliarmus, ["expelliarmus"], ["evt2", "evt3", "dat"]),
    "evt3": (evt3, ["evt3"], ["evt3"]),
    "dv-processing": (dv, ["dv_processing"], ["aedat4"]),
    "openeb": (openeb, ["metavision_evt2_raw_file_decoder|"], ["evt2"]),
    "openeb3": (openeb, ["metavision_evt3_raw_file_decoder|"], ["evt3"]),
    "h5py": (h5, ["h5py"], ["hdf5"]),
    "numpy": (npfile, ["numpy"], ["npy", "npz"]),
    "pyarrow": (arrow, ["pyarrow"], ["arrow"]),
    "pyarrow-parquet": (parquet, ["pyarrow"], ["parquet"]),
    "duckdb": (duck, ["duckdb"], ["parquet", "csv"]),
    "python": (words, ["numpy"], ["text", "csv"]),
}


def missing(name):
    """What a reader needs and is not there."""
    import importlib.util
    return [m.rstrip("|") for m in PEERS[name][1] if not (shutil.which(m[:-1]) if m.endswith("|") else importlib.util.find_spec(m))]


def read(name, fmt, path, timeout=300):
    """The events that a reader sees, or why it sees none."""
    with tempfile.TemporaryDirectory() as d:
        out = Path(d) / "out.npy"
        env = dict(os.environ, PYTHONWARNINGS="ignore")
        try:
            r = subprocess.run([sys.executable, __file__, name, fmt, str(path), str(out)], capture_output=True, text=True, timeout=timeout, env=env)
        except subprocess.TimeoutExpired:
            return None, "not done after %d s" % timeout
        if r.returncode or not out.exists():
            lines = [l for l in r.stderr.strip().splitlines() if l.strip()]
            return None, (lines[-1][:150] if lines else "exit code %d" % r.returncode)
        return np.load(out), ""


def evq(binary, *args, codes=(0, 3)):
    r = subprocess.run([binary, *map(str, args)], capture_output=True, text=True)
    if r.returncode not in codes:
        raise RuntimeError(r.stderr.strip()[-200:])
    return r


def evq_events(binary, path, *flags):
    """What evq decodes: in time order, events of one time in file order."""
    with tempfile.TemporaryDirectory() as d:
        out = Path(d) / "events.npz"
        evq(binary, "convert", path, "-o", out, "--on-offsensor", "keep", *flags)
        return npfile("npz", out)


def format_of(binary, path, *flags):
    f = json.loads(evq(binary, "info", path, "--json", "--quick", *flags).stdout)["format"]
    return f["name"] if isinstance(f, dict) else f


def compare(want, got):
    """equal, equal in another order, or how they differ."""
    if len(want) == len(got) and np.array_equal(want, got):
        return "equal"
    ordered = [np.sort(a, order=["t", "x", "y", "p"]) for a in (want, got)]
    if len(want) == len(got) and np.array_equal(*ordered):
        return "equal, ties in another order"
    parts = ["differs: %d events, evq %d" % (len(got), len(want))] if len(want) != len(got) else ["differs"]
    if len(want) == len(got):
        parts += ["%d %s" % (n, c) for c in "txyp" if (n := int((want[c] != got[c]).sum()))]
    return ", ".join(parts)


def binary():
    """The evq to check: $EVQ, or bin/evq of the project, or one on the PATH."""
    own = Path(__file__).resolve().parents[2] / "bin" / "evq"
    b = os.environ.get("EVQ") or (str(own) if own.exists() else shutil.which("evq"))
    if not b:
        sys.exit("no evq: run make build, or name one in $EVQ")
    return b


if __name__ == "__main__":
    name, fmt, path, out = sys.argv[1:]
    np.save(out, PEERS[name][0](fmt, path))

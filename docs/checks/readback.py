#!/usr/bin/env python3
"""Have other programs read what evq writes: readback.py [FILE]

Without a file a synthetic recording is made. It is converted into every format that evq writes, and each is read by what is
installed of evlib, faery, evutils, expelliarmus, evt3, h5py, NumPy, pyarrow and DuckDB. Prints a table; exit code 1 where
something differs or evq cannot write. $EVQ names another evq.
"""
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # the folder stays as it is

from decoders import PEERS, binary, compare, evq, evq_events, missing, read

# name of the file, the format's name for readers, further flags
OUTPUTS = [
    ("o.evt2", "evt2", []), ("o.evt21", "evt21", []), ("o.evt3", "evt3", []), ("o.dat", "dat", []), ("o.h5", "hdf5", []),
    ("dsec.h5", "hdf5", ["--layout-out", "dsec"]), ("o.txt", "text", []), ("o.csv", "csv", []), ("o.npz", "npz", []),
    ("o.npy", "npy", []), ("o.arrow", "arrow", []), ("o.arrows", "arrow", []), ("o.parquet", "parquet", []),
]
# Readers that go by the name of the file.
NAMES = {"evt2": ".raw", "evt21": ".raw", "evt3": ".raw"}


def main(paths):
    e, failed = binary(), False
    with tempfile.TemporaryDirectory() as d:
        d = Path(d)
        src = Path(paths[0]) if paths else d / "scene.evt3"
        if not paths:
            evq(e, "bench", "generate", "-o", src, "--events", "200k", "--seconds", "1", "--size", "640x480")
        want = evq_events(e, src)
        print("%d events of %s\n\n| written | reader | result |\n| --- | --- | --- |" % (len(want), src.name))
        for name, fmt, flags in OUTPUTS:
            out = d / name
            try:
                evq(e, "convert", src, "-o", out, *flags)
            except RuntimeError as err:
                print("| %s %s | evq | cannot write: %s |" % (name, " ".join(flags), err))
                failed = True
                continue
            if fmt in NAMES:
                out = out.rename(out.with_suffix("." + fmt + NAMES[fmt]))
            for n, (_, _, claims) in PEERS.items():
                if fmt not in claims:
                    continue
                if m := missing(n):
                    result = "left out: no " + ", ".join(m)
                else:
                    got, why = read(n, fmt, out)
                    result = "refused: " + why.replace("|", "/") if got is None else compare(want, got)
                failed |= result.startswith("differs")
                print("| %s | %s | %s |" % (name, n, result), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

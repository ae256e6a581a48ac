#!/usr/bin/env python3
"""Compare evq's decode of recordings with that of every decoder that is installed: peers.py FILE...

Needs NumPy; evlib, faery, evutils, expelliarmus, evt3, dv-processing, h5py and the standalone decoders of OpenEB are used
where they are there. Prints a table: equal, differs (how), or refused (why). A difference is no verdict: see
docs/conformance.md. Exit code 1 where something differs. $EVQ names another evq.
"""
import sys

sys.dont_write_bytecode = True  # the folder stays as it is

from decoders import PEERS, binary, compare, evq_events, format_of, missing, read

SKIP = {"numpy", "pyarrow", "pyarrow-parquet", "duckdb", "python"}  # readers of tables, not decoders of recordings


def main(paths):
    if not paths:
        sys.exit(__doc__)
    peers = {n: p for n, p in PEERS.items() if n not in SKIP}
    for n in list(peers):
        if m := missing(n):
            print("# %s is left out: no %s" % (n, ", ".join(m)))
            del peers[n]
    evq, differs = binary(), False
    print("| recording | format | events | decoder | result |\n| --- | --- | --- | --- | --- |")
    for path in paths:
        try:
            fmt, want = format_of(evq, path), evq_events(evq, path)
        except RuntimeError as e:
            print("| %s | - | - | evq | refused: %s |" % (path, e))
            continue
        for n, (_, _, claims) in peers.items():
            if fmt not in claims:
                continue
            got, why = read(n, fmt, path)
            result = "refused: " + why.replace("|", "/") if got is None else compare(want, got)
            differs |= result.startswith("differs")
            print("| %s | %s | %d | %s | %s |" % (path, fmt, len(want), n, result), flush=True)
    return differs


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

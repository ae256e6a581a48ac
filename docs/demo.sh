#!/usr/bin/env bash
# Make a small recording, then convert, inspect, query and draw it. "make demo" builds bin/evq and runs this.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/bin:$PATH"
mkdir -p demo
exec 2>&1 # what evq says about its work, in order with its output

run() {
	printf '\n$ %s\n' "$*"
	"$@"
}

echo "1. A recording: three seconds of a synthetic drive, in a camera's own format (EVT3)."
run evq bench generate -o demo/drive.raw --events 2.5M --seconds 3 --size 1280x720 --seed 1 --force

echo
echo "2. Converted once to the sorted Parquet store, which DuckDB, pyarrow and Polars read too."
run evq convert demo/drive.raw -o demo/drive.parquet --on-unsorted clamp --on-offsensor keep --force
run evq info demo/drive.parquet

echo
echo "3. A query: ON events of the middle of the picture, in one second. How it will run, and its first events."
query=(--time 1s..2s --roi 320,180,959,539 --polarity on)
run evq explain tensor demo/drive.parquet "${query[@]}" --window 50ms --repr stacked_histogram:bins=5
run evq head demo/drive.parquet "${query[@]}" -n 5
run evq tensor demo/drive.parquet "${query[@]}" --window 50ms --repr stacked_histogram:bins=5 -o demo/query.npz --force

echo
echo "4. Tables: rates half a second at a time, the busiest tiles, and the same store asked in SQL."
run evq query demo/drive.parquet --window 500ms --group p --agg count,rate
run evq query demo/drive.parquet --group 'tile(160)' --order count:desc --limit 5
if evq version | grep -q 'sql *yes'; then
	run evq sql "SELECT x // 320 AS stripe, count(*) AS events, avg(p) AS on_share
		FROM 'demo/drive.parquet' GROUP BY stripe ORDER BY stripe"
fi

echo
echo "5. The stacked histogram as RVT's preprocessing makes it, and a sheet of frames to look at."
outputs=(demo/drive.raw demo/drive.parquet demo/query.npz demo/sheet.png)
if evq version | grep -q 'hdf5 *yes'; then
	run evq tensor demo/drive.parquet --window 50ms --repr rvt -o demo/rvt.h5 --force
	outputs+=(demo/rvt.h5)
else
	echo "This evq is built without HDF5, so that rvt.h5 is left out; docs/build.md says how to get it."
fi
run evq tensor demo/drive.parquet --window 250ms --repr stacked_histogram:bins=1 -o demo/sheet.png --force

echo
echo "Made:"
ls -l "${outputs[@]}"

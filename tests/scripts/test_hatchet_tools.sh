#!/bin/sh
# SPDX-License-Identifier: MIT
# Hatchet and Triton's proton-viewer open our files and see our numbers.
set -eu
srcdir=${srcdir:-.}
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/programs/make_profile hatchet "$dir/sample.hatchet"
tests/programs/make_profile json "$dir/sample.json"
for f in upstream-cuda.json upstream-leaf_nodes.json upstream-hip.json h200-torch-add-python.hatchet; do
	tests/programs/make_profile hatchet "$dir/$f.hatchet" "$srcdir/tests/hatchet/$f"
	tests/programs/make_profile json "$dir/$f.json" "$srcdir/tests/hatchet/$f"
done
# Once for all files: it is the libraries that take their time to start.
python3 "$srcdir/tests/tools/validate_hatchet.py" "$dir"/*.hatchet 2>"$dir/err" || {
	r=$?
	cat "$dir/err"
	exit $r
}

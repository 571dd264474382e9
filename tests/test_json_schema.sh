#!/bin/sh
# SPDX-License-Identifier: MIT
# What the JSON export writes is what its schema says.
set -eu
srcdir=${srcdir:-.}
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/make_profile json "$dir/sample.json"
for f in cuda frame leaf_nodes triton; do
	tests/make_profile json "$dir/$f.json" "$srcdir/tests/hatchet/upstream-$f.json"
done
python3 "$srcdir/tests/validate_json.py" "$srcdir/data/proton-profile.schema.json" "$dir"/*.json

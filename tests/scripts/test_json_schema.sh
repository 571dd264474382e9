#!/bin/sh
# SPDX-License-Identifier: MIT
# What the JSON export writes is what its schema says.
set -eu
srcdir=${srcdir:-.}
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/programs/make_profile json "$dir/sample.json"
for f in cuda frame leaf_nodes triton; do
	tests/programs/make_profile json "$dir/$f.json" "$srcdir/tests/hatchet/upstream-$f.json"
done
python3 "$srcdir/tests/tools/validate_json.py" "$srcdir/data/proton-profile.schema.json" "$dir"/*.json

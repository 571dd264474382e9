#!/bin/bash
# SPDX-License-Identifier: MIT
# The time on the device in a file, added up by parsers that are not ours, is that in every export.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
build=$PWD
. "${srcdir:-.}/tests/tools/cli_help.sh"
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
files=()
for f in torch.json h200-torch-graph.json h200-torch-stack.json h200-triton.chrome_trace \
	proton.chrome_trace; do
	files+=("$tests/chrome/$f")
done
for f in upstream-cuda.json upstream-hip.json upstream-leaf_nodes.json upstream-triton.json \
	h200-torch-add-python.hatchet h200-torch-add-shadow.hatchet h200-triton-graph.hatchet \
	h200-triton-samples.hatchet; do
	files+=("$tests/hatchet/$f")
done
if grep -q 'define HAVE_SQLITE 1' "$build/config.h" && python3 "$tests/databases/make_databases.py" .; then
	files+=("$work/nsys.sqlite" "$work/nsys_old.sqlite")
fi
python3 "$tests/tools/validate_totals.py" "$PROTON" "${files[@]}"; check "totals" 0 $?
# By name, and below which operator.
python3 "$tests/tools/compare_traces.py" "$PROTON" "$tests"/chrome/torch.json "$tests"/chrome/h200-torch-*.json
check "kernels, operators and launches of traces" 0 $?
finish

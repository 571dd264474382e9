#!/bin/sh
# SPDX-License-Identifier: MIT
# What is written for other programs, seen by parsers that are not ours.
set -eu
srcdir=${srcdir:-.}
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
formats="json csv markdown folded speedscope pprof callgrind flamegraph dot hatchet_msgpack hatchet"
write_all() {
	name=$1
	shift
	for format in $formats; do
		tests/programs/make_profile "$format" "$dir/$name.$format" "$@"
	done
}
write_all sample
for f in upstream-cuda.json upstream-leaf_nodes.json upstream-triton.json \
	h200-torch-add-python.hatchet; do
	write_all "$f" "$srcdir/tests/hatchet/$f"
done
printf '[]\n' >"$dir/nothing.hatchet"
write_all nothing "$dir/nothing.hatchet"
# Profiles with a trace, and what our own reader makes of it.
write_all overlap "$srcdir/tests/wire/overlap.tape"
for format in chrome perfetto; do
	tests/programs/make_profile "$format" "$dir/overlap.$format" "$srcdir/tests/wire/overlap.tape"
	tests/programs/make_profile "$format" "$dir/sample.$format"
	for f in torch h200-torch-stack nsys array; do # with ranges of the host
		tests/programs/make_profile "$format" "$dir/$f.$format" "$srcdir/tests/chrome/$f.json"
		tests/programs/make_profile json "$dir/$f.json" "$srcdir/tests/chrome/$f.json"
	done
done
tests/programs/make_profile json "$dir/chrome-again" "$dir/overlap.chrome"
if tests/programs/make_profile perfetto "$dir/none" "$srcdir/tests/wire/torch.tape" 2>/dev/null; then
	echo "a trace of a profile without one"
	exit 1
fi
# Folded stacks are read again: all values are there.
tests/programs/make_profile json "$dir/again" "$dir/h200-torch-add-python.hatchet.folded"
tests/programs/make_profile folded "$dir/again.folded" "$dir/h200-torch-add-python.hatchet.folded"
sort "$dir/h200-torch-add-python.hatchet.folded" >"$dir/a"
sort "$dir/again.folded" | cmp - "$dir/a"
# MessagePack is read again: the values of all nodes are there.
for f in upstream-cuda.json upstream-triton.json; do
	tests/programs/make_profile csv "$dir/again" "$dir/$f.hatchet_msgpack"
	cmp "$dir/again" "$dir/$f.csv"
done
python3 "$srcdir/tests/tools/validate_exports.py" "$dir"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces in Perfetto's own viewer: as many executions, as long as the profile says.
srcdir=$(cd "${srcdir:-.}" && pwd)
proton=${PROTON:-$PWD/proton}
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
for name in chromium chromium-browser google-chrome; do
	browser=$(command -v $name) && break
done
[ -n "$browser" ] || { echo "skipped: no chromium is installed"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/proton-perfetto-XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99

arguments=
for profile in chrome/h200-torch-stack.json chrome/h200-triton.chrome_trace wire/overlap.tape; do
	"$proton" export -f json "$srcdir/tests/$profile" >profile.json || exit 1
	sums=$(python3 -c 'import json
with open("profile.json") as f: nodes = json.load(f)["nodes"]
print(*(sum(n["metrics"].get(m, 0) for n in nodes) for m in ("count", "time (ns)")))')
	for format in chrome perfetto; do
		trace=$(basename "$profile").$format
		"$proton" export -f $format -o "$trace" "$srcdir/tests/$profile" || exit 1
		arguments="$arguments $trace $sums"
	done
done
# shellcheck disable=SC2086 # words
python3 "$srcdir/tests/drive_perfetto.py" "$browser" $arguments

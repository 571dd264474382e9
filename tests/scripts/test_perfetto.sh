#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces in Perfetto's own viewer: as many executions, and ranges on the host, as long as the profile says, and an
# arrow for each that was launched within such a range.
. "${srcdir:-.}/tests/tools/browser_help.sh"

arguments=
for profile in chrome/h200-torch-stack.json chrome/h200-triton.chrome_trace wire/overlap.tape; do
	"$proton" export -f json "$srcdir/tests/$profile" >profile.json || exit 1
	sums=$(python3 -c 'import json
with open("profile.json") as f: nodes = json.load(f)["nodes"]
print(*(sum(n["metrics"].get(m, 0) for n in nodes for m in pair)
        for pair in (("count", "cpu_count"), ("time (ns)", "cpu_time (ns)"))))')
	for format in chrome perfetto; do
		trace=$(basename "$profile").$format
		"$proton" export -f $format -o "$trace" "$srcdir/tests/$profile" || exit 1
		[ $format != chrome ] || launches=$(grep -c '"ph":"s"' "$trace")
		arguments="$arguments $trace $sums $launches"
	done
done
# shellcheck disable=SC2086 # words
python3 "$srcdir/tests/tools/drive_perfetto.py" "$browser" $arguments

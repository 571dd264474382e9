#!/bin/sh
# SPDX-License-Identifier: MIT
# Traces in Perfetto's own viewer: as many executions, and ranges on the host, as long as the profile says, an
# arrow for each that was launched within such a range, and all values of counters.
. "${srcdir:-.}/tests/tools/browser_help.sh"

arguments=
# sums NODES|INTERVALS: how many executions and ranges profile.json has, and how long they took
sums() {
	python3 -c 'import json, sys
with open("profile.json") as f: p = json.load(f)
if sys.argv[1] == "intervals":
    v = p["intervals"]
    print(len(v), sum(i["end_ns"] - i["start_ns"] for i in v))
else:
    print(*(sum(n["metrics"].get(m, 0) for n in p["nodes"] for m in pair)
            for pair in (("count", "cpu_count"), ("time (ns)", "cpu_time (ns)"))))' "$1"
}
# add NAME PROFILE NODES|INTERVALS
add() {
	"$proton" export -f json "$2" >profile.json || exit 1
	told=$(sums "$3")
	for format in chrome perfetto; do
		"$proton" export -f $format -o "$1.$format" "$2" || exit 1
		[ $format != chrome ] || told="$told $(grep -c '"ph":"s"' "$1.chrome") $(grep -c '"ph":"C"' "$1.chrome")"
		arguments="$arguments $1.$format $told"
	done
}

for profile in chrome/h200-torch-stack.json chrome/h200-triton.chrome_trace wire/overlap.tape; do
	add "$(basename "$profile")" "$srcdir/tests/$profile" nodes
done

# Single scopes of warps within kernels, in Perfetto's form and in that of Triton's Proton: of 96 warps eight scopes and two instants each.
python3 "$srcdir/tests/tools/check_warps.py" make warps.warps || exit 1
for format in chrome perfetto; do
	"$proton" export -f $format --warps -o warps.$format warps.warps || exit 1
	arguments="$arguments warps.$format 960 588288 0 0"
done

# Scopes with what was launched in them and waits, and the memory that a device holds. How long scopes took is summed
# up by a clock that is read beside that of the trace, to some microseconds.
libs=$(dirname "$proton")/tests/mocks/.libs
if [ -e "$libs/mock_cupti.so" ]; then
	for program in collect_idle "collect_steps grows 20"; do
		name=planted-${program%% *}
		# shellcheck disable=SC2086 # words
		PROTON_CUPTI_PATH=$libs/mock_cupti.so timeout 120 "$proton" record -q --trace --sync -o $name.hatchet -- \
			"$(dirname "$proton")"/tests/programs/$program "$libs/libcuda.so.1" >out || exit 1
		add $name $name.hatchet intervals
	done
	for what in '"cat":"scope"' '"cat":"cuda_runtime"' '"cat":"ac2g"' '"name":"busy %"' '"name":"memory"'; do
		grep -q "$what" planted-*.chrome || { echo "FAILED: no $what in what was planted"; exit 1; }
	done
else
	echo "no mock libcupti in $libs: no trace with scopes, waits and memory"
fi
# shellcheck disable=SC2086 # words
python3 "$srcdir/tests/tools/drive_perfetto.py" "$browser" $arguments

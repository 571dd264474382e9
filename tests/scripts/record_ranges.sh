#!/bin/bash
# SPDX-License-Identifier: MIT
# Hardware metrics of scopes, of ranges of NVTX and of graphs: what the mock of CUPTI has planted is there once, at the
# innermost one that it ran in, whatever the threads do; and no trouble with them is the program's, or its times'.
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset CUDA_VISIBLE_DEVICES LD_PRELOAD MOCK_CUPTI_HOST MOCK_CUPTI_RANGES
libs=$(dirname "$PROTON")/tests/mocks/.libs
case $libs in /*) ;; *) libs=$PWD/$libs ;; esac
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libraries in $libs"; exit 77; }
app=${libs%/mocks/.libs}/programs/collect_ranges
mkdir lib && cp "$libs/libcuda.so.1" lib/
export PROTON_CUPTI_PATH=$libs/mock_cupti.so LD_LIBRARY_PATH=$work/lib MOCK_CUPTI_CHIP=GH100
two=dram__bytes.sum,lts__t_sector_hit_rate.pct

# run RANGE [MORE]: the profile is a.hatchet; prints the status.
run() {
	rm -f a.hatchet
	"$PROTON" record -q -o a.hatchet --metrics $two --range "$1" -- "$app" "$work/lib/libcuda.so.1" "${@:2}" \
		>out 2>err
	echo $?
}
# of METRIC NAME: its value there, without what is below it; over all threads. "-": none.
of() {
	python3 - "$1" "$2" <<'PY'
import json, sys
def walk(node, found):
    v = node["metrics"].get(sys.argv[1])
    if v is not None and node["frame"]["name"] == sys.argv[2]:
        found.append(v)
    for child in node["children"]:
        walk(child, found)
found = []
walk(json.load(open("a.hatchet"))[0], found)
print("%g" % sum(found) if found else "-")
PY
}
# is WHAT NAME SUM RANGES
is() {
	check "$1: $2" "$3 in $4" "$(of dram__bytes.sum "$2") in $(of measured "$2")"
}
notes() { "$PROTON" report --view notes a.hatchet; }

# ---- scopes: "add" counts 100, "mul" 200, a node of a graph 100
check "scopes: status" 0 "$(run scope)"
has "the run is told how" "hardware metrics of scopes: the device is waited for" <(notes)
is scopes outer 300 2
is scopes inner 200 1
is "nothing was launched" empty - -
is scopes pushed 200 1
is scopes within 100 1
is "of no thread" started - -
is "two threads by turns" left 200 2
is "two threads by turns" right 200 1
is "another thread works for it, and leaves what is not its own" crossed 400 3
is "graphs" graph 1000 1
is "while a stream is captured" captured - -
has "… which is told" "not measured: 2 launches while a stream was captured" <(notes)
is "beside a fork" forks 200 1
is "an image is full" many 300000 3000
is "open at the end" open 100 1
is "kernels have none of their own" add - -
check "a kernel is counted as often as it ran" 3012 "$(of count add)"
check "a scope has what those within it have" 500 "$("$PROTON" export -f json a.hatchet | python3 -c '
import json, sys
nodes = json.load(sys.stdin)["nodes"]
of = {n["id"]: n for n in nodes}
def within(n):
    return n is not None and (n["name"] == "outer" or within(of.get(n["parent"])))
print("%g" % sum(n["metrics"].get("dram__bytes.sum", 0) for n in nodes if within(n)))')"
check "the report adds them up" "500" "$("$PROTON" report --view tree -m dram__bytes.sum a.hatchet |
	sed -n '/ outer/s/^[^0-9]*\([0-9.]*\).*/\1/p' | head -1)"

# ---- what CUPTI launches by itself is in no range
for how in waits unseen within; do
	export MOCK_CUPTI_RANGES=$how
	check "of CUPTI's own ($how): status" 0 "$(run scope)"
	is "$how" outer 300 2
	is "$how" many 300000 3000
	check "$how: kernels" "3012 and -" "$(of count add) and $(of count WaitNs)"
	# The child that it forks ends at once, and may have been heard of.
	check "$how: losses" scope_mismatch=1 "$(losses a.hatchet | sed -E 's/ (unheard|vanished)=1//')"
	has "$how: told" "kernels 'WaitNs' that CUPTI launched by itself" <(notes)
	unset MOCK_CUPTI_RANGES
done

# ---- sessions: what was counted in one is in it, and not in the next, which may have its place
check "sessions: status" 0 "$(run scope sessions)"
mv first.hatchet a.hatchet
is "a session" early 200 1
is "a session" later - -
mv second.hatchet a.hatchet
is "the next session" early - -
is "the next session" later 200 1

check "phases: status" 0 "$(run scope phases)"
for i in 0 1 2; do
	mv phased.part_$i.hatchet a.hatchet
	is "phase $i" p$i 100 1
	is "phase $i, the one before" p$((i - 1)) - -
done

# ---- NVTX
check "nvtx: status" 0 "$(run nvtx)"
is nvtx pushed 300 2
is nvtx within - -
is nvtx outer - -

# ---- graphs
check "graphs: status" 0 "$(run graph)"
is "by launch" graph 1000 2
is "by launch" outer - -
is "by launch" many - -

# ---- trouble
check "killed: status" 137 "$(run scope killed)"
check "killed: there is a profile" 0 "$("$PROTON" report a.hatchet >/dev/null 2>&1; echo $?)"
export MOCK_CUPTI_RANGES=35
check "not permitted: status" 0 "$(run scope)"
has "not permitted: why" "no hardware metrics: the driver keeps hardware counters for administrators" <(notes)
check "not permitted: times all the same" 3012 "$(of count add)"
export MOCK_CUPTI_RANGES=broken
check "broken: status" 0 "$(run scope)"
has "broken: why" "cuptiRangeProfilerDecodeData fails (error 999)" <(notes)
check "broken: nothing is made up" - "$(of dram__bytes.sum outer)"
export MOCK_CUPTI_RANGES=drop
check "without room: status" 0 "$(run scope)"
has "without room: why" "ranges for which CUPTI had no room" <(notes)
export MOCK_CUPTI_RANGES=cancel
check "cancelled within CUPTI: status" 0 "$(run scope cancelled)"
is "a thread before it was cancelled" before 100 1
is "the one that was" cancelled 100 1
is "one after another was cancelled" after 200 1
check "a cancelled launch is a launch" 2 "$(of count add)"

# ---- each call of CUPTI fails in turn: times all the same, and what was counted before
for ((i = 1; i <= 16; i++)); do
	export MOCK_CUPTI_RANGES=at=$i
	check "call $i fails: status, times" "0 3012" "$(run scope) $(of count add)"
	has "call $i fails: why" " fails (error 999)" <(notes)
done
is "a call fails after others that counted" outer 300 2
is "a call fails after others that counted" inner 200 1
is "a call fails before this counts" many - -
has "… which are not all" "no hardware metrics from here on" <(notes)
unset MOCK_CUPTI_RANGES
finish

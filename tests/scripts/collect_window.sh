#!/bin/bash
# SPDX-License-Identifier: MIT
# --trace-window: a trace holds what ran in its window, and no more; sums are of all of the run.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_window
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

# run NAME OPTIONS...
run() {
	local name=$1
	shift
	timeout 120 "$PROTON" record -q -o "$name.hatchet" "$@" -- "$app" "$libs/libcuda.so.1" >out 2>err
	check "$name: status" 0 $?
}
# names of what was traced, in the order of time; how many there are in the sums
traced() {
	"$PROTON" export -f json "$1.hatchet" | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n["name"] for n in p["nodes"]}
work = [i for i in p.get("intervals", []) if p["lanes"][i["lane"]]["device"] is not None]
print(*(name[i["node"]] for i in sorted(work, key=lambda i: i["start_ns"])))'
}
# scopes that were traced; operations of which it is known when they were launched: this program is told to launch
# them when they have begun, so at once, unless it was held up for long
scopes() {
	"$PROTON" export -f json "$1.hatchet" | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n["name"] for n in p["nodes"]}
on_host = [i for i in p["intervals"] if p["lanes"][i["lane"]]["device"] is None]
print(*(name[i["node"]].replace(" ", "_") for i in sorted(on_host, key=lambda i: i["start_ns"])))'
}
# When operations ran, and when nothing was recorded (-), in the order of time, as far as the trace goes; what overlaps
# does so in error.
times() {
	"$PROTON" export -f json "$1.hatchet" | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n["name"] for n in p["nodes"]}
all = p["intervals"]
first, last = min(i["start_ns"] for i in all), max(i["end_ns"] for i in all)
is_work = lambda i: p["lanes"][i["lane"]]["device"] is not None
spans = [(i["start_ns"], i["end_ns"], name[i["node"]]) for i in all if is_work(i)]
for u in p["unrecorded"]:
    assert u["reason"] == "window", u
    start, end = max(u["start_ns"], first), min(u["end_ns"] or last, last)
    if start < end:
        spans.append((start, end, "-"))
spans.sort()
print(*(s[2] for s in spans), *("overlap" for a, b in zip(spans, spans[1:]) if a[1] > b[0]))'
}
launches() { "$PROTON" export -f json "$1" | grep -cE '"latency_ns":[1-9]'; }
sums() { "$PROTON" report --ascii --flat "$1.hatchet" | grep -cE ' (before|pushed|between|started|profiled|after)$'; }
status() { "$@" >out 2>err </dev/null; echo $?; }

all="before pushed between started profiled after"
run whole --trace
check "without a window" "$all" "$(traced whole)"
check "scopes" "all_of_it step step" "$(scopes whole)"
"$PROTON" export -f chrome -o whole.json whole.hatchet
n=$(launches whole.hatchet)
check "arrows from launches" "$n $n" "$(grep -c '"ph":"s"' whole.json) $(grep -c '"ph":"f"' whole.json)"
check "launches are read again" "$n" "$(launches whole.json)"
run ranges --trace-window nvtx:step
check "ranges of a name" "pushed started" "$(traced ranges)"
check "ranges of a name: scopes" "all_of_it step step" "$(scopes ranges)"
run outer --trace-window "nvtx:all of it"
check "a range around all" "$all" "$(traced outer)"
run profiler --trace-window cuda-profiler
check "from start to stop" "started profiled" "$(traced profiler)"
run time --trace-window time:0-100000
check "from the start" "$all" "$(traced time)"
run late --trace-window time:100000-
check "after the end" "" "$(traced late)"
run none --trace-window nvtx:stepp
check "no such range" "" "$(traced none)"
check "all of it was recorded" "$all" "$(times whole)"
check "between ranges nothing was" "- pushed - started -" "$(times ranges)"
check "nor before the start and after the stop" "- started profiled -" "$(times profiler)"
check "nothing was left out of all time" "$all" "$(times time)"
check "there is no gap then" "pushed: 3 times, none" "$("$PROTON" report --ascii --view timeline --width 200 ranges.hatchet | awk '
	/ on: outside the window$/ { n++ } /^Longest times/ { gaps++ } / no part of BUSY% and no gap:$/ { told++ }
	END { print "pushed: " n " times, " (gaps || told != 1 ? gaps " gaps" : "none") }')"
has "… the fill of the row" "/ not recorded" <("$PROTON" report --ascii --view timeline ranges.hatchet)
hasnt "… not of one that has all" "not recorded" <("$PROTON" report --ascii --view timeline whole.hatchet)
"$PROTON" merge -o both.hatchet ranges.hatchet profiler.hatchet
check "two that are merged have those of both" "5 of 2" "$("$PROTON" export -f json both.hatchet | python3 -c '
import json, sys
u = json.load(sys.stdin)["unrecorded"]
print(len(u), "of", len({i["process"] for i in u}))')"
"$PROTON" export -f chrome -o ranges.json ranges.hatchet
check "marks in a trace for Chrome, without a counter in them" "3 marks 0 counted in them" "$(python3 -c '
import json, sys
events = json.load(open("ranges.json"))["traceEvents"]
marks = [e for e in events if e.get("cat") == "unrecorded"]
values = [e for e in events if e["ph"] == "C" and e["name"] == "busy %"]
assert values and {m["args"]["reason"] for m in marks} == {"outside the window"}
print(len(marks), "marks", sum(m["ts"] + 100 < v["ts"] < m["ts"] + m["dur"] - 100 for m in marks for v in values), "counted in them")')"
hasnt "… read again they are no ranges" "not all recorded" <("$PROTON" export -f json ranges.json)
for name in whole ranges profiler late none; do
	check "$name: the sums have all" 6 "$(sums $name)"
done
has "said" "the trace is empty: nothing ran in its window, 'nvtx:stepp'" <("$PROTON" report --ascii --view notes none.hatchet)
hasnt "nothing to say" "the trace is empty" <("$PROTON" report --ascii --view notes ranges.hatchet)

for window in time: time:1 time:2-1 time:1-1 time:-2 time:a-b time:1-2x nvtx: cuda profiler "" "nvtx:$(printf %0105d 0)"; do
	check "refused: '$window'" 2 "$(status "$PROTON" record --trace-window "$window" -- true)"
done
check "not known" 2 "$("$PROTON" record --trace-window foo -- true 2>err; echo $?)"
has "not known: what there is" "'foo' is no window: there are time:A-B (in seconds; without B: to the end), nvtx:NAME, steps:A-B and cuda-profiler" err
finish

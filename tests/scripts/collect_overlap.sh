#!/bin/bash
# SPDX-License-Identifier: MIT
# How much of copies ran beside other work: exact, by process and device, in every file that is made of it.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_overlap
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

# device: busy, copying, hidden (us), of each process
uses() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(sorted((p["devices"][u["device"]]["index"], *(u[k] / 1000 for k in ("busy_ns", "copies_ns", "hidden_ns")))
             for u in p["uses"]))'
}
beside() { "$PROTON" report --ascii --view devices "$1" | sed -n '/^Their copies/,/^$/p' | awk '/^GPU/ { printf "%s %s %s %s|", $1, $2, $3, $4 }'; }

one="(0, 1600.0, 1200.0, 600.0)" other="(1, 5000.0, 0.0, 0.0)"
timeout 120 "$PROTON" record -q --tape f.tape -o f.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
check "status" 0 $?
for file in f.hatchet f.tape; do
	check "$file: what both cover" "[$one, $other]" "$(uses $file)"
	check "$file: as a report says" "GPU0 1.20ms 50.0 60.0|GPU1 - - -|" "$(beside $file)"
done
has "memory" "(copies ran in 1.20ms; other work ran there, too, in 600us of that, 50.0%)" \
	<("$PROTON" report --ascii --view memory f.hatchet)

# Two at the same times on the same devices: each by itself, and in the sum.
timeout 120 "$PROTON" record -q -o two.hatchet -- sh -c '"$0" "$1" & "$0" "$1" && wait $!' "$app" "$libs/libcuda.so.1" >out 2>err
check "two processes: status" 0 $?
check "two processes: each" "[$one, $one, $other, $other]" "$(uses two.hatchet)"
check "two processes: as a report says" "GPU0 2.40ms 50.0 60.0|GPU1 - - -|" "$(beside two.hatchet)"
"$PROTON" merge -o merged.hatchet f.hatchet two.hatchet >out 2>err
check "merged: as a report says" "GPU0 3.60ms 50.0 60.0|GPU1 - - -|" "$(beside merged.hatchet)"

# Of four streams whose records come by turns: what a trace of the same run has, added up by another program.
PROTON_FAKE='stream 1;kernel gemm 3000 20;stream 2;copy HtoD pinned 4096 7000;stream 3;kernel add 900 7;stream 4;copy DtoH pinned 64 333;repeat 1000' \
	timeout 120 "$PROTON" record -q --no-cuda --trace -o traced.hatchet -- true >out 2>err
check "traced: status" 0 $?
"$PROTON" export -f json traced.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
kind = {n["id"]: n["kind"] for n in p["nodes"]}
def union(spans):
    total = end = 0
    for start, stop in sorted(spans):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total
spans = {True: [], False: []}
for i in p["intervals"]:
    spans[kind[i["node"]] == "copy"].append((i["start_ns"], i["end_ns"]))
either, copies, others = union(spans[True] + spans[False]), union(spans[True]), union(spans[False])
use, = p["uses"]
print(len(spans[True]), len(spans[False]), (use["busy_ns"], use["copies_ns"], use["hidden_ns"]) ==
      (either, copies, copies + others - either), 0 < use["hidden_ns"] < copies)' >out
check "traced: as the trace says" "2002 27027 True True" "$(cat out)"

# Without copies there is nothing to say.
timeout 120 env PROTON_FAKE='kernel gemm 1000 3' "$PROTON" record -q --no-cuda -o none.hatchet -- true >out 2>err
check "no copies: status" 0 $?
check "no copies" "" "$(beside none.hatchet)$(grep -o 'copies_ns' none.hatchet)"
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults and migrations of unified memory: counts, bytes, times, and who allocated what is at their addresses.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_unified
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so LC_ALL=C.UTF-8

run() {
	timeout 120 "$PROTON" record -q -o "$1.hatchet" "${@:2}" -- "$app" "$libs/libcuda.so.1" "$1" >out 2>err
	check "$1: status" 0 $?
	"$PROTON" export -f json "$1.hatchet" | python3 -c '
import json, sys
names = {"migrations": "n", "migration_time (ns)": "ns", "migrated_to_device_bytes": "down", "migrated_to_host_bytes": "up",
         "migrated_to_peer_bytes": "peer", "migrated_as_asked_bytes": "asked", "evicted_bytes": "evicted",
         "cpu_page_faults": "cpu", "gpu_page_faults": "gpu", "thrashings": "thrash", "throttled (ns)": "throttled",
         "remote_maps": "remote"}
p, path, sums = json.load(sys.stdin), {}, {}
for n in p["nodes"]:
    name = n["name"].split(" from ")[0] if n["parent"] is not None else "" # by whose code is not told of here
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), name)))
    for key, value in n["metrics"].items():
        if key in names:
            at = path[n["id"]], names[key]
            sums[at] = sums.get(at, 0) + value
for where in sorted({at for at, _ in sums}):
    print(where, *("%s=%d" % (k, sums[where, k]) for k in names.values() if sums.get((where, k))))
print([k for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")])' >"$1.tree"
	check "$1: nothing is lost" "[]" "$(grep '^\[' "$1.tree")"
}

export UNIFIED_KINDS=6 # of records, that are on then
by_who="\
a/alloc managed n=4 ns=4000 down=10240 peer=4096 asked=4096 cpu=3 thrash=1
b/alloc managed n=2 ns=2000 up=3072 evicted=2048 gpu=5 throttled=1000 remote=1
c/alloc managed n=1 ns=1000 up=512
unified memory n=1 ns=1000 down=512"
run known --unified
check "by who allocated it" "$by_who" "$(grep -v '^\[' known.tree)"
"$PROTON" report --width 120 --view memory known.hatchet | sed -n '/^Unified memory/,$p' | sed 's/ from collect_[^ ]*//' | tr -s ' ' >report
check "a table of it" "\
 TO GPU TO HOST MOVING MOVES GPU FAULTS CPU FAULTS THRASH EVICTED REMOTE TO PEER NAME
 10.2K 0 4.00us 4 0 3 1 0 0 4096 a › alloc managed" "$(sed -n 2,3p report)"
"$PROTON" report -m migrations,time known.hatchet >report
has "in the tree where a column asks for it" "─ alloc managed" report
"$PROTON" report known.hatchet | sed -n '/^## Calling contexts/,/^$/p' >report
hasnt "and else not" "managed" report

export MOCK_CUPTI_UNREADY=3
run known --unified
unset MOCK_CUPTI_UNREADY
check "the driver is not ready at once" "$by_who" "$(grep -v '^\[' known.tree)"

UNIFIED_KINDS=4
run known --unified --no-memory
UNIFIED_KINDS=6
check "without records of allocations it is the process's" \
	"unified memory n=8 ns=8000 down=10752 up=3584 peer=4096 asked=4096 evicted=2048 cpu=3 gpu=5 thrash=1 throttled=1000 remote=1" \
	"$(grep -v '^\[' known.tree)"

run many --unified
check "more allocations than are told apart" "\
first/alloc managed n=1 ns=1000 down=4096
unified memory n=1 ns=1000 down=4096" "$(grep -v '^\[' many.tree)"

run off
check "not asked for" "[]" "$(cat off.tree)"
"$PROTON" report --view memory off.hatchet >report
has "not asked for: how to" "what it did is recorded with --unified" report

for error in 28:"on this system" 29:"on this device" 30:"cannot reach each other's memory" 31:"under MPS" 1:"refuses records of it"; do
	export MOCK_CUPTI_UNIFIED=${error%%:*}
	run off --unified
	unset MOCK_CUPTI_UNIFIED
	check "refused by ${error%%:*}: nothing" "[]" "$(cat off.tree)"
	"$PROTON" report --view notes off.hatchet >report
	has "refused: what, and why" "unified memory is not recorded: CUPTI " report
	has "… in which case" "${error#*:}" report
	has "… by which error" "(error ${error%%:*})" report
done
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults and migrations of unified memory: counts, bytes, times, and who allocated what is at their addresses.
check_pages=$(cd "${srcdir:-.}" && pwd)/tests/tools/check_pages.py
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

# ---- when it was: beside what ran
when="\
a/alloc managed/CPU page fault host 3 3 3000
a/alloc managed/migration HtoD GPU0 2 6144 2000
a/alloc managed/migration HtoD as asked GPU0 1 4096 1000
a/alloc managed/migration PtoP GPU1 1 4096 1000
a/alloc managed/thrashing host 1 1 1000
b/alloc managed/GPU page faults GPU0 1 5 1000
b/alloc managed/mapped remotely GPU0 1 1 1000
b/alloc managed/migration DtoH GPU0 1 1024 1000
b/alloc managed/migration DtoH evicted GPU0 1 2048 1000
b/alloc managed/throttled GPU0 1 0 1000
c/alloc managed/migration DtoH GPU0 1 512 1000
unified memory/migration HtoD GPU0 1 512 1000"
run known --unified
"$PROTON" export -f json -o known.json known.hatchet
busy=$(python3 "$check_pages" known.json | grep '^busy')
check "without a trace nobody knows when it was" "busy" "${busy%% *}"
run known --unified --trace
check "with a trace it is charged as without" "$by_who" "$(grep -v '^\[' known.tree)"
"$PROTON" export -f json -o known.json known.hatchet
"$PROTON" export -f chrome -o known.chrome_trace known.hatchet
python3 "$check_pages" known.json known.chrome_trace >beside
check "when it was, in the run, below whom it is charged to, and as much" "$when" "$(grep -v '^busy' beside)"
check "and the device is as busy as without" "$busy" "$(grep '^busy' beside)"

# Lines of the picture: where, and how much at its end.
picture() { "$PROTON" report --ascii --view timeline --width 60 "$1" | grep -E "^host|^GPU|busy|pages|faults|thrash|remote|stream" | sed -E 's/, pid.*//; s/^ +//; s/^(busy|stream).*/\1/; s/ [ .:=+*#@-]* / /; s/[ .:=+*#@-]+( [0-9])/\1/' | tr -s ' ' | sed 's/ $//'; }
lanes="\
host
page faults 3
thrashing 1
GPU0
busy
stream
pages to GPU 10.8K
pages to CPU 3584
page faults 5
thrashing 1
remote maps 1
GPU1
busy
pages to peer 4096"
check "a lane for each kind, with its device" "$lanes" "$(picture known.hatchet)"
"$PROTON" report --view memory --width 120 known.hatchet | sed -n '/^Unified memory, by the kernels/,$p' | tr -s ' ' >report
check "what moved while kernels ran: nothing did" "\
 TO GPU TO HOST MOVES GPU FAULTS TO PEER NAME
 10.8K 3584 8 5 4096 (no kernel ran)" "$(sed -n 2,3p report)"
"$PROTON" report known.hatchet >report
hasnt "it is no work" "migration" report

"$PROTON" export -f chrome -o again.chrome_trace known.chrome_trace
pages() { grep '"unified_memory"' "$1"; }
check "as a Chrome trace: each one" 15 "$(pages known.chrome_trace | wc -l)"
check "… with its bytes" 2 "$(pages known.chrome_trace | grep -c '"bytes":2048')"
check "… and read again the same" "" "$(cmp <(pages known.chrome_trace) <(pages again.chrome_trace) 2>&1)"
check "… with the same lanes" "$lanes" "$(picture known.chrome_trace)"
sums() { "$PROTON" report --view memory --width 120 "$1" | sed -n '/^Unified memory/,$p' | tr -s ' ' | sed 's/ -/ 0/g' | sort; }
check "… and charged to the same" "" "$(diff <(sums known.hatchet) <(sums known.chrome_trace))"

# 3 scopes, 15 of pages, and a kernel: of 12 the first two have half
timeout 120 "$PROTON" record -q -o full.hatchet --unified --trace-limit 12 -- "$app" "$libs/libcuda.so.1" known >out 2>err
check "a trace that is full: status" 0 $?
charged() { "$PROTON" report --view memory --width 120 "$1" | sed -n '/^Unified memory, by who/,/^$/p'; }
check "… sums have all" "$(charged known.hatchet)" "$(charged full.hatchet)"
"$PROTON" export -f json full.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
kinds = {n["id"]: n["kind"] for n in p["nodes"]}
n = [kinds[v["node"]] for v in p["intervals"]]
print(n.count("pages") + n.count("scope"), n.count("pages") >= 3, n.count("kernel"), p["losses"]["trace_scopes_full"])' >report
check "… half of it is for them and for scopes, and the rest is counted" "6 True 1 12" "$(cat report)"
"$PROTON" report --view losses full.hatchet >report
has "… and says so" "not in the trace (half of --trace-limit" report

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

#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program allocates and releases on a GPU: counts, bytes, what there is now and was at most, and who held it.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_memory
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so LC_ALL=C.UTF-8

under=() # what it is started by
run() {
	timeout 600 "${under[@]}" "$PROTON" record -q -o "$1.hatchet" "${@:2}" -- "$app" "$libs/libcuda.so.1" "$1" >out 2>err
	check "$1: status" 0 $?
	"$PROTON" export -f json "$1.hatchet" | python3 "$tests/tools/memory_tree.py" >"$1.from"
	sed "s/ from collect_memory//" "$1.from" >"$1.tree" # see below
	check "$1: nothing is lost" "[]" "$(grep '^\[' "$1.tree")"
}

run kinds
check "of each kind, by context" "\
alloc before proton freed_n=1
alloc device peak=18874368
alloc managed peak=7340032
alloc pinned peak=5242880
kept/alloc device n=1 bytes=10485760 freed_n=1 freed=10485760 peak=10485760 at_peak=10485760
later/alloc device n=2 bytes=5242880 freed_n=1 freed=3145728 live=2097152 peak=3145728
others/alloc device pool n=2 bytes=5242880 freed_n=1 freed=4194304 live=1048576 peak=5242880
others/alloc managed n=1 bytes=7340032 live=7340032 peak=7340032 at_peak=7340032
others/alloc pinned n=2 bytes=5251072 freed_n=2 freed=5251072 peak=5242880 at_peak=5242880
passing/alloc device n=1 bytes=8388608 freed_n=1 freed=8388608 peak=8388608 at_peak=8388608
pool reserved=1048576 used=1048576 pool_peak=5242880" "$(grep -v '^\[' kinds.tree)"
"$PROTON" report --view memory kinds.hatchet >report
check "all of a kind: what is left, the most" "3.15M 18.9M 6 29.4M 4 0 GPU0 device" \
	"$(grep -m1 'GPU0 device$' report | tr -s ' ' | cut -d ' ' -f 1,2,4-)"
check "who holds it, and held it" "7.34M 7.34M 1 7.34M 0 0 others › alloc managed|2.10M 0 2 5.24M 1 0 later › alloc device|" \
	"$(grep -A3 '^Calling contexts by the memory' report | tail -2 | sed 's/ from collect_memory//' | tr -s ' ' | sed 's/^ //' | tr '\n' '|')"
"$PROTON" report kinds.hatchet | sed -n '/^## Calling contexts/,/^$/p' >tree
check "no rows of it in the tree, which have no numbers there" 0 "$(grep -c alloc tree)"
hasnt "nor from the bottom up" "alloc" <("$PROTON" report --view bottom-up kinds.hatchet)
"$PROTON" report --view callers=kept kinds.hatchet >callers
hasnt "nor below functions" "alloc" callers
"$PROTON" report -m live_bytes,time kinds.hatchet >tree
has "but where a column asks for it" "─ alloc managed" tree
check "by stream: what is of none is one group" "5 9.44M no stream|2 0 host or several streams|2 1.05M stream 9|" "$(
	"$PROTON" report --ascii --width 200 -d 2 -g stream -m allocations,live_bytes --view tree kinds.hatchet |
		sed -n 's/[|`]- \(GPU0 Mock GPU 0 \)*//p' | grep -v ' stream 7$' | sort -k1,1nr -k2,2 | tr -s ' ' | sed 's/^ //' | tr '\n' '|')"
check "… as JSON" "None" "$("$PROTON" export -f json kinds.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(*{r["stream"] for n in p["nodes"] if n["name"].startswith("alloc managed") for r in n["rows"]})')"
"$PROTON" export -f json -o again.json kinds.hatchet
"$PROTON" export -f json again.json | cmp -s - again.json
check "… and read again" 0 $?
has "what a pool has, and what of it is used" "1.05M  1.05M  100.0  5.24M      5.24M       0           0      0  GPU0 pool" report
hasnt "without a filter all is of the whole run" "of the whole run" report
"$PROTON" report --ascii --view memory -i kept kinds.hatchet >report
files=$(grep '^Files whose' report) # of which nobody knows where nothing is preloaded
check "a filter: what it does not reach says so" "Allocated memory (HELD: at the end)|${files:+$files|}Pools of memory|" \
	"$(grep -B1 '^(of the whole run, whatever the filter leaves)$' report | grep '^[A-Z]' | tr '\n' '|')"

# A pool of holes: it grows for what would fit into all of them together.
run fragments
pools() { "$PROTON" export -f json "$@" | python3 "$tests/tools/memory_tree.py" pools | sed "s/ from collect_memory//; /^\[/d"; }
check "a pool of holes: how it grew, and where" "\
again/alloc device pool grown=4194304
fill/alloc device pool grown=66060288
larger/alloc device pool grown=6291456 fragmented=6291456 times=3
pool reserved=45088768 used=45088768 reserved_peak=115343360 used_peak=82837504 unused=32505856
too large/alloc device pool grown=41943040" "$(pools fragments.hatchet)"
"$PROTON" report --view memory fragments.hatchet >report
check "a pool of holes: as text" "45.1M 45.1M 100.0 115M 82.8M 32.5M 6.29M 3 GPU0 pool" \
	"$(grep 'GPU0 pool' report | tr -s ' ' | sed 's/^ //')"
check "… who made it grow" "6.29M 3 6.29M larger › alloc device pool" \
	"$(sed -n '/^Calling contexts that make pools/,/^$/p' report | sed -n 3p | sed 's/ from collect_memory//' | tr -s ' ' | sed 's/^ //')"
mv fragments.hatchet before.hatchet
run fragments
"$PROTON" merge -o both.hatchet before.hatchet fragments.hatchet >out 2>&1
check "… merged" 0 $?
check "… of two runs, a row each" 2 "$("$PROTON" report --view memory both.hatchet | tr -s ' ' | grep -c '45.1M 100.0 115M 82.8M 32.5M 6.29M 3 GPU0 pool, pid')"
# Another tool leaves out who held it at the peak, and with that the processes of these rows are gone: there is one.
python3 -c '
import json, sys
p = json.load(open("fragments.hatchet"))
def walk(n, path):
    path += "/" + n["frame"]["name"]
    if "larger" not in path:
        n["metrics"].pop("at_peak_bytes", None)
    for c in n["children"]:
        walk(c, path)
walk(p[0], "")
json.dump(p, open("left_out.hatchet", "w"))'
sums() { sed -n "/^$1/,/^\$/p" report | sed -n 3p | tr -s ' ' | sed 's/^ //' | cut -d ' ' -f "$2"; }
"$PROTON" report --view memory left_out.hatchet >report
check "rows without a process: all of it" "45.1M 70 121M 33" "$(sums Allocated 1,4-6)"
grep -q '^Files whose' report && # of which nobody knows where nothing is preloaded
	check "… by file" "45.1M 70 121M 33" "$(sums "Files whose" 1,3-5)"
check "… of the pool" "6.29M 3" "$(sums "Pools of" 7,8)"
# Of several processes nobody knows whose they are.
"$PROTON" export -f json both.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
lane = next(i for i, l in enumerate(p["lanes"]) if l["stream"] == 9 and l["process"] == 0)
p["lanes"][lane]["process"] = None
for n in p["nodes"]:
    for r in n.get("rows", []):
        if r["lane"] == lane:
            r["process"] = None
json.dump(p, sys.stdout)' >nobodys.json
"$PROTON" report --view memory nobodys.json >report
check "… of several processes: not known" "- -|- -|" "$(sed -n '/^Allocated/,/^$/p' report | grep 'GPU0 device' | tr -s ' ' | sed 's/^ //' | cut -d ' ' -f 1,4 | tr '\n' '|')"
"$PROTON" export -f csv fragments.hatchet >csv
check "… as CSV" yes "$(grep -q '"*pool_fragmented_bytes' csv && grep -q 6291456 csv && echo yes)"

hasnt "no levels without a trace" '"metric":"live_bytes"' <("$PROTON" export -f json kinds.hatchet)

# With a trace each change of what the device holds: the most and the last are those of the sums.
run kinds --trace
levels() { "$PROTON" export -f json "$@" | python3 -c '
import json, sys
v = [s["value"] for s in sorted(json.load(sys.stdin)["samples"], key=lambda s: s["time_ns"]) if s["process"] == 0]
print(len(v), max(v), v[-1])'; }
check "how much at each change" "$(levels kinds.hatchet | cut -d ' ' -f 1) 18874368 3145728" "$(levels kinds.hatchet | sed 's/\.0//g')"
# This program runs nothing on the device; a timeline is of what does.
"$PROTON" export -f json kinds.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
at = sorted(s["time_ns"] for s in p["samples"])
lane = next(i for i, l in enumerate(p["lanes"]) if l["device"] is not None and l["process"] == 0)
p["intervals"] = [{"epoch": 0, "lane": lane, "latency_ns": 0, "node": 0, "start_ns": a, "end_ns": b}
                  for a, b in ((at[0], at[0] + 10), (at[-1] + 10, at[-1] + 20))]
json.dump(p, sys.stdout)' >levels.json
"$PROTON" export -f chrome -o levels.chrome levels.json
python3 -c '
import json, sys
p, trace = json.load(open("levels.json")), json.load(open("levels.chrome"))["traceEvents"]
want = [s["value"] for s in sorted(p["samples"], key=lambda s: s["time_ns"]) if s["process"] == 0]
got = [e["args"]["bytes"] for e in trace if e["ph"] == "C" and e["name"] == "memory"]
print(got == want or (got, want))' >same
check "a counter of traces has all of them" True "$(cat same)"
hasnt "which is no news when read again" "left out" <("$PROTON" report --view notes levels.chrome)

hasnt "it is certain" "not certain" report
"$PROTON" export -f json kinds.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
p["losses"]["aside_ms"] = p["processes"][0].setdefault("losses", {})["aside_ms"] = 7
json.dump(p, sys.stdout)' >aside.json
"$PROTON" report --view memory aside.json >report
has "while another one had CUPTI nobody saw it" "(not certain: what was allocated and released while a profiler" report
"$PROTON" view --view memory aside.json | cat >report
has "on the screen, too" "not certain" report

# 64 threads, each of which releases what another one has allocated, and addresses that go from thread to thread.
run threads
check "threads: all of it" "\
churn/alloc device n=64000 bytes=262144000 freed_n=64000 freed=262144000
handed/alloc device n=64000 bytes=66016000 freed_n=64000 freed=66016000" \
	"$(grep '^[ch]' threads.tree | sed 's/ peak=.*//')"
check "threads: the peak, and who held it" \
	"alloc device peak=66016000|handed/alloc device at_peak=66016000|" \
	"$(sed -n -e '/^alloc device/p' -e 's/^\(h[^=]*device\).*\( at_peak=.*\)/\1\2/p' threads.tree | tr '\n' '|')"

"$PROTON" advise threads.hatchet >findings
check "threads: a loop, at no price in time" "- - maybe memory is allocated and released in a loop (allocations)" \
	"$(grep '(allocations)' findings | tr -s ' ' | sed 's/^ //')"

# Others leave the process hardly any time: what is told at its end takes longer, and is all there.
if cpu=$(taskset -cp $$ 2>/dev/null) && read -r _ 2>/dev/null </proc/self/schedstat; then
	cpu=${cpu##*: }
	cpu=${cpu%%[-,]*}
	others=
	for _ in 1 2 3 4; do
		taskset -c "$cpu" bash -c 'while :; do :; done' &
		others+=" $!"
	done
	under=(nice -n 10 taskset -c "$cpu")
	run threads
	under=()
	kill $others
	wait $others 2>/dev/null
	check "starved: all of it" "churn/alloc device n=64000 bytes=262144000 freed_n=64000 freed=262144000" \
		"$(grep '^churn' threads.tree | sed 's/ peak=.*//')"
else
	echo "skipped: nobody says how long a thread was not let run"
fi

# A context ends with what was allocated in it.
run ends
check "a context ends: what is left, and what is still there" "\
alloc device peak=4194304
forgotten/alloc device n=2 bytes=4194304 freed_n=1 freed=1048576 left=3145728 peak=4194304 at_peak=4194304
new/alloc device n=1 bytes=2097152 live=2097152 peak=2097152" "$(grep -v '^\[' ends.tree)"

# What scopes leave behind when they end.
run leaves
"$PROTON" export -f json leaves.hatchet | python3 "$tests/tools/memory_tree.py" left >leaves.tree
check "left behind: by scope" "\
server/alloc device behind=83886080 blocks=20 times=1 unfreed=83886080
server/request/alloc device behind=167772160 blocks=60 times=20 unfreed=83886080" "$(sed '/^\[/d; s/ most=.*//' leaves.tree)"
"$PROTON" report --view memory leaves.hatchet >report
check "left behind: what is not freed, and all" "83.9M 168M 20 60 server › request › alloc device" \
	"$(sed -n '/^What scopes leave/,/^$/p' report | grep request | tr -s ' ' | sed 's/^ //' | cut -d ' ' -f 1,3-)"
"$PROTON" view --view memory leaves.hatchet | cat >report
has "left behind: on the screen" "What scopes leave behind when they end" report
"$PROTON" advise leaves.hatchet >findings
has "left behind: a finding" "(left-behind)" findings
has "left behind: what it comes to" "20 times it ended and left 8.39MB behind on average" findings
has "… and what of it is not released" "83.9MB were not released since" findings

if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; then
	echo "skipped: a forked child waits for locks of the sanitizer that others held"
else
	run forks
	check "a fork child has none of it" "\
alloc device peak=5242880
parent/alloc device n=2 bytes=5242880 live=5242880 peak=5242880 at_peak=5242880" "$(grep -v '^\[' forks.tree)"
	MOCK_CUPTI_MEMORY=1 run forks
	check "… and does not tell its parent's notes again" 1 \
		"$("$PROTON" report --view notes forks.hatchet | grep -c 'not recorded: this CUPTI')"
fi

# A library allocates beside the program.
export ALLOCATOR=$libs/allocator.so
if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null || [ "$(uname -m)" != x86_64 ]; then
	echo "skipped: stacks are not known where nothing is preloaded, or on other processors"
else
	run who
	check "who allocates" "\
alloc device from collect_memory n=1 bytes=4096 live=4096 peak=4096
who/alloc device from allocator.so n=8 bytes=16777216 freed_n=8 freed=16777216 peak=4194304 at_peak=4194304
who/alloc device from collect_memory n=4 bytes=4194304 freed_n=4 freed=4194304 peak=1048576 at_peak=1048576" \
		"$(grep '^alloc.*from\|^who' who.from)"
	"$PROTON" report --view memory who.hatchet | sed -n '/^Files whose code/,/^$/p' >report
	has "by file" "8      16.8M      8     0  allocator.so, GPU0 device" report
	check "each node says it, as JSON" 3 "$("$PROTON" export -f json who.hatchet | grep -c '"allocator":"')"
fi

# PyTorch's allocator: what it has, and what of it tensors use.
export C10_CUDA=$libs/libc10_cuda.so C10_USER=$libs/c10_user.so LD_LIBRARY_PATH=$libs
if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; then
	echo "skipped: nothing is preloaded into the programs of this build"
else
	"$app" "$libs/libcuda.so.1" tensors >bare
	run tensors
	check "PyTorch's own library hears all, as it was said" "$(cat bare)" "$(cat out)"
	check "tensors of all, and what is reserved" "\
PyTorch's allocator reserved=316669952 used=524288 pool_peak=316669952
alloc tensors live=524288 peak=1310720 at_peak=1310720" "$(grep 'tensors\|PyTorch' tensors.tree)"
	"$PROTON" report --view memory tensors.hatchet >report
	has "a row of its own" "GPU0 tensors" report
	has "a pool" "GPU0 PyTorch's allocator" report
	"$PROTON" advise tensors.hatchet >findings
	has "more is reserved than tensors use" "(reserved)" findings
	has "by so much" "PyTorch had 317MB of the device, and tensors 1.31MB at most:" findings
	has "as it grew although enough was free" "150 times it grew, by 315MB in all" findings
	has "where" "at step › alloc tensors" findings
	has "what to do" "expandable_segments:True" findings
	run tensors --tensors
	check "by calling context" "\
alloc tensors peak=1310720
step/alloc tensors n=1200 bytes=314572800 freed_n=1200 freed=314572800 peak=786432 at_peak=786432
weights/alloc tensors n=1 bytes=524288 live=524288 peak=524288 at_peak=524288" "$(grep tensors tensors.tree)"
	"$PROTON" advise tensors.hatchet >findings
	hasnt "tensors come and go at no price" "(allocations)" findings
	run segments
	check "its allocator grows although enough is free: how often, by how much, where" "\
PyTorch's allocator reserved=159383552 used=136314880 reserved_peak=136314880 used_peak=115343360 unused=20971520
fill/alloc tensors grown=52428800
larger/alloc tensors grown=65011712 fragmented=65011712 times=4
other/alloc tensors grown=10485760 fragmented=10485760 times=1" "$(pools segments.hatchet)"
	"$PROTON" report --view memory segments.hatchet >report
	has "of each device" "96.8   136M       115M   21.0M       65.0M      4  GPU0 PyTorch's allocator" report
	has "of each device" "77.8  94.4M      73.4M   21.0M       10.5M      1  GPU1 PyTorch's allocator" report
	hasnt "what they allocated is not told" "larger › alloc tensors" <(sed -n '/^Calling contexts by the/,/^$/p' report)
	run hoards --tensors
	"$PROTON" export -f json hoards.hatchet | python3 "$tests/tools/memory_tree.py" left >leaves.tree
	check "a list of tensors that grows, and is released at the end: what there was of it" \
		"request/alloc tensors behind=10485760 blocks=20 times=20 most=10485760" "$(grep tensors leaves.tree)"
	"$PROTON" report --view memory hoards.hatchet >report
	has "where to look for it" "tensors lie in memory that PyTorch's allocator keeps" report
	has "not released: nothing is not absent" "        0   10.5M       10.5M      20      20  request › alloc tensors" report
	"$PROTON" advise hoards.hatchet >findings
	has "a finding about tensors, not about what they lie in" "at request › alloc tensors" findings
	"$app" "$libs/libcuda.so.1" constructor >loaded
	run constructor
	check "a constructor allocates while another thread tells of a tensor" "$(cat loaded)" "$(cat out)"
	C10_CUDA=$libs/libtorch_in_one.so run tensors
	check "… and where all is in one file" "$(cat bare)" "$(cat out)"
	has "of which tensors are known, too" "alloc tensors live=524288" tensors.tree
	run tensors --no-memory
	check "without" "[]" "$(cat tensors.tree)"
fi
unset LD_LIBRARY_PATH

# 10,000,000 were tried, too.
export MANY_TURNS=3000000
run many
check "many: all of it" "\
alive/alloc device n=1000000 bytes=256000000 freed_n=1000000 freed=256000000 peak=256000000 at_peak=256000000
alloc device peak=256000512
turns/alloc device n=3000000 bytes=1536000000 freed_n=3000000 freed=1536000000 peak=512 at_peak=512" \
	"$(grep -v '^\[' many.tree)"
check "many: no more memory after twice as many" 1 "$(($(sed "s/grown //" out) < 90112))" # buffers of CUPTI are less, 32 bytes a record more

# A CUPTI that has no records of it: the view says so.
export MOCK_CUPTI_MEMORY=1
run kinds
unset MOCK_CUPTI_MEMORY
check "refused: nothing" "[]" "$(cat kinds.tree)"
"$PROTON" report --view memory kinds.hatchet | sed -n '/^Allocated memory/,$p' >report
has "refused: why" "allocations of memory are not recorded: this CUPTI (API 130001) refuses records of them (error 1)" report

run kinds --no-memory
check "without" "[]" "$(cat kinds.tree)"
finish

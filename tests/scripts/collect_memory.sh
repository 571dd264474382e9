#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program allocates and releases on a GPU: counts, bytes, what there is now and was at most, and who held it.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_memory
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so LC_ALL=C.UTF-8

run() {
	timeout 120 "$PROTON" record -q -o "$1.hatchet" "${@:2}" -- "$app" "$libs/libcuda.so.1" "$1" >out 2>err
	check "$1: status" 0 $?
	"$PROTON" export -f json "$1.hatchet" | python3 -c '
import json, sys
names = dict(allocations="n", allocated_bytes="bytes", releases="freed_n", released_bytes="freed", left_bytes="left",
             live_bytes="live", peak_bytes="peak", at_peak_bytes="at_peak", pool_bytes="reserved",
             pool_used_bytes="used", pool_peak_bytes="pool_peak")
p, path, sums = json.load(sys.stdin), {}, {}
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    for key, value in n["metrics"].items():
        if key in names:
            at = path[n["id"]], names[key]
            sums[at] = (max if "peak" in key and key != "at_peak_bytes" else int.__add__)(sums.get(at, 0), value)
for where in sorted({at for at, _ in sums}):
    print(where, *("%s=%d" % (k, sums[where, k]) for k in names.values() if sums.get((where, k))))
print([k for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")])' >"$1.tree"
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
	"$(grep 'GPU0 device$' report | tr -s ' ' | cut -d ' ' -f 1,2,4-)"
check "who holds it, and held it" "7.34M 7.34M 1 7.34M 0 0 others › alloc managed|2.10M 0 2 5.24M 1 0 later › alloc device|" \
	"$(grep -A3 '^Calling contexts by the memory' report | tail -2 | tr -s ' ' | sed 's/^ //' | tr '\n' '|')"
"$PROTON" report kinds.hatchet | sed -n '/^## Calling contexts/,/^$/p' >tree
check "no rows of it in the tree, which have no numbers there" 0 "$(grep -c alloc tree)"
hasnt "nor from the bottom up" "alloc" <("$PROTON" report --view bottom-up kinds.hatchet)
"$PROTON" report --view callers=kept kinds.hatchet >callers
hasnt "nor below functions" "alloc" callers
"$PROTON" report -m live_bytes,time kinds.hatchet >tree
has "but where a column asks for it" "─ alloc managed" tree
has "what a pool has, and what of it is used" "1.05M  1.05M  100.0  5.24M  GPU0 pool" report

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

# A context ends with what was allocated in it.
run ends
check "a context ends: what is left, and what is still there" "\
alloc device peak=4194304
forgotten/alloc device n=2 bytes=4194304 freed_n=1 freed=1048576 left=3145728 peak=4194304 at_peak=4194304
new/alloc device n=1 bytes=2097152 live=2097152 peak=2097152" "$(grep -v '^\[' ends.tree)"

if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; then
	echo "skipped: a forked child waits for locks of the sanitizer that others held"
else
	run forks
	check "a fork child has none of it" "\
alloc device peak=5242880
parent/alloc device n=2 bytes=5242880 live=5242880 peak=5242880 at_peak=5242880" "$(grep -v '^\[' forks.tree)"
fi

# 10,000,000 were tried, too.
export MANY_TURNS=3000000
run many
check "many: all of it" "\
alive/alloc device n=1000000 bytes=256000000 freed_n=1000000 freed=256000000 peak=256000000 at_peak=256000000
alloc device peak=256000512
turns/alloc device n=3000000 bytes=1536000000 freed_n=3000000 freed=1536000000 peak=512 at_peak=512" \
	"$(grep -v '^\[' many.tree)"
check "many: no more memory after twice as many" 1 "$(($(sed "s/grown //" out) < 73728))" # buffers of CUPTI are less, 32 bytes a record more

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

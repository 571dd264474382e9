#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program allocates and releases on a GPU: counts, bytes, what there is now and was at most, and who held it.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_memory
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

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

# 64 threads, each of which releases what another one has allocated, and addresses that go from thread to thread.
run threads
check "threads: all of it" "\
churn/alloc device n=128000 bytes=524288000 freed_n=128000 freed=524288000
handed/alloc device n=128000 bytes=132032000 freed_n=128000 freed=132032000" \
	"$(grep '^[ch]' threads.tree | sed 's/ peak=.*//')"
check "threads: the peak, and who held it" \
	"alloc device peak=132032000|handed/alloc device at_peak=132032000|" \
	"$(sed -n -e '/^alloc device/p' -e 's/^\(h[^=]*device\).*\( at_peak=.*\)/\1\2/p' threads.tree | tr '\n' '|')"

# A context ends with what was allocated in it.
run ends
check "a context ends: what is left, and what is still there" "\
alloc device peak=4194304
forgotten/alloc device n=2 bytes=4194304 freed_n=1 freed=1048576 left=3145728 peak=4194304 at_peak=4194304
new/alloc device n=1 bytes=2097152 live=2097152 peak=2097152" "$(grep -v '^\[' ends.tree)"

run forks
check "a fork child has none of it" "\
alloc device peak=5242880
parent/alloc device n=2 bytes=5242880 live=5242880 peak=5242880 at_peak=5242880" "$(grep -v '^\[' forks.tree)"

# 10,000,000 were tried, too.
export MANY_TURNS=1000000
run many
check "many: all of it" "\
alive/alloc device n=1000000 bytes=256000000 freed_n=1000000 freed=256000000 peak=256000000 at_peak=256000000
alloc device peak=256000512
turns/alloc device n=1000000 bytes=512000000 freed_n=1000000 freed=512000000 peak=512 at_peak=512" \
	"$(grep -v '^\[' many.tree)"
check "many: no more memory after twice as many" 1 "$(($(sed "s/grown //" out) < 8192))"

run kinds --no-memory
check "without" "[]" "$(cat kinds.tree)"
finish

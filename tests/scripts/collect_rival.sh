#!/bin/bash
# SPDX-License-Identifier: MIT
# A profiler inside the program that uses CUPTI, too: it gets what it asks for, the program and it see nothing odd, and
# proton comes back when it has left; how long it had CUPTI is a loss.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_rival
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
# A sanitized program has its own runtime preloaded, in our place.
if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; then
	echo "skipped: nothing is preloaded into the programs of this build"
	exit 77
fi
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

# rival WHAT OPTION...: kernels and how often each ran; losses but those of time; how long, at all?
rival() {
	timeout 120 "$PROTON" record -o "$1.hatchet" "${@:2}" -- "$app" "$libs/libcuda.so.1" "$libs/cupti_tool.so" "$1" >"$1.out" 2>"$1.err"
	check "$*: status" 0 $?
	"$PROTON" export -f json "$1.hatchet" | python3 -c '
import json, sys
p = json.load(sys.stdin)
kernels = sorted((n["name"], n["metrics"].get("count", 0)) for n in p["nodes"] if n["kind"] == "kernel")
losses = {k: v for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")}
print("kernels", *("%s=%d" % k for k in kernels))
aside_ms = losses.pop("aside_ms", 0)
print("aside", 0 < aside_ms)
spans = sorted((u["start_ns"], u["end_ns"]) for u in p["unrecorded"] if u["reason"] == "aside")
print("unrecorded", len(spans), sum(a[1] > b[0] for a, b in zip(spans, spans[1:])), sum(b - a for a, b in spans) // 1000000 + len(spans) >= aside_ms)
print("losses", losses)
for n in p["notes"]:
    print("note", n["text"])' >"$1.tree" || cat "$1.err"
}
said() { tr '\n' ' ' <"$1.out" | sed 's/ $//'; }

rival steps
check "it has what it wants, each time" "start 0 records 50 calls 101 start 0 records 30 calls 61 start 0 records 20 calls 41" "$(said steps)"
check "all else is recorded" "kernels after=70 before=100 end=25" "$(grep ^kernels steps.tree)"
check "how long it was is told" "aside True" "$(grep ^aside steps.tree)"
check "nothing else is lost" "losses {}" "$(grep ^losses steps.tree)"
has "who it was" "note a profiler inside the program ('$libs/cupti_tool.so') had CUPTI for a time" steps.tree
has "the summary says it" "milliseconds in which a profiler inside the program had CUPTI" steps.err

rival steps --trace
check "with a trace: when it was is told" "unrecorded 2 0 True" "$(grep ^unrecorded steps.tree)"
has "with a trace: people read it" " on: another profiler had CUPTI" <("$PROTON" report --ascii --view timeline steps.hatchet)

rival steps --unified
check "with unified memory: it has what it wants" "start 0 records 50 calls 101 start 0 records 30 calls 61 start 0 records 20 calls 41" "$(said steps)"
check "with unified memory: all else is recorded" "kernels after=70 before=100 end=25" "$(grep ^kernels steps.tree)"

for how in leave finalize; do
	rival $how
	check "$how: it has what it wants" "start 0 records 5 calls 11 left 0 start 0 records 3 calls 7 left 0" "$(said $how)"
	check "$how: all else is recorded" "kernels after=7 before=10 end=2" "$(grep ^kernels $how.tree)"
	check "$how: nothing else is lost" "losses {}" "$(grep ^losses $how.tree)"
done

rival twice
check "what it had before is not its to unsubscribe" "start 0 records 5 calls 11 left 0 again 1" "$(said twice)"
check "twice: all else is recorded" "kernels after=10" "$(grep ^kernels twice.tree)"
check "twice: nothing else is lost" "losses {}" "$(grep ^losses twice.tree)"

rival unsubscribed
check "it has records without subscribing, each time" "start 0 records 5 start 0 records 6 start 0 records 7" "$(said unsubscribed)"
check "unsubscribed: all else is recorded" "kernels after=6 before=10" "$(grep ^kernels unsubscribed.tree)"
check "unsubscribed: nothing else is lost" "losses {}" "$(grep ^losses unsubscribed.tree)"

rival first
check "it was there first: it has all" "start 0 records 10" "$(said first)"
check "first: and proton the rest" "kernels end=5" "$(grep ^kernels first.tree)"
check "first: how long it was is told" "aside True" "$(grep ^aside first.tree)"

rival stays --hold
check "--hold: it is refused, as without us" "start 39 records 0 calls 0" "$(said stays)"
check "--hold: all is recorded" "kernels before=10 end=5 theirs=5" "$(grep ^kernels stays.tree)"
check "--hold: nothing is lost" "aside False losses {}" "$(grep -E '^(aside|losses)' stays.tree | tr '\n' ' ' | sed 's/ $//')"
rival stays --graphs whole
check "whole graphs are not switched off in between" "start 39 records 0 calls 0" "$(said stays)"

rival endless
check "what runs does not end: it is not waited for" "start 0 records 5 calls 11" "$(said endless)"
check "endless: all else is recorded" "kernels before=10 end=5" "$(grep ^kernels endless.tree)"
check "endless: and the one is told" "losses {'zero_timestamps': 1}" "$(grep ^losses endless.tree)"

rival child
check "a child that is forked meanwhile" "kernels before=10 end=5" "$(grep ^kernels child.tree)"

rival forks --no-cuda
check "children that are forked while it is in a call" "ended 100" "$(said forks)"
rival forks
check "and with proton there" "ended 100" "$(said forks)"

rival threads
check "threads launch all the time: nobody is refused" "" "$(grep refused threads.out)"
check "threads: it sees their work" "theirs 1" "$(grep theirs threads.out)"
check "threads: all of each is recorded when it is over" "t0=100 t1=100 t2=100 t3=100 t4=100 t5=100 t6=100 t7=100" \
	"$(grep ^kernels threads.tree | grep -o 't[0-7]=.*')"
# … but for a launch that had begun when its kind of records was switched off
check "threads: nothing else is lost" "losses {}" "$(sed -n "s/'unaccounted_launches': [0-9]\>//; s/^losses/&/p" threads.tree)"

# Another one that was not even asked for: of a process that proton does not look at.
timeout 60 "$app" "$libs/libcuda.so.1" "$libs/cupti_tool.so" stays >alone.out 2>&1
check "without proton" "start 0 records 5 calls 11" "$(said alone)"
finish

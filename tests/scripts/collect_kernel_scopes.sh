#!/bin/bash
# SPDX-License-Identifier: MIT
# Scopes within kernels of Triton: what its layer hands over, read behind the launch, below the kernel in its calling context.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/mock_python.sh"
. "$here/tools/inside_help.sh"
# What is above Triton's module is enough of it.
mkdir -p theirs/triton/_C
touch theirs/triton/__init__.py theirs/triton/_C/__init__.py
export PYTHONPATH=$PWD/theirs
declare -a options=()
record() {
	timeout 240 "$PROTON" record -q --context scopes "${options[@]}" -o run.hatchet -- python3 "$here/programs/kernel_scopes.py" "$cuda" "$@" >out 2>err
	status=$?
	[ -s err ] && cat err
	return $status
}

record plain
check "status" 0 $?
check "what a session has while it runs" 6 "$(cat out)"
wanted='add 64/whole 400 100 4 100 100, add 64/whole/add 160 40 4 40 40, add 64/whole/load 120 30 4 30 30, '
wanted+='outer/add/whole 800 200 8 100 100, outer/add/whole/add 320 80 8 40 40, outer/add/whole/load 240 60 8 30 30'
check "below the kernel, by name, in its context" "$wanted" "$(inside s.hatchet)"
check "the run has them, too" "$wanted" "$(inside run.hatchet)"
check "beside its launches" "2 1" "$(metric s.hatchet add count | head -n 1) $(metric s.hatchet 'add 64' count)"
check "none is lost" "" "$(losses run.hatchet)"
check "copies are hidden, and memory for them is not the program's" "0 0" "$("$PROTON" report run.hatchet | grep -c memcpy) $("$PROTON" export -f json run.hatchet | grep -c mem_live)"

cat >wanted <<'END'
   CALLS  cycles normalized_cycles scope_entries cycles_min cycles_max  NAME
       3       -                 -             -          -          -  ROOT
       2       -                 -             -          -          -  ├─ outer
       2       -                 -             -          -          -  │  └─ add
       -     800               200             8        100        100  │     └─ whole
       -     240                60             8         30         30  │        ├─ load
       -     320                80             8         40         40  │        └─ add
       1       -                 -             -          -          -  └─ add 64
       -     400               100             4        100        100     └─ whole
       -     120                30             4         30         30        ├─ load
       -     160                40             4         40         40        └─ add
END
LC_ALL=C.UTF-8 "$PROTON" report --view tree -m calls,cycles,normalized_cycles,scope_entries,cycles_min,cycles_max s.hatchet >out
check "a report" "$(cat wanted)" "$(cat out)"

record shifted
check "time_shift: what records cost is taken out" "add/whole 260 65 4 65 65, add/whole/add 132 33 4 33 33, add/whole/load 92 23 4 23 23" "$(inside s.hatchet)"
record long
check "long enough for clocks of 32 bits to wrap: counted, of those warps" warp_clock_wraps=4 "$(losses run.hatchet)"
record sampled
check "some warps: of all" "add/whole 400 50 4 100 100, add/whole/add 160 20 4 40 40, add/whole/load 120 15 4 30 30" "$(inside s.hatchet)"

record traced
check "traced: status" 0 $?
check "traced: its format, and what it has once it is over" "format 'hatchet' is not one of this session: chrome_trace|24|" "$(tr '\n' '|' <out)"
# events FILE: a line for each scope of each block and warp: how many, where, when
events() {
	python3 -c '
import collections, json, sys
events = collections.Counter(
    " ".join([e["pid"], e["tid"], e["name"], "%g+%g" % (e["ts"], e["dur"]), "/".join(e["args"]["call_stack"]), str(e["args"]["Init Time (ns)"])])
    for e in json.load(open(sys.argv[1]))["traceEvents"])
print(*["%d %s" % (n, e) for e, n in sorted(events.items())], sep="\n")' "$1"
}
cat >wanted <<'END'
1 add Core10 CTA0 warp 0 (line 0) whole 0+0.1 ROOT/add 64 1
1 add Core10 CTA0 warp 0 (line 0) whole 0+0.1 ROOT/outer/add 1
1 add Core10 CTA0 warp 0 (line 1) add 0.05+0.04 ROOT/add 64 1
1 add Core10 CTA0 warp 0 (line 1) add 0.05+0.04 ROOT/outer/add 1
1 add Core10 CTA0 warp 0 (line 1) load 0.01+0.03 ROOT/add 64 1
1 add Core10 CTA0 warp 0 (line 1) load 0.01+0.03 ROOT/outer/add 1
END
check "traced: scopes of a warp" "$(cat wanted)" "$(events t.chrome_trace | grep 'CTA0 warp 0')"
check "traced: blocks begin when they did" "1+0.1 1001" "$(events t.chrome_trace | sed -n 's/.* Core11 CTA1 warp 1 .* whole \(1+0.1\) ROOT\/outer\/add \(.*\)/\1 \2/p')"
cat >wanted <<'END'
add: 2 launches, 4 blocks, 8 warps
COUNT      %  CYCLES  MIN  P50  P99  MAX  SCOPE
    8  100.0     100  100  100  100  100  whole
    8   30.0      30   30   30   30   30    load
    8   40.0      40   40   40   40   40    add
END
check "traced: a report" "$(cat wanted)" "$("$PROTON" report --view warps t.chrome_trace)"
check "traced: another session has sums" "add 64/whole 400 100 4 100 100" "$(inside o.hatchet | cut -d, -f1)"
check "traced: nothing launched" '{"displayTimeUnit":"ns","traceEvents":[]}' "$(cat n.chrome_trace)"
check "traced: not finalized" 12 "$(events u.chrome_trace | wc -l)"
check "traced: as a profile, by calling context" "4 4 4 4 4 4" "$("$PROTON" export -f json t.chrome_trace | python3 -c 'import json, sys
print(*(n["metrics"]["scope_entries"] for n in json.load(sys.stdin)["nodes"] if "scope_entries" in n["metrics"]))')"
check "traced: none is lost" "" "$(losses run.hatchet)"
options=(--context scopes,python)
record traced
check "traced: contexts that the run reads and the session does not" "0 0" "$? $(grep -c '\.py' t.chrome_trace)"
has "… which are the run's" "kernel_scopes.py" run.hatchet
options=()

# Single warps of launches that are chosen: which launch it was, and when it ran, by its record.
options=(--intra-trace=2)
record plain
scopes='whole 4 400 whole/add 4 160 whole/load 4 120'
# They follow each other in microseconds, by a clock that may be set in between: in whatever order.
check "kept: launches with their records" "0 left out|add 64 [] 3 1000ns 2x2 4-0: $scopes|add [outer] 1 1000ns 2x2 4-0: $scopes|add [outer] 2 1000ns 2x2 4-0: $scopes|" \
	"$(python3 "$here/tools/warps.py" run.warps | LC_ALL=C sort | tr '\n' '|')"
options=(--intra-trace=1280)
record threads
check "kept: each has its own" "1280 1280" "$(python3 "$here/tools/warps.py" run.warps | awk '$4 == "1000ns" {print $3}' | sort | uniq -c | awk '{n++; once += $1 == 1} END {print n, once}')"
options=()

record later
check "later: status" 0 $?
check "later: not complete before" False "$(cat out)"
check "later: all of it" "add/whole 20000 5000 200 100 100, add/whole/add 8000 2000 200 40 40, add/whole/load 6000 1500 200 30 30" "$(inside s.hatchet)"
record full
check "full: all of it" "add/whole 10500000 1000 105000 100 100, add/whole/add 4200000 400 105000 40 40, add/whole/load 3150000 300 105000 30 30" "$(inside s.hatchet)"
check "full: none is lost" "" "$(losses run.hatchet)"

record lost
check "lost: status" 0 $?
check "lost: what is there is right" "add/whole 400 100 4 100 100, add/whole/add 160 40 4 40 40, add/whole/load 120 30 4 30 30" "$(inside s.hatchet)"
check "lost: counted" warp_launches=5 "$(losses run.hatchet)"
notes run.hatchet >notes
for why in "they were captured into a graph" "what they recorded did not reach the host" "their functions are not known" \
	"their buffers are smaller than a thread block's" "they were not over at its end"; do
	has "lost: $why" "scopes within some kernels are not in this profile: $why" notes
done

record misused
check "misused: status" 0 $?
check "misused: what is wrong" TypeError "$(cat out)"
check "misused: what is right" "add/whole 400 100 4 100 100, add/whole/add 160 40 4 40 40, add/whole/load 120 30 4 30 30" "$(inside s.hatchet)"
notes run.hatchet >notes
has "misused: no metadata" "scopes within kernel 'add' are left out: FileNotFoundError: " notes
has "misused: no JSON" "scopes within kernel 'add' are left out: JSONDecodeError: " notes
has "misused: no warps" "scopes within kernel 'add' are left out: they are not as they can be, or are too many" notes

record modes
check "modes" "RuntimeError Mode cannot be empty|RuntimeError Unknown device type: tpu|ValueError Malformed instrumentation option: 'nonsense'|ValueError invalid literal for int() with base 10: 'x'|ValueError Unknown mode: none|RuntimeError Only warp granularity is supported for now|ValueError Unknown buffer_type: local|ValueError Unknown optimization: none|RuntimeError Only circular buffers are supported for now, not 'flush'|ValueError Unknown sampling_options: 'a' is no warp of a block (0 to 31) and no range of them (4-7)|ValueError Unknown sampling_options: '7-4' is no warp of a block (0 to 31) and no range of them (4-7)|ValueError Unknown sampling_options: Triton's compiler knows no ranges of warps: list each (0,1,2,3)|ValueError Unknown buffer_size: -1|" "$(tr '\n' '|' <out)"

record sessions
of() { inside "$1" | cut -d, -f1; }
check "sessions: each has what was launched while it was active" "add/whole 800 200 8 100 100; add/whole 800 200 8 100 100; add/whole 1200 300 12 100 100" "$(of a.hatchet); $(of b.hatchet); $(of o.hatchet)"

record threads
check "64 threads" "add/whole 512000 128000 5120 100 100" "$(of s.hatchet)"
check "64 threads: none is lost" "" "$(losses run.hatchet)"
record forked
check "a fork child" 0 "$(cat out)"
check "a fork child: the parent's is read by the parent" "add/whole 400 100 4 100 100" "$(of s.hatchet)"
check "a fork child: its launches are counted" warp_launches=1 "$(losses run.hatchet)"
finish

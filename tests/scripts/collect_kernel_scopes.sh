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
record() {
	timeout 240 "$PROTON" record -q --context scopes -o run.hatchet -- python3 "$here/programs/kernel_scopes.py" "$cuda" "$@" >out 2>err
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

record shifted
check "time_shift: what records cost is taken out" "add/whole 260 65 4 65 65, add/whole/add 132 33 4 33 33, add/whole/load 92 23 4 23 23" "$(inside s.hatchet)"
record sampled
check "some warps: of all" "add/whole 400 50 4 100 100, add/whole/add 160 20 4 40 40, add/whole/load 120 15 4 30 30" "$(inside s.hatchet)"

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
check "modes" "RuntimeError Mode cannot be empty|RuntimeError Unknown device type: tpu|ValueError Malformed instrumentation option: 'nonsense'|ValueError invalid literal for int() with base 10: 'x'|ValueError Unknown mode: none|RuntimeError Only warp granularity is supported for now|ValueError Unknown buffer_type: shared_mem|ValueError Unknown optimization: none|" "$(tr '\n' '|' <out)"

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

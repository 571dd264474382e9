#!/bin/bash
# SPDX-License-Identifier: MIT
# Modules are rewritten before the program's driver loads them (record --intra), by a process that may do what it likes: the program
# loads its own then, and is told nothing of it.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/inside_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_loads
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so PROTON_COMMAND=$here/tools/rewriter.py REWRITER_LOG=$work/log REWRITER_AWAITS=$work/go
record() { # record CASE [OPTION…]
	local case=$1
	shift
	: >log
	rm -f go
	timeout 120 "$PROTON" record -q -o run.hatchet --intra "$@" -- "$app" "$libs/libcuda.so.1" "$case" >out 2>err
	check "$case, $REWRITER: status" 0 $?
	notes run.hatchet >notes
}
left_as_it_was() { # left_as_it_was WHY: the program loads its own, which is counted and told
	check "$REWRITER: it is the program's" original "$(cat out)"
	check "$REWRITER: it is counted" 1 "$("$PROTON" export -f json run.hatchet | python3 -c 'import json, sys; print(json.load(sys.stdin)["losses"].get("unrewritten"))')"
	has "$REWRITER: and why" "no scopes within kernels of a module of the program: $1" notes
}

export REWRITER=good
record data
check "data: it is another's" rewritten "$(cat out)"
has "data: what became of it is told" "k: 10 -> 12 registers" notes
has "data: and how long it took" "1 module with 1 kernels rewritten in " notes
check "data: who rewrites has no descriptors but its own" "rewrite chip 90 limit 60 open 0,1,2" "$(cat log)"
check "data: none is lost" "" "$(losses run.hatchet)"
record calls
check "calls: whatever loads it" "rewritten rewritten rewritten rewritten" "$(cat out)"
record files
check "files: and where it lies in a file" "rewritten rewritten ?" "$(cat out)"
record refused
check "refused: the driver is asked again with the program's" "asked again" "$(cat out)"
has "refused: it is told" "the driver refused a module with scopes within its kernels (error 200): it is loaded as it was" notes
record unknown
left_as_it_was "it is neither PTX nor a cubin nor a fatbin"
check "unknown: nobody was asked" "" "$(cat log)"
record forked
check "forked: a child without CUDA goes on" "rewritten original rewritten" "$(cat out)"
REWRITER=large record unload
check "unload: it goes with the module" released "$(cat out)"
mkdir meet
REWRITER=meet REWRITER_MEET=$work/meet record threads
check "threads: several at a time, and each has its own" 6 "$(cat out)"

record limited
check "limited: the program says how many registers there may be" "original rewritten original" "$(cat out)"
has "limited: it is told" "the program limits their registers by itself" notes
record subreaper
check "subreaper: no children are left to it" few "$(cat out)"
record small
left_as_it_was "it cannot be handed over: File too large"
REWRITER=large record smaller
check "smaller: the program's" original "$(cat out)"
REWRITER=stay record data
check "stay: it is another's" rewritten "$(cat out)"
check "stay: its end is not waited for" ok "$(sed -nE 's/.*rewritten in ([0-9.]+) s.*/\1/p' notes | awk '{ print($1 < 30 ? "ok" : "not") }')"
REWRITER=hang
record interrupted
left_as_it_was "a signal that ends programs came meanwhile"

# What the program does while a module is on its way.
REWRITER=wait
record ticks --intra-limit 20
check "ticks: timers and signals of the program come meanwhile" rewritten "$(cat out)"
record closing
check "closing: the answer is not among the program's descriptors" rewritten "$(cat out)"
record forks
check "forks: a child of another thread holds nothing up" rewritten "$(cat out)"
record handler_forks --intra-limit 20
check "handler_forks: the handler's child goes on" "child original parent rewritten" "$(sort out | tr '\n' ' ' | sed 's/ $//')"
record exec
check "exec: another program runs, and its modules are rewritten" rewritten "$(cat out)"
record exits
check "exits: the program ends" "" "$(cat out)"
record shared
left_as_it_was "the program closed the descriptor that the answer comes by"
REWRITER=good
record closed
check "closed: what has the number now is the program's" "0 closed" "$(cat out)"
record forbids
left_as_it_was "the program forbids itself system calls since it began (seccomp)"
record no_exec
left_as_it_was "the process that rewrites it cannot be started: Operation not permitted"
record no_fork
left_as_it_was "the process that rewrites it cannot be started: Operation not permitted"

export REWRITER=refuse
record twice
check "refuse: the program's" "original original" "$(cat out)"
check "refuse: each kernel is told once" 1 "$(grep -c 'k: there is no PTX of it' notes)"
has "refuse: of all" "l: it is too odd" notes
hasnt "refuse: nothing was rewritten" "rewritten in" notes
REWRITER=short
record data
left_as_it_was "the process that rewrites it ended too early"
REWRITER=crash
record data
left_as_it_was "the process that rewrites it ended too early"
REWRITER=other
record data
left_as_it_was "the process that rewrites it is of another version, or complained"
REWRITER=complain
record data
left_as_it_was "the process that rewrites it is of another version, or complained"
REWRITER=hang
record data --intra-limit 1
left_as_it_was "it took more than 1 s to rewrite it (--intra-limit)"
check "hang: it is told how long it may" "rewrite chip 90 limit 1 open 0,1,2" "$(cat log)"
printf 'no program' >file
chmod +x file
REWRITER=file PROTON_COMMAND=$work/file
record data
left_as_it_was "the process that rewrites it cannot be started: Exec format error"
REWRITER=none PROTON_COMMAND=$work/none
record data
left_as_it_was "there is no command 'proton': PROTON_COMMAND names '$work/none', which is no program"

"$PROTON" record -q -o run.hatchet -- "$app" "$libs/libcuda.so.1" data >out
check "not asked for: nothing is rewritten" original "$(cat out)"
"$PROTON" record --intra-mode default -- true 2>err
check "a mode of nothing" 2 $?
has "a mode of nothing: why" "say how --intra does it, which is not given" err
"$PROTON" record --intra --intra-mode default:bufer_size=1 -- true 2>err
check "a wrong mode" 2 $?
has "a wrong mode: why" "--intra-mode: 'bufer_size' is no option of a mode; did you mean 'buffer_size'?" err
"$PROTON" record --intra=lop -- true 2>err
check "a wrong rule" 2 $?
has "a wrong rule: why" "--intra: " err
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that do what few programs do: nothing is lost that can be kept, nothing is lost in silence,
# and the program is not in the way of itself because of us.
. "${srcdir:-.}/tests/tools/cli_help.sh"
odd=$(dirname "$PROTON")/tests/programs/collect_odd
# A program with a sanitizer gets nothing preloaded.
sanitized=false
case $(ldd "$odd" 2>/dev/null) in *asan*|*tsan*) sanitized=true ;; esac

# [early=--early] record WHAT [N]: profile in f.hatchet, the program's words in out, ours in err; its status in status
record() {
	rm -f f.hatchet
	timeout 60 "$PROTON" record ${early:-} -o f.hatchet -- "$odd" "$@" >out 2>err
	status=$?
	[ $status != 77 ] || echo "skipped: $*: not allowed here"
}
entered() { # entered NAME: how often
	metric f.hatchet "$1" cpu_count
}

# ---- threads that start together ----
n=0 lost=0
for _ in {1..16}; do
	record threads 8
	[ "$(cat out)" = "refused 0" ] || lost=$((lost + 1))
	n=$((n + $("$PROTON" export -f csv f.hatchet | awk -F, '$5 ~ /^first[0-7]$/ { n += $8 } END { print n + 0 }')))
	grep -q lost: err && lost=$((lost + 1))
done
check "first scopes of eight threads at once, 16 times" "128 0" "$n $lost"

# ---- a stack with room for little ----
# SIGSTKSZ is 8 KiB; the frame of the signal takes 3.3 of them with AVX-512.
for room in 4096 2600; do
	$sanitized || record small-stack $room
	$sanitized || check "a first scope where the stack has $room bytes left" "0 handled 2 2" \
		"$status $(cat out) $(entered 'on a small stack')"
done

# ---- ends ----
record late
check "a handler that was registered before our first call" "1 1" "$(entered early) $(entered late)"
check "nothing was lost of it" "" "$(grep lost: err)"
# LeakSanitizer takes for lost what the C library keeps for a main thread that has left.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 record main-leaves
check "the last thread's work and handlers" "1 1 1 handler" \
	"$(entered main) $(entered 'after main') $(entered 'in a handler') $(cat out)"
record abort 20
heard=$(sed -n 's/^proton: lost: \([0-9]*\) process.* cut off.*/\1/p' err)
unheard=$(sed -n 's/^proton: lost: \([0-9]*\) process.* never heard of.*/\1/p' err)
check "each of 20 children that abort is told of" 20 $((${heard:-0} + ${unheard:-0}))
check "and nobody says that they did nothing" "" "$(grep -E 'launched nothing|nothing connected' err)"

record exec-fails 3
$sanitized || check "exec that fails, and a kill: told" "1 1" \
	"$(entered before) $(sed -n 's/^proton: lost: \([0-9]*\) process cut off.*/\1/p' err)"
record bare-fork 5
$sanitized || check "a child that clone() made" "1 5" "$(entered parent) $(entered child)"
record open-end
check "a scope that is open at the end" 1 "$(entered open)"
# LeakSanitizer does not come to an end in a daemon.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 record daemon
wait_for 10 test -s f.hatchet
$sanitized || check "the parent of a daemon was not cut off" "1 " "$(entered parent) $(grep 'cut off' err)"

# ---- forks of a program without other threads ----
record fork-single 40
$sanitized || check "a program of one thread has one when it forks" "0 threads 1" "$status $(cat out)"
$sanitized || check "and nothing is lost of it" "40 40 " "$(entered parent) $(entered child) $(grep -E 'lost:|cut off' err)"
early=--early record fork-single 3
$sanitized || check "but for threads that are to be there early" "0 threads 3" "$status $(cat out)"

record handler 200000
check "a handler's scopes are its own" "200000 $(sed -n 's/^handled //p' out)" "$(entered interrupted) $(entered handler)"
record worker-open 1
check "a thread that ends in its scope" "1 " "$(entered entered) $(grep lost: err)"
record worker-open
has "a thread that is in a scope at the end" "lost: 1 scope of other threads open at the end, not timed" err
record deep 300
has "scopes that are too deep" "lost: 44 scopes not counted: deeper than 256" err
record clear-env
$sanitized || check "an environment that is emptied" 1 "$(entered cleared)"

# ---- full tables ----
early=--no-fold-numbers record count-up 270000
has "who filled the table, with its parent" \
	"calling contexts folded into <other>: too many names, 2" err
has "… and pattern" "like 'batch # of many' in 'main'" err
has "in a report of the file" "like 'batch # of many'" <("$PROTON" report --section losses f.hatchet)

# ---- another library's _exit ----
other=$(dirname "$PROTON")/tests/mocks/.libs/other_exit.so
if [ -e "$other" ]; then
	# shellcheck disable=SC2016
	"$PROTON" record -q -o f.hatchet -- sh -c 'LD_PRELOAD=$LD_PRELOAD:$0 exec "$1" ends' "$other" "$odd"
	check "the next _exit() decides on the status" 66 $?
	check "and we have sent before" 1 "$(entered end)"
else
	echo "skipped: no $other"
fi

# ---- the session cannot be reached ----
for what in "setuid 65534" chroot; do
	# shellcheck disable=SC2086
	record $what
	[ $status = 77 ] || has "$what: only what is known" "(not seen: static, set-id, 32-bit programs, other users, chroot, env -i)" err
done
rm -f f.hatchet
"$PROTON" record -o f.hatchet -- env -i "$odd" late >out 2>err
has "an emptied environment: only what is known" "(not seen: static, set-id, 32-bit programs, other users, chroot, env -i)" err

# ---- limits ----
# shellcheck disable=SC2016
"$PROTON" record -o f.hatchet -- sh -c 'ulimit -v 60000; exec "$0" late' "$odd" >out 2>err
if $sanitized; then
	echo "skipped: the sanitizer needs the address space"
else
	has "no memory to start is told" "1 process not profiled: no memory for the collector" err
	check "and in the file" 1 "$(grep -o '"refused": *[0-9]*' f.hatchet | grep -o '[0-9]*$')"
fi
record no-threads 3
check "no thread can be made: sent at the end" "3" "$(entered alone)"
check "nothing was lost of it" "" "$(grep lost: err)"
record locked 4000
[ $status = 77 ] || check "locked memory is what is used" little "$(cat out)"
record filtered 3
if [ $status != 77 ] && ! $sanitized; then
	check "a filter that kills: as the shell sees it" 159 $status
	has "a filter that kills: what to do" "see --early" err
	early=--early record filtered 3
	check "with --early our threads are there before the filter" "0 3" "$status $(entered under)"
	early=--early record nothing
	has "with --early, nothing to say" "no GPU work: 1 process connected" err
fi

# ---- descriptors ----
for limit in 1024 64; do
	rm -f f.hatchet
	# shellcheck disable=SC2016
	"$PROTON" record -o f.hatchet -- sh -c 'ulimit -n "$1"; exec "$0" close-all 120' "$odd" $limit >out 2>err
	check "a program's files are its own, with $limit descriptors" "dirty 0 of 120" "$(cat out)"
	check "and its profile is there" yes "$([ "$(metric f.hatchet ROOT x)" = 0 ] &&
		[ "$("$PROTON" export -f json f.hatchet | grep -c '"cpu_count"')" -gt 100 ] && echo yes)"
done
finish

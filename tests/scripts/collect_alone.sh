#!/bin/bash
# A program that nobody started to profile, and that starts sessions by proton.h: its library starts the
# receiver, which is nobody's child, writes the files of the sessions and goes when the program has gone.
. "${srcdir:-.}/tests/tools/sessions.sh"
. "${srcdir:-.}/tests/tools/cli_help.sh"
session_app collect_sessions
export PROTON_LIBRARY=$build/.libs/libproton.so.0
export TMPDIR=$work/tmp XDG_RUNTIME_DIR=
mkdir "$TMPDIR"

# alone WHAT [ARGUMENT]: what the program says is in `out`
alone() { timeout 240 "$app" "$cuda" "$@" >out 2>err; }
# odd WHAT: what the program says is in `said`
odd() {
	rm -f said
	timeout 240 "$build/tests/programs/alone_odd" "$@" >out 2>err
}
# Nothing is left: neither a receiver nor its directory.
is_clean() { [ -z "$(ls -A "$TMPDIR")$(receivers)" ]; }
receivers() {
	local pid
	for pid in $(left); do
		[ "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -d' ' -f2)" != receive ] || echo "$pid"
	done
}

is_quiet() { [ -z "$(receivers)" ]; }

is_sanitized() { grep -q 'define PROTON_SANITIZED 1' "$build/config.h" 2>/dev/null; }

# ---- as under record
alone overlap
check "it says" "a 0 b 0 b again -3 there is no session 1" "$(tr '\n' ' ' <out | sed 's/ $//')"
check "and nothing else" "" "$(cat err)"
check "a" "add 1 step/add 4 step/mul 2 []" "$(tree a.hatchet)"
check "b" "add 1 mul 7 step/mul 2 []" "$(tree b.hatchet_msgpack)"
check "no other file" "a.hatchet b.hatchet_msgpack" "$(echo *.hatchet*)"
check "nothing is left" yes "$(wait_for 20 is_clean && echo yes)"
"$PROTON" report a.hatchet >report
has "what came before is said" "CUDA was in use before the program's first session" report
has "what ran is said" "$cuda overlap" report
alone context shadow
check "scopes" "outer/add 3 outer/inner/add 3 []" "$(tree c.hatchet)"
alone one "$PWD/one"
check "an absolute name" "finalize 0 add 3 []" "$(tail -1 out) $(tree one.hatchet)"
alone one nowhere/x
has "a folder that is not there" "finalize -5 the file was not written: No such file or directory" out

# ---- sessions that are not finalized
alone leave exit
check "at exit() the file is there" "add 3 []" "$(tree never.hatchet)"
alone last
check "finalize in a handler of exit()" "last 0" "$(cat out)"
check "has all" "add 3 []" "$(tree last.hatchet_msgpack)"
for how in now quick kill; do
	rm -f never.hatchet
	alone leave $how
	check "after $how it comes" yes "$(wait_for 20 [ -s never.hatchet ] && echo yes)"
	check "with what there was" "add 3 [$([ $how = quick ] || echo "'vanished'")]" "$(tree never.hatchet)"
done
rm -f never.hatchet
mkfifo gate
timeout 240 "$app" "$cuda" leave exec <gate >out 2>err &
exec 9>gate
check "after exec() it comes" yes "$(wait_for 20 [ -s never.hatchet ] && echo yes)"
check "with what there was" "add 3 ['vanished']" "$(tree never.hatchet)"
check "the program that was executed has nothing of it" yes "$(wait_for 20 is_clean && echo yes)"
exec 9>&-
wait $!
check "and goes on" "exec" "$(cat out)"

# ---- threads that start sessions at once have one receiver
alone threads 64
check "64 threads" "threads 0" "$(cat out)"
check "64 files" 64 "$(ls t*.hatchet | wc -l)"
check "each has its thread's" "" "$(for i in $(seq 0 63); do
	[ "$(metric t$i.hatchet add count)" -ge 10 ] || echo "t$i"
done)"
check "nothing is left of 64" yes "$(wait_for 20 is_clean && echo yes)"

# ---- a fork child has a receiver of its own
if is_sanitized; then
	echo "skipped: a forked child waits for locks of the sanitizer that others held"
else
	alone fork
	check "fork" "child -1 nobody is profiling this program,child 0,parent 0," "$(tr '\n' , <out)"
	check "the parent's" "add 4 []" "$(tree parent.hatchet)"
	check "the child's" "5 0" "$(metric child.hatchet s flops | sed 's/\.0$//') $(metric parent.hatchet s flops)"
	check "nothing is left of both" yes "$(wait_for 20 is_clean && echo yes)"
	odd tree
	check "children of children" "13 done" "$(sort said | uniq -c | sed 's/^ *//')"
	check "each has its own file" 13 "$(ls f?-*.hatchet | wc -l)"
	check "to leave a scope of the parent is no mistake" 0 \
		"$(for file in f?-*.hatchet; do "$PROTON" export -f json "$file"; done | grep -c '"scope_mismatch": *[1-9]')"
	check "nothing is left of any" yes "$(wait_for 20 is_clean && echo yes)"
fi

# ---- the receiver is nobody's child, and ends for nobody but the program
odd children
check "the program has no child" "wait none, 0 ended, done" "$(cat said)"
odd reaper
check "nor where orphans come back" "wait none, 0 ended, done" "$(cat said)"
if unshare -pf --mount-proc true 2>/dev/null; then
	rm -f said
	timeout 240 unshare -pf --mount-proc "$build/tests/programs/alone_odd" children >out 2>err
	check "nor as process 1" "wait none, 0 ended, done" "$(cat said)"
else
	echo "skipped: process 1 of a namespace; none can be made here"
fi
odd interrupt
check "Ctrl-C is for the program" "done" "$(cat said)"
check "and what came after it is there" 1 "$("$PROTON" export -f json o.hatchet | grep -c '"name": *"work"')"
odd stopped
check "a receiver that stands still is waited for, and handlers run" "handled, done" "$(cat said)"
odd orphan
has "a receiver that is killed" "killed, finalize -5 proton did not answer: the file may be missing" said
has "later calls say so" "start -1 the proton that this program started is gone" said
check "and the program goes on" 0 $?
check "nothing runs on" yes "$(wait_for 20 is_quiet && echo yes)"
rm -rf "${TMPDIR:?}"/*

# ---- what is loaded after the session has begun
LD_LIBRARY_PATH=$libs odd early
check "the driver" "done add 3 []" "$(cat said) $(tree o.hatchet)"
check "nothing was missed" 0 "$("$PROTON" report o.hatchet | grep -c "in use before")"
LD_LIBRARY_PATH=$libs OMP_TOOL_LIBRARIES=$PROTON_LIBRARY odd openmp
check "a runtime of OpenMP" "a tool, done 1" \
	"$(cat said) $("$PROTON" export -f json o.hatchet | grep -c '"name": *"omp target')"
LD_LIBRARY_PATH=$libs OMP_TOOL_LIBRARIES=/other.so odd openmp
check "another tool is left alone" "no tool, done" "$(cat said)"

# ---- contexts are those that sessions ask for
cat >contexts.py <<'END'
import ctypes, os, sys
cuda = ctypes.CDLL(sys.argv[1])
lib = ctypes.CDLL(os.environ["PROTON_LIBRARY"])
class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(n, ctypes.c_char_p) for n in ("context", "data", "backend", "mode", "hook")]
def step():
    lib.proton_api_enter_scope(b"step")
    cuda.cuLaunchKernel(b"add", 1, 1, 1, 1, 1, 1, 0, None, None, None)
    lib.proton_api_exit_scope()
cuda.cuInit(0)
for word in sys.argv[2:]:
    session = lib.proton_api_session_start(word.encode(), ctypes.byref(Options(ctypes.sizeof(Options), word.encode())))
    for _ in range(5):
        step()
    lib.proton_api_session_finalize(session, None)
END
if is_sanitized; then
	echo "skipped: contexts of Python; an interpreter without the sanitizer does not load the library"
else
	timeout 240 python3 contexts.py "$cuda" shadow python 2>err
	check "scopes alone" "step/add 5 []" "$(tree shadow.hatchet)"
	check "then frames of Python" "$PWD/contexts.py:14@<module>/$PWD/contexts.py:8@step/add 5 []" "$(tree python.hatchet)"
fi

# ---- what may be wrong with the program
odd closed
check "standard streams are files of the program" "done" "$(cat said)"
check "and nothing is written into them" "" "$(cat data)"
PROTON_COMMAND=/nowhere odd closed
has "nor what is wrong" "which is no program" said
check "and they stay empty" "" "$(cat data)"
odd full
has "no descriptor is left" "Too many open files" said
odd filter
if grep -q "no filters" said; then
	echo "skipped: a filter of system calls; none can be made here"
else
	has "processes are forbidden" "cannot start '$build/proton': Operation not permitted" said
fi
TMPDIR=/nowhere odd plain
check "a folder that is not there: /tmp" "done" "$(cat said)"
XDG_RUNTIME_DIR=$work/runtime odd plain
check "one that nobody made" "done" "$(cat said)"
if unshare -m sh -c 'mount -t tmpfs -o ro none /tmp' 2>/dev/null; then
	cp "$build/tests/programs/alone_odd" plain_odd 2>/dev/null
	for options in ro size=4k,nr_inodes=4; do
		rm -f said
		mkdir -p "$work/mounted"
		timeout 60 unshare -m sh -c 'mount -o bind "$2" /mnt && mount -t tmpfs -o "$1" none /tmp && cd /mnt && TMPDIR= exec ./plain_odd plain' \
			- $options "$work" >out 2>err
		has "/tmp with $options" "cannot make a session directory" said
		has "is said once" "proton: no profile is written: cannot make a session directory" err
	done
else
	echo "skipped: a /tmp that is full; no namespace can be made here"
fi
(exec 2>&-; PROTON_COMMAND=/nowhere odd plain)
check "without a standard error it goes on" 1 "$(grep -c 'which is no program' said)"
odd thousand
check "a thousand sessions" "0 failed" "$(cat said)"
check "and nothing is left" yes "$(wait_for 20 is_clean && echo yes)"

# ---- under a proton that is gone it starts none
PROTON_SESSION=$work/gone odd plain
check "where proton started it, it starts none" "nobody is profiling this program" "$(cat said)"
check "without a word" "" "$(cat err)"
finish

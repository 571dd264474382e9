#!/bin/bash
# A program that nobody started to profile, and that starts sessions by proton.h: its library starts the
# receiver, which is nobody's child, writes the files of the sessions and goes when the program has gone.
. "${srcdir:-.}/tests/tools/cli_help.sh"
build=$(cd "$(dirname "$PROTON")" && pwd)
libs=$build/tests/mocks/.libs
app=$build/tests/programs/collect_sessions
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
export PROTON_LIBRARY=$build/.libs/libproton.so.0
export TMPDIR=$work/tmp XDG_RUNTIME_DIR=
mkdir "$TMPDIR"
cuda=$libs/libcuda.so.1

# alone WHAT [ARGUMENT]: what the program says is in `out`
alone() { timeout 240 "$app" "$cuda" "$@" >out 2>err; }
# Paths and executions of a profile, and its losses.
tree() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
path, counts = {}, []
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    if n["metrics"].get("count"):
        counts += [path[n["id"]] + " " + str(n["metrics"]["count"])]
print(*sorted(counts), [k for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")])'
}
# Nothing is left: neither a receiver nor its directory.
is_clean() { [ -z "$(ls -A "$TMPDIR")$(receivers)" ]; }
receivers() {
	local pid
	for pid in $(left); do
		[ "$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -d' ' -f2)" != receive ] || echo "$pid"
	done
}

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
alone fork
check "fork" "child -1 nobody is profiling this program,child 0,parent 0," "$(tr '\n' , <out)"
check "the parent's" "add 4 []" "$(tree parent.hatchet)"
check "the child's" "5 0" "$(metric child.hatchet s flops | sed 's/\.0$//') $(metric parent.hatchet s flops)"
check "nothing is left of both" yes "$(wait_for 20 is_clean && echo yes)"
finish

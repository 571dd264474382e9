#!/bin/bash
# Sessions that a program starts by proton.h: what is in the profile of each, beside that of the run; names,
# forks, threads, and either side that is killed.
. "${srcdir:-.}/tests/tools/sessions.sh"
. "${srcdir:-.}/tests/tools/cli_help.sh"
session_app collect_sessions

# ---- two that overlap
record overlap
check "it says" "a 0 b 0 b again -3 there is no session 1" "$(tr '\n' ' ' <out | sed 's/ $//')"
check "a" "add 1 step/add 4 step/mul 2 []" "$(tree a.hatchet)"
check "b" "add 1 mul 7 step/mul 2 []" "$(tree b.hatchet_msgpack)"
check "the run has all" "add 19 mul 9" "$(metric run.hatchet add count | sed 's/^/add /') $(metric run.hatchet mul count | sed 's/^/mul /')"
check "flops of a" 100 "$(metric a.hatchet step flops | sed 's/\.0$//')"
check "the files are those of others" "$(stat -c %a run.hatchet)" "$(stat -c %a a.hatchet)"
rm -f a.hatchet
record overlap hatchet
check "a format by its name" yes "$([ -s a.hatchet ] && echo yes)"

# ---- what contexts are made of
record context shadow
check "scopes" "outer/add 3 outer/inner/add 3 []" "$(tree c.hatchet)"
record context scopes
check "scopes without NVTX" "outer/add 3 outer/inner/add 3 []" "$(tree c.hatchet)"
record context python
check "without scopes equal kernels are one" "add 6 []" "$(tree c.hatchet)"
record context nonsense
has "another" "-2 context 'nonsense' is not known: shadow, scopes or python" out

# ---- states, launches with names, metrics
for name in matmul $'mat\nmul' $'\xff'; do
	record launches "$name"
	check "a launch named $(printf %q "$name")" "end 0,finalize 0," "$(tr '\n' , <out)"
	for file in l.hatchet run.hatchet; do
		check "in $file" "add 1 step, 3 warm 1000.0 -3.0, loss[0] (%) 0.5, loss[1] (%) 0.25, wait (ns) 7.0" \
			"$("$PROTON" export -f json $file | python3 -c '
import json, sys
p = json.load(sys.stdin)
names = {n["id"]: n["name"] for n in p["nodes"]}
for n in p["nodes"]:
    m = n["metrics"]
    if n["name"] == "add":
        add = "add %d %s" % (m["count"], names[n["parent"]])
    elif n["kind"] == "kernel":
        named = "%d %s %s %s" % (m["count"], names[n["parent"]], m["flops16"], m["delta"])
    elif n["name"] == "step":
        step = ["%s %s" % (k, m[k]) for k in sorted(m) if k in ("loss[0] (%)", "loss[1] (%)", "wait (ns)")]
print(add, named, *step, sep=", ")')"
	done
done

# ---- names
mkdir -p sub
for name in sub/x "/$PWD/y" $'line\nfeed' $'\xff\xfe' 'a b%p' ''; do
	record one "$name"
	file=${name:-proton}.hatchet
	check "name $(printf %q "$name")" "finalize 0 add 3 []" "$(tail -1 out) $(tree "$file")"
done
record one nowhere/x
has "a folder that is not there" "finalize -5 the file was not written: No such file or directory" out
check "and the run goes on" 3 "$(metric run.hatchet add count)"
mkfifo pipe.hatchet
record one pipe
has "a FIFO" "finalize -5 the file was not written: Invalid argument" out
record one -
has "no name of a file" "start -2 a session is written to a file" out
record long 1048576
has "a megabyte" "start -2 the name is too long for a file: 'xxxx" out

# ---- the device is not done yet: no record may be taken before it has its times
record late
check "a session waits for the device" "finalize 0 forced 0" "$(tr '\n' ' ' <out | sed 's/ $//')"
check "and has all of it" "mul 50 []" "$(tree late.hatchet)"
check "so has the run" "add 1 mul 50 []" "$(tree run.hatchet)"

# ---- forks and threads
is_sanitized() { grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; }
if is_sanitized; then
	echo "skipped: a forked child waits for locks of the sanitizer that others held"
else
	record fork
	check "fork" "child -3 there is no session 0,child 0,parent 0," "$(tr '\n' , <out)"
	check "the parent's" "add 4 []" "$(tree parent.hatchet)"
	check "the child's" "5 0" "$(metric child.hatchet s flops | sed 's/\.0$//') $(metric parent.hatchet s flops)"
fi
record threads 64
check "64 threads" "threads 0" "$(cat out)"
check "64 files" 64 "$(ls t*.hatchet | wc -l)"
check "each has its thread's" "" "$(for i in $(seq 0 63); do
	n=$("$PROTON" export -f json t$i.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
scope = [n["id"] for n in p["nodes"] if n["name"] == sys.argv[1]]
print(sum(n["metrics"].get("count", 0) for n in p["nodes"] if n["parent"] in scope))' t$i)
	[ "$n" = 10 ] || echo "t$i $n"
done)"
check "and the run all" 640 "$(metric run.hatchet add count)"

# ---- ends
record leave exit
check "without finalize it is written at the end" "add 3 []" "$(tree never.hatchet)"
rm -f never.hatchet
record leave now
tree never.hatchet >out
rm -f never.hatchet
if is_sanitized; then
	check "so it is after _exit()" "add 3" "$(cut -d ' ' -f 1-2 out)"
	echo "skipped: _exit() is not seen in a program with a sanitizer, which looks cut off"
else
	check "so it is after _exit()" "add 3 []" "$(cat out)"
	check "the run has what there was" 3 "$(metric run.hatchet add count)"
fi
record leave kill
check "a program that is killed: its status" 137 $?
check "and it is written all the same" "add 3 ['vanished']" "$(tree never.hatchet)"
record last
check "finalize in a handler of exit()" "last 0" "$(cat out)"
check "has all" "add 3 []" "$(tree last.hatchet_msgpack)"
# A file system of our own, that fills up.
mkdir small
unshare -rm sh -c 'mount -t tmpfs -o size=2m none small && echo on >mounted || exit
	mkdir -m 700 small/run; export XDG_RUNTIME_DIR=$PWD/small/run
	timeout 240 "$1" record -o run.hatchet -- "$2" "$3" full >out 2>err
	timeout 240 "$1" record -o run.hatchet -- "$2" "$3" full phases >out_phases 2>err' - "$PROTON" "$app" "$cuda" 2>unshared
if [ -e mounted ]; then
	check "a full disk: the file of its start is answered in" "finalize 0" "$(cat out)"
	check "and the profile is there" "add 3" "$(counts full.hatchet)"
	check "phases are written without being asked for" "finalize 0" "$(cat out_phases)"
	check "each" "add 3, mul 2" "$(counts full.part_0.hatchet), $(counts full.part_1.hatchet)"
else
	echo "a disk that is full: no file system can be mounted here"
fi
record removed
check "a folder that is removed is waited for no longer" "finalize -5 proton's folder was removed: the file may be missing" "$(cat out)"
# The shell is the parent that the program would kill.
(timeout 240 "$PROTON" record -o run.hatchet -- "$app" "$cuda" orphan 0 >out 2>err) 2>/dev/null
wait_for 60 grep -q "goes on" out
has "whoever profiles is killed" "finalize -5 proton did not answer" out
has "and the program goes on" "goes on 0" out

# ---- one after another, more than there are places, of which the last one's file is left
n=4300
is_sanitized && n=600
record many $n
check "sessions without an end" "many $((n - 1)) done" "$(cut -d ' ' -f 1-3 out)"
is_sanitized || check "in memory that does not grow" flat "$(cut -d ' ' -f 4 out)"
check "each is its own" 1 "$("$PROTON" export -f json request-$((n - 1)).hatchet | grep -c '"name": *"work"')"

# ---- a tape is read, and writes nothing
timeout 240 "$PROTON" record --tape run.tape -o run.hatchet -- "$app" "$cuda" overlap >out 2>err
rm -f a.hatchet b.hatchet_msgpack
check "a tape has the run" 19 "$(metric run.tape add count)"
check "and writes no file" no "$([ -e a.hatchet ] || [ -e b.hatchet_msgpack ] && echo yes || echo no)"
finish

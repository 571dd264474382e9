#!/bin/bash
# SPDX-License-Identifier: MIT
# record --context python: programs that do what few do run as they do without, and what is said of them is
# right. With python3, and with PROTON_TEST_PYTHONS.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/mock_python.sh"
app=$here/programs/python_odd.py
embed=$(dirname "$PROTON")/tests/programs/python_embed
# How often each was launched from where it said, the innermost two frames; and what is launched from elsewhere.
compare() {
	"$PROTON" export -f json p.hatchet | python3 -c '
import collections, json, sys
p, said = json.load(sys.stdin), collections.Counter()
for line in open("out", encoding="utf-8"):
    if line.startswith("launched: "):
        said[line[10:-1].replace("…", sys.argv[1])] += 1
name = {n["id"]: n for n in p["nodes"]}
got = collections.Counter()
for n in p["nodes"]:
    above = n["parent"]
    while n["kind"] == "kernel" and above in name:
        got[name[above]["name"]] += n["metrics"]["count"]
        above = name[above]["parent"]
wrong = [k for k in said if got[k] < said[k] or ("<string>" in k and got[k] != said[k])]
print(len(wrong), "wrong", *wrong[:2])' "$here/programs"
}

n=0
# 3.8 refuses what it is asked while it ends: it is asked nothing.
while read -r python; do
	[[ $("$python" -V) == *\ 3.8.* ]] || continue
	for how in leaving ending lines; do
		timeout 60 "$PROTON" record -q --context python,torch -o p.hatchet -- "$python" "$app" "$libs/libcuda.so.1" $how >out 2>err
		check "$python $how: status, and nothing said" "0 " "$? $(cat err)"
	done
	check "$python: and it is asked before" "0 wrong" "$(compare)"
done < <(pythons)
for python in python3 ${PROTON_TEST_PYTHONS:-}; do
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	case $version in
	3.7|3.8|3.9|3.10|3.11|3.12|3.13|3.14|3.15) ;;
	*) continue ;;
	esac
	for case in lines names cells texts audited forbidden deep ending leaving; do
		PYTHONUTF8=1 timeout 60 "$python" "$app" "$libs/libcuda.so.1" $case >bare 2>&1
		status=$?
		PYTHONUTF8=1 timeout 60 "$PROTON" record -q --context python -o p.hatchet -- \
			"$python" "$app" "$libs/libcuda.so.1" $case >out 2>err
		check "$version $case: status" $status $?
		check "$version $case: output" "$(cat bare)" "$(cat out)"
		check "$version $case: contexts" "0 wrong" "$(compare)"
		check "$version $case: nothing said" "" "$(cat err)"
	done
	odd=$(printf 'odd\200.py')
	cp "$app" "$odd"
	timeout 60 "$PROTON" record -q --context python -o p.hatchet -- "$python" "$odd" "$libs/libcuda.so.1" lines >out 2>err
	check "$version: a file whose name is no UTF-8" "0 wrong" "$(compare)"
	timeout 60 "$PROTON" record --context python -o p.hatchet -- "$python" "$app" "$libs/libcuda.so.1" waiting >out 2>err
	check "$version: the main thread waits" 1 "$(grep -c 'note: [0-9]* launches have no calling context of Python' err)"
	n=$((n + 1))

	library=$("$python" -c 'import sysconfig as s; print(s.get_config_var("LIBDIR") + "/" + s.get_config_var("INSTSONAME"))')
	[ -e "$library" ] || { echo "$version: no shared library"; continue; }
	home=$("$python" -c 'import sys; print(sys.base_prefix)') # not that of a virtual environment
	for when in first last; do
		PYTHONHOME=$home timeout 60 "$PROTON" record --context python -o p.hatchet -- "$embed" "$libs/libcuda.so.1" "$library" $when >out 2>err
		check "$version embedded, $when: status" "0 done" "$? $(cat out)"
		paths=$("$PROTON" export -f folded p.hatchet | sort)
		case $when in
		first) check "$version embedded: contexts" $'<string>:4@<module>;<string>:2@work;inside 20000\ndropped 1000\nended 1000\noutside 1000' "$paths" ;;
		last) check "$version embedded, loaded last: said" 1 "$(grep -c 'note: Python.*loaded after the first work' err)" ;;
		esac
	done
done
# From 3.12 on a program with threads is told of them when it forks; ours are not the program's.
cat >forks.py <<'END'
import os, sys
import proton
s = proton.start("forks") if "session" in sys.argv else None
for _ in range(20):
    with proton.scope("parent"):
        pass
    pid = os.fork()
    if not pid:
        with proton.scope("child"):
            pass
        os._exit(0)
    os.waitpid(pid, 0)
if s is not None:
    proton.finalize(s)
print("done")
END
n_told=0
while read -r python; do
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' || continue
	n_told=$((n_told + 1))
	for how in "record -q -o p.hatchet --" "record -q -o p.hatchet -- session" session; do
		command=("$python" -W always::DeprecationWarning -I -c "import sys; sys.path.insert(0, sys.argv.pop(1)); exec(open('forks.py').read())" "$here/../python")
		words=${how% session}
		[ "$how" = session ] || command=("$PROTON" $words "${command[@]}")
		[ "$how" = "$words" ] && [ "$how" != session ] || command+=(session)
		# A fork waits for our threads, and not long: on a machine that is busy they may be there once.
		for _ in 1 2 3 4 5; do
			PROTON_COMMAND=$PROTON timeout 60 "${command[@]}" >out 2>err
			got="$? $(cat out) $(cat err)"
			[ "$got" = "0 done " ] && break
		done
		check "$python: forks, $how" "0 done " "$got"
	done
	check "$python: scopes before and after forks" "20 20" "$(metric p.hatchet parent cpu_count) $(metric p.hatchet child cpu_count)"
done < <(pythons)
[ $n_told -gt 0 ] || echo "skipped: no Python that warns of threads at a fork (3.12 or later)"
# The workers of a pool are killed when their work is done, some 50 ms after they began. How much of it is there
# depends on what else runs here: once of ten times, all but the last eighth, which is how much
# of its age the sender of a young process rests.
cat >pool.py <<'END'
import ctypes, multiprocessing, sys
def begin():
    global driver, name
    driver = ctypes.CDLL(sys.argv[1])
    driver.cuInit(0)
    name = ctypes.create_string_buffer(b"work")
def work(_):
    for _ in range(10):
        driver.cuLaunchKernel(name, 1, 1, 1, 1, 1, 1, 0, None, None, None)
if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    with multiprocessing.Pool(4, begin) as pool:
        pool.map(work, range(400), chunksize=1)
END
most=0
for ((i = 0; i < 10 && most < 3500; i++)); do
	timeout 60 "$PROTON" record -q --context scopes -o p.hatchet -- python3 pool.py "$libs/libcuda.so.1" >out 2>err
	kept=$("$PROTON" export -f json p.hatchet | python3 -c '
import json, sys
print(sum(n["metrics"].get("count", 0) for n in json.load(sys.stdin)["nodes"] if n["kind"] == "kernel"))')
	most=$((kept > most ? kept : most))
done
check "workers of a pool that are killed" yes "$([ $most -ge 3500 ] && echo yes || echo "$most of 4000")"

[ "$n" -gt 0 ] || { echo "skipped: no interpreter of a version that is known"; exit 77; }
finish

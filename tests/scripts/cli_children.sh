#!/bin/bash
# Programs of all kinds and their children: they behave as they do without us, and each process that
# has something to say is in the profile.
include=$(cd "${srcdir:-.}/include" && pwd)
. "${srcdir:-.}/tests/tools/cli_help.sh"
scopes=$(dirname "$PROTON")/examples/scopes
export PYTHONDONTWRITEBYTECODE=1
# Our library may bring a sanitizer's runtime, and one process cannot have two.
ldd "$(dirname "$PROTON")/.libs/libproton.so" 2>/dev/null | grep -q 'lib[alt]*san' && sanitized=1 || sanitized=

record() { timeout 120 "$PROTON" record -q -o f.hatchet -- "$@" >out 2>err; echo $?; }
# same "what" COMMAND…: status, output and errors are those that the command has without us
same() {
	local what=$1; shift
	local status; timeout 120 "$@" >out0 2>err0; status=$?
	check "$what: status" "$status" "$(record "$@")"
	check "$what: output" "$(cat out0)" "$(cat out)"
	check "$what: errors" "$(cat err0)" "$(grep -v "${known:-^\$no such line}" err)"
}
processes() { "$PROTON" export -f json "$1" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["processes"]))'; }
losses() { "$PROTON" export -f json "$1" | python3 -c 'import json, sys; print({k: v for k, v in json.load(sys.stdin)["losses"].items() if v and k != "pipe_full"})'; }
count() { metric f.hatchet "$1" cpu_count; }

# ---- shells
same "a chain" sh -c 'echo one; sh -c "echo two >&2; sh -c \"exit 9\""; exit $((1 + $?))'
same "a pipeline" sh -c 'printf "b\na\n" | sort | { cat; exit 4; }'
same "exec" sh -c 'exec sh -c "exec sh -c \"echo deep; exit 3\""'
same "in the background" sh -c '(echo child; exit 0) & wait $!; kill -TERM $$'
check "scopes in a chain" 0 "$(record sh -c "sh -c '$scopes 1'; (exec $scopes 1); $scopes 1 >/dev/null")"
check "three processes" 3 "$(processes f.hatchet)"
check "their scopes" 3 "$(count round)"

# ---- one that never uses a GPU or a scope: no thread, no library, no file of ours
cat >idle.sh <<'X'
grep Threads /proc/self/status
grep -o '/[^ ]*\.so[^ ]*' /proc/self/maps | sort -u
ls -l /proc/self/fd | grep -o '[0-9]* -> .*' | grep -v /proc/
X
sh idle.sh >out0
check "idle: status" 0 "$(record sh idle.sh)"
[ -n "$sanitized" ] || check "idle: our library alone is new" 1 "$(diff <(grep -v '^[0-9]' out0) <(grep -v '^[0-9]' out) | grep -c '^[<>].*\.so')"
has "idle: and it is there" "libproton.so" out
check "idle: one thread" "Threads:	1" "$(grep Threads out)"
check "idle: no file" "$(grep -c '^[0-9]' out0)" "$(grep -c '^[0-9]' out)"

# ---- Python
cat >scope.py <<'X'
import ctypes, os
path = os.environ.get("PROTON_LIBRARY")
lib = ctypes.CDLL(path) if path else None
def scope(name):
    if lib:
        lib.proton_api_enter_scope(name.encode())
        lib.proton_api_exit_scope()
X
cat >sub.py <<'X'
import subprocess, sys
from scope import scope
scope("parent")
code = "from scope import scope; scope('child'); print('out'); raise SystemExit(5)"
r = [subprocess.run([sys.executable, "-c", code], close_fds=True).returncode for i in range(3)]
print(r)
X
same "subprocess" python3 sub.py
check "subprocess: processes" 4 "$(processes f.hatchet)"
check "subprocess: scopes" "1 3" "$(count parent) $(count child)"
cat >multi.py <<'X'
import multiprocessing as mp, sys
from scope import scope
def work(i):
    for k in range(10):
        scope("work")
    return i * i
if __name__ == "__main__":
    mp.set_start_method(sys.argv[1])
    scope("parent")
    p = [mp.Process(target=work, args=(i,)) for i in range(3)]
    [x.start() for x in p]
    [x.join() for x in p]
    print([x.exitcode for x in p])
    with mp.Pool(2) as pool:
        print(pool.map(work, range(6)))
        pool.close()
        pool.join()
X
for how in fork spawn; do
	same "multiprocessing $how" python3 multi.py $how
	check "multiprocessing $how: scopes" "1 90" "$(count parent) $(count work)"
	n=$(processes f.hatchet)
	check "multiprocessing $how: processes" yes "$([ "$n" -ge 5 ] && [ "$n" -le 8 ] && echo yes || echo "$n")"
	check "multiprocessing $how: losses" "{}" "$(losses f.hatchet)"
done

# ---- eight at once, and each of them counted
check "eight at once: status" 0 "$(record sh -c "for i in 1 2 3 4 5 6 7 8; do $scopes 3 & done; wait")"
check "eight at once: processes" 8 "$(processes f.hatchet)"
check "eight at once: scopes" "24 24" "$(count round) $(count merge)"
check "eight at once: losses" "{}" "$(losses f.hatchet)"

# ---- built in unusual ways
cat >app.c <<'X'
#include <proton/proton.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	proton_enter_scope("app");
	puts("output");
	fputs("errors\n", stderr);
	if (argc > 1) {
		volatile char *p = malloc(8);
		p[8 + atoi(argv[1])] = 1;
	}
	proton_exit_scope();
	return 6;
}
X
build() { # build NAME OPTIONS…: false with a reason when this machine cannot
	local name=$1; shift
	${CC:-cc} -g -I"$include" "$@" -o "$name" app.c -ldl 2>cc.err && ./"$name" >/dev/null 2>&1
	[ $? = 6 ] || { echo "skipped: $name: cannot be built or run here"; return 1; }
}
if build plain; then
	same "plain" ./plain
	check "plain: scope" 1 "$(count app)"
fi
if build asan -fsanitize=address; then
	same "ASan" ./asan
	check "ASan: scope" 1 "$(count app)"
	./asan 0 >out0 2>err0; status=$?
	check "ASan: a fault has its status" "$status" "$(record ./asan 0)"
	check "ASan: and its report" "$(grep -c 'heap-buffer-overflow' err0)" "$(grep -c 'heap-buffer-overflow' err)"
	check "ASan: nothing else" "$(wc -l <err0)" "$(wc -l <err)"
	same "ASan as a child" sh -c './asan; echo $?'
fi
if [ -z "$sanitized" ] && build tsan -fsanitize=thread; then
	same "TSan" ./tsan
	check "TSan: scope" 1 "$(count app)"
fi
loader=$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null | head -1)
if [ -x plain ] && [ -n "$loader" ]; then
	same "under the loader" "$loader" ./plain
	check "under the loader: scope" 1 "$(count app)"
fi
build static -static && same "static" ./static && same "static as a child" sh -c './static; echo $?'
# ld.so says that it leaves our library out of a 32-bit child of a 64-bit program: known, harmless.
build m32 -m32 && same "32-bit" ./m32 &&
	known='wrong ELF class: ELFCLASS64' same "32-bit as a child" sh -c './m32; echo $?'
if [ "$(id -u)" = 0 ] && [ -x plain ]; then
	cp plain setid && chown 65534 setid && chmod 4755 setid
	same "set-id" ./setid
	same "set-id as a child" sh -c './setid; echo $?'
else
	echo "skipped: set-id: needs root"
fi
finish

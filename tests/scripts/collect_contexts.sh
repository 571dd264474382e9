#!/bin/bash
# SPDX-License-Identifier: MIT
# What calling contexts are made of by itself (auto), and how many are read (--budget).
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; then
	echo "skipped: python3 has not the sanitizer's runtime that the collector of this build needs"
	exit 77
fi
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
cuda=$libs/libcuda.so.1

# 20 frames above each launch, by one function that passes on: as many a function, whatever is read.
cat >loop.py <<'END_OF_PYTHON'
import ctypes, sys
cuda = ctypes.CDLL(sys.argv[1])
cuda.cuInit(0)
keep = ctypes.CDLL(None).strdup
keep.restype = ctypes.c_void_p
kernels = [ctypes.c_void_p(keep(b"k%d" % i)) for i in range(3)]
def launch(k):
    cuda.cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, None, None, None)
def a(): launch(kernels[0])
def b(): launch(kernels[1])
def c(): launch(kernels[2])
def deep(n, then):
    return deep(n - 1, then) if n else then()
for _ in range(2000):
    launch(kernels[0])
for _ in range(10000):
    deep(20, a); deep(20, b); deep(20, c)
END_OF_PYTHON
# nodes of Python; calls; guessed; calls of the kernels below each function
look() {
	"$PROTON" export -f json p.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n for n in p["nodes"]}
def path(n):
    return path(name[n["parent"]]) + [n["name"].split("@")[-1]] if n["parent"] in name else []
below = {}
for n in p["nodes"]:
    if n["kind"] == "kernel" and len(path(n)) > 20:
        key = path(n)[-3] + path(n)[-1]
        below[key] = below.get(key, 0) + n["metrics"]["count"]
all = [n["metrics"] for n in p["nodes"]]
guessed = sum(m.get("guessed", 0) for m in all)
print(sum(n["kind"] == "python" for n in p["nodes"]) > 0, sum(m.get("count", 0) for m in all),
      "some" if guessed else "none", below)'
}
each="{'ak0': 10000, 'bk1': 10000, 'ck2': 10000}"

timeout 120 "$PROTON" record -q --budget off -o p.hatchet -- python3 loop.py "$cuda" 2>err
check "by itself: status" 0 $?
check "by itself Python is read, all of it without a limit" "True 32000 none $each" "$(look)"
timeout 120 "$PROTON" record -q --context python -o p.hatchet -- python3 loop.py "$cuda" 2>err
check "what is asked for is read at each launch" "True 32000 none $each" "$(look)"
timeout 120 "$PROTON" record -q --budget 0.01% -o p.hatchet -- python3 loop.py "$cuda" 2>err
check "a small budget" "True 32000 some $each" "$(look)"
"$PROTON" report --ascii -d 8 p.hatchet >text
check "what is guessed is marked" 1 "$(grep -c '`- ~ .*@deep$' text | sed 's/[1-9][0-9]*/1/')"
check "… and said" 1 "$(grep -c 'of 32000 launches, to stay within 0.01 %' text)"
sed '$a import os\nfor i in range(3):\n    pid = os.fork()\n    if not pid: os._exit(0)\n    os.waitpid(pid, 0)' loop.py >forks.py
timeout 120 "$PROTON" record -q --budget 0.01% -o p.hatchet -- python3 forks.py "$cuda" 2>err
check "… once, not by children that launched nothing" 1 \
	"$("$PROTON" report --section notes p.hatchet | grep -c 'launches, to stay within')"
sed 's/deep(20/deep(300/g; s/range(10000)/range(10)/' loop.py >deeper.py
timeout 120 "$PROTON" record --context python -o p.hatchet -- python3 deeper.py "$cuda" >out 2>err
has "stacks that are too deep" "lost: 30 calling contexts cut at 256 frames" err
check "… are no lost scopes" "" "$(grep 'scopes not counted' err)"
timeout 120 "$PROTON" record -q --context scopes -o p.hatchet -- python3 loop.py "$cuda" 2>err
check "--context scopes" "False 32000 none {}" "$(look)"
timeout 120 "$PROTON" record -q --context scopes,auto --budget 100% -o p.hatchet -- python3 loop.py "$cuda" 2>err
check "--context auto" "True 32000 none $each" "$(look)"

for wrong in 0 101% -5 5ms many ''; do
	"$PROTON" record --budget "$wrong" -o x.hatchet true 2>err
	check "--budget '$wrong'" 2 $?
done
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# record --context python: where launches come from, against what each interpreter says itself. Tried with
# python3 and whatever else is here: other versions of the system, of pyenv, and in PROTON_TEST_PYTHONS.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/mock_python.sh"
app=$here/programs/python_contexts.py
# What is in the profile and not expected, what is expected and not there, how many kernels are right.
compare() {
	"$PROTON" export -f json p.hatchet | python3 -c '
import json, sys
p, said = json.load(sys.stdin), json.load(open("out"))
name = {n["id"]: n for n in p["nodes"]}
def path(n):
    return path(name[n["parent"]]) + [n["name"]] if n["parent"] in name else []
got = {}
for n in p["nodes"]:
    if n["kind"] == "kernel" and n["name"] != "warm":
        key = "\n".join(path(n))
        got[key] = got.get(key, 0) + n["metrics"]["count"]
odd = [k for k in set(got) | set(said) if got.get(k) != said.get(k)]
for k in sorted(odd)[:3]:
    print("%s: %s, expected %s" % (k.split("\n"), got.get(k), said.get(k)))
print(len(odd), "odd;", sum(got.values()) == sum(said.values()) and len(said) > 100)'
}

n=0
while read -r python; do
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	case $version in
	3.7|3.8|3.9|3.10|3.11|3.12|3.13|3.14|3.15) ;;
	*) continue ;;
	esac
	n=$((n + 1))
	for how in released held; do
		timeout 120 "$PROTON" record -q --context python -o p.hatchet -- "$python" "$app" "$cuda" $how >out 2>err
		check "$version, lock $how: status" 0 $?
		check "$version, lock $how: paths" "0 odd; True" "$(compare)"
	done
done < <(pythons)
echo "$n interpreters"
[ $n -gt 0 ] || { echo "skipped: no interpreter of a version that is known"; exit 77; }

timeout 120 "$PROTON" record -q --context scopes -o s.hatchet -- python3 "$app" "$cuda" released >out 2>err
check "--context scopes: no frames" 0 "$("$PROTON" export -f json s.hatchet | grep -c '"kind":"python"')"

# deeper than what is kept
cat >deep.py <<'END'
import ctypes, sys
cuda = ctypes.CDLL(sys.argv[1])
cuda.cuInit(0)
keep = ctypes.CDLL(None).strdup
keep.restype = ctypes.c_void_p
k = ctypes.c_void_p(keep(b"k"))
for _ in range(2000):
    cuda.cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, None, None, None)
def fall(n):
    return fall(n - 1) if n else cuda.cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, None, None, None)
fall(700)
END
timeout 60 "$PROTON" record -q --context python -o d.hatchet -- python3 deep.py "$cuda" 2>err
check "a deep stack: status" 0 $?
check "a deep stack: counted" "2001 1" "$("$PROTON" export -f json d.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(sum(n["metrics"]["count"] for n in p["nodes"] if n["kind"] == "kernel"), p["losses"]["contexts_cut"])')"

"$PROTON" record --context nonsense -o x.hatchet true 2>err
check "no such context" 2 $?

# What looks whether programs behave as without us (CONTRIBUTING.md) does not run what is not there.
check "harmless: no such test" "harmless: test_nonsense: 'python3' has no module test.test_nonsense" \
	"$(python3 "$here/../scripts/harmless.py" "$(dirname "$PROTON")" --python python3 test_nonsense 2>&1)"
mkdir -p shadow/test
python3 -c 'import test; print("__path__.append(%r)" % test.__path__[0])' >shadow/test/__init__.py
echo 'import nothing' >shadow/test/test_broken.py
PYTHONPATH=$PWD/shadow python3 "$here/../scripts/harmless.py" "$(dirname "$PROTON")" --python python3 --rounds 1 \
	test_broken >out 2>&1
check "harmless: a test that does not run: status" 1 $?
check "harmless: a test that does not run" "test_broken: nothing of it ran; --keep FOLDER has what it says" \
	"$(grep broken out)"
finish

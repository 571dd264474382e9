#!/bin/bash
# SPDX-License-Identifier: MIT
# Scripts for Triton's Proton under record. First the way in: a module of Triton's in each interpreter that is
# here is answered by us, however that is started, and Triton's own is loaded where we cannot answer. Then
# Triton's own Python layer on it, unchanged: PROTON_TRITON_DIR may name the folder that holds it.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/mock_python.sh"
. "$here/tools/inside_help.sh"
app=$here/programs/triton_script.py

# ---- the way in: what is not Triton's has its module in a file, too
mkdir -p theirs/triton/_C
touch theirs/triton/__init__.py theirs/triton/_C/__init__.py
echo 'proton = "their own"' >theirs/triton/_C/libproton.py
cat >way.py <<'END'
import sys
sys.path.insert(0, "theirs")
from triton._C.libproton import proton as p
import triton._C.libproton
assert triton._C.libproton.proton is p
if p == "their own":
    print(p, triton._C.libproton.__file__)
    sys.exit()
s = p.start("way", "shadow", "tree", "cupti")
i = p.record_scope()
p.enter_scope(i, "here")
p.add_metrics(i, {"a": 1})
p.exit_scope(i, "here")
p.finalize(s, "")
try:
    p.nothing
except AttributeError as error:
    print(error)
print("ours")
END
n=0
while read -r python; do
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	case $version in
	3.7|3.8|3.9|3.10|3.11|3.12|3.13|3.14|3.15) ;;
	*) continue ;;
	esac
	n=$((n + 1))
	for options in '' -ISE '-X importtime'; do
		rm -f way.hatchet
		timeout 120 "$PROTON" record -q -o p.hatchet -- "$python" $options way.py >out 2>err
		check "$version $options: status" 0 $?
		check "$version $options: ours" ours "$(tail -n 1 out)"
		check "$version $options: a metric of its scope" 1 "$(metric way.hatchet here a)"
	done
done < <(pythons)
echo "$n interpreters"
[ $n -gt 0 ] || { echo "skipped: no interpreter of a version that is known"; exit 77; }
has "what is not known is said" "triton._C.libproton.proton.nothing is not known to proton" out

cat >import_module.py <<'END'
import importlib, sys
sys.path.insert(0, "theirs")
print(importlib.import_module("triton._C.libproton").proton.__name__)
END
timeout 120 "$PROTON" record -q -o p.hatchet -- python3 import_module.py >out 2>err
check "by importlib" triton._C.libproton.proton "$(cat out)"
python3 -m venv --without-pip venv && ln venv/bin/python3 venv/bin/other 2>/dev/null || cp venv/bin/python3 venv/bin/other
timeout 120 "$PROTON" record -q -o p.hatchet -- venv/bin/other way.py >out 2>err
check "a virtual environment, under another name" ours "$(tail -n 1 out)"
timeout 120 "$PROTON" record -q -o p.hatchet -- sh -c 'env -i PATH="$PATH" LD_PRELOAD="$LD_PRELOAD" PROTON_SESSION="$PROTON_SESSION" python3 way.py' >out 2>err
check "an environment with nothing else" ours "$(tail -n 1 out)"

# ---- theirs, where ours cannot be
timeout 120 "$PROTON" record -q --no-preload -o p.hatchet -- python3 way.py >out 2>err
has "--no-preload" "their own" out
mkdir -p moved/.libs moved/python/proton
cp "$(dirname "$PROTON")/.libs/libproton.so" moved/.libs
echo 'raise ImportError("it is broken")' >moved/python/proton/triton_seam.py
PROTON_LIBRARY_PATH=$PWD/moved/.libs/libproton.so timeout 120 "$PROTON" record -q -o p.hatchet -- python3 way.py >out 2>err
check "with broken Python files: status" 0 $?
has "with broken Python files" "their own" out
has "and a note says so" "scripts for Triton's Proton do not reach proton: ImportError: it is broken" <(notes p.hatchet)
timeout 120 "$PROTON" record -q --no-follow -o p.hatchet -- sh -c 'python3 way.py; true' >out 2>err
has "a process that is not looked at" "their own" out
rm theirs/triton/_C/libproton.py
timeout 120 "$PROTON" record -q --no-follow -o p.hatchet -- sh -c 'python3 way.py; true' >out 2>err
has "and there is none" "ModuleNotFoundError: No module named 'triton._C.libproton'" err
check "without proton" 1 "$(python3 way.py 2>/dev/null; echo $?)"
cat >none.py <<'END'
import sys
print(len(sys.builtin_module_names), [m for m in sys.modules if "proton" in m], sys.meta_path, sys.path_hooks)
END
python3 none.py >wanted
timeout 120 "$PROTON" record -q -o p.hatchet -- python3 none.py >out 2>err
check "a program without Triton sees nothing" "$(sed 's/0x[0-9a-f]*/_/g' wanted)" "$(sed 's/0x[0-9a-f]*/_/g' out)"

# ---- Triton's words for a run
cat >script.py <<'END'
import os, sys
print(sys.argv, __name__, os.path.basename(sys.path[0]), [m for m in ("data", "context", "flags") if m in sys.modules])
import proton
print(proton.start("other"), proton.deactivate(0), proton.activate(0))
with proton.scope("outer", {"given": 2}):
    pass
proton.finalize()
with proton.scope("after", {"given": 3}):
    pass
exec(sys.argv[1])
END
python3 -m venv --without-pip --system-site-packages venv2
command() { (export PYTHONPATH=$here/../python; timeout 240 "$PROTON" "$@") >out 2>err; }
command -n name script.py 'print("end")' more
check "a script: status" 0 $?
check "its world" "['script.py', 'print(\"end\")', 'more'] __main__ ${work##*/} []|None None None|end|" "$(tr '\n' '|' <out)"
check "its session" 2,3 "$(metric name.hatchet outer given),$(metric name.hatchet after given)"
check "no other files" name.hatchet "$(ls -- *name* *other* proton* 2>/dev/null)"
check "and no words of ours" "" "$(cat err)"
for end in 'sys.exit(3):3' 'sys.exit("no"):1' '1/0:1' 'raise KeyboardInterrupt:1' 'os._exit(4):4' 'sys.exit():0'; do
	rm -f proton.hatchet
	command script.py "${end%:*}"
	check "${end%:*}: status" "${end##*:}" $?
	check "${end%:*}: its profile" 2 "$(metric proton.hatchet outer given)"
done
command script.py 1/0
has "a traceback as without us" '  File "script.py", line 10, in <module>' err
check "and nothing of ours in it" 0 "$(grep -c triton_command err)"
command script script.py ''
check "by the command's name" 0 $?
for backend in cupti roctracer rocprofiler; do
	rm -f proton.hatchet
	command -b $backend script.py ''
	check "backend $backend: status" 0 $?
	check "backend $backend: its profile" 2 "$(metric proton.hatchet outer given)"
done
rm -f proton.hatchet
(unset PYTHONPATH; timeout 240 "$PROTON" script.py '') >out 2>err
check "the package is not installed: status" 0 $?
check "the package is not installed: its profile" 2 "$(metric proton.hatchet outer given)"
# The interpreter names our folder without symbolic links, which an installation may be reached by.
mkdir -p linked/lib
ln -s "$(realpath "$here/../python")" linked/python
cp -L "$(dirname "$PROTON")/.libs/libproton.so.0" linked/lib/
cat >shadowed.py <<'END'
import cProfile, profile, sys
print(hasattr(profile, "Profile"), [m for m in sys.path if m.endswith("python/proton")])
import proton
with proton.scope("outer", {"given": 2}):
    pass
END
(unset PYTHONPATH; PROTON_LIBRARY_PATH=$PWD/linked/lib/libproton.so.0 timeout 240 "$PROTON" -n linked-run shadowed.py) >out 2>err
check "reached by a symbolic link: status" 0 $?
check "reached by a symbolic link: the standard library's profile" "True []" "$(cat out)"
check "reached by a symbolic link: its profile" 2 "$(metric linked-run.hatchet outer given)"
echo kept >proton.hatchet
for words in '-c nonsense' '-k bad' '-m nonsense' '-b nonsense' '-d nonsense' '-m periodic_flushing:format=none' \
	'-m pcsamples' '-d trace -m periodic_flushing:format=hatchet' '-n -'; do
	command $words script.py 'print("started")'
	check "a wrong word, $words: status" 2 $?
	check "a wrong word, $words: nothing is started, what was is kept" ",kept," "$(cat out),$(cat proton.hatchet),$(ls -- -.* 2>/dev/null)"
done
has "by its value" "option '-n' cannot take '-'" err
rm proton.hatchet
command -m pcsampling:interval=1000 script.py ''
check "samples: status" 0 $?
(PYTHONPATH=$PWD/instrument timeout 240 "$PROTON" -b instrumentation -n in -m default script.py) >out 2>err
check "backend instrumentation without Triton: status" 1 $?
has "and why" "backend 'instrumentation' is Triton's" err
mkdir -p instrument/triton/profiler
touch instrument/triton/__init__.py instrument/triton/profiler/__init__.py
mkdir -p instrument/triton/_C
touch instrument/triton/_C/__init__.py
cat >instrument/triton/profiler/hooks.py <<'END'
class InstrumentationHook:
    def __init__(self, mode):
        self.mode = mode

class HookManager:
    def register(hook, session):
        print("register", hook.mode, session)

    def unregister(session=None):
        print("unregister", session)
END
inside=$here/programs/kernel_scopes.py
(PYTHONPATH=$PWD/instrument timeout 240 "$PROTON" -b instrumentation -n in -m mma:buffer_type=global "$inside" "$cuda" inside) >out 2>err
check "backend instrumentation: status" 0 $?
check "backend instrumentation: Triton's layer" "register mma:buffer_type=global N|unregister N|" "$(sed 's/[0-9][0-9]*$/N/' out | tr '\n' '|')"
check "backend instrumentation: scopes and kernels" "400 100 1" "$(metric in.hatchet whole cycles) $(metric in.hatchet whole cycles_max) $(metric in.hatchet add count | head -n 1)"
rm -f in.hatchet
(PYTHONPATH=$PWD/instrument timeout 240 "$PROTON" -b instrumentation -n in -m mma:sampling_strategy=selective:sampling_options=0-2,5 "$inside" "$cuda" inside) >out 2>err
check "backend instrumentation, a range of warps: Triton's layer has each of them" "register mma:sampling_strategy=selective:sampling_options=0,1,2,5" \
	"$(grep -o '^register [^ ]*' out)"
rm -f in.hatchet
(PYTHONPATH=$PWD/instrument timeout 240 "$PROTON" -b instrumentation -n in -d trace "$inside" "$cuda" inside) >out 2>err
check "backend instrumentation, a trace: status" 0 $?
check "backend instrumentation, a trace: scopes one by one, and no other file" "12 ROOT/add in.chrome_trace" \
	"$(python3 -c 'import json; e = json.load(open("in.chrome_trace"))["traceEvents"]; print(len(e), *{"/".join(x["args"]["call_stack"]) for x in e})') $(ls in.*)"
echo kept >in.hatchet
(PYTHONPATH=$PWD/instrument timeout 240 "$PROTON" -b instrumentation -n in -m mma:buffer_type=none "$inside" "$cuda" inside) >out 2>err
check "backend instrumentation, a wrong word: status" 2 $?
check "backend instrumentation, a wrong word: nothing is started" "" "$(cat out)"
has "backend instrumentation, a wrong word" "proton: Unknown buffer_type: none" err
command -n x
check "no script" 2 $?
echo kept >proton.hatchet
command nothing.py
check "a script that is not there" 2 $?
check "a script that is not there: what was is kept" kept "$(cat proton.hatchet)"
has "by its name" "cannot open 'nothing.py'" err
(export VIRTUAL_ENV=$PWD/venv2; command -v script.py 'print(sys.prefix)')
has "the active environment's interpreter" "program '$PWD/venv2/bin/python3'" err
{ echo "#!$PWD/venv2/bin/python3"; cat script.py; } >bang.py
(unset VIRTUAL_ENV CONDA_PREFIX; command -v bang.py '')
has "the script's own" "program '$PWD/venv2/bin/python3'" err
(export PROTON_PYTHON=$PWD/venv/bin/python3; command -v bang.py '')
has "the one that is named" "program '$PWD/venv/bin/python3'" err

if python3 -c 'import pytest' 2>/dev/null; then
	cat >test_it.py <<'END'
import proton

def test_good():
    with proton.scope("outer", {"given": 2}):
        pass

def test_bad():
    assert not proton.start("other")
    assert 0
END
	command -n tests pytest -q -p no:cacheprovider test_it.py
	check "pytest: status" 1 $?
	has "pytest: what it says" "1 failed, 1 passed" out
	check "pytest: its profile" 2 "$(metric tests.hatchet outer given)"
	command pytest -q -p no:cacheprovider -k good test_it.py
	check "pytest with options of its own: status" 0 $?
else
	echo "skipped: python3 has no pytest"
fi

# ---- Triton's layer
export PYTHONPATH=${PROTON_TRITON_DIR:-}${PYTHONPATH:+:$PYTHONPATH}
python=${PROTON_TRITON_PYTHON:-python3}
if ! "$python" -c 'import triton.profiler' 2>err; then
	echo "skipped: there is no Triton (PROTON_TRITON_DIR may name one)"
	[ "$n_failed" = 0 ] && exit 77
	finish
fi
# Paths, executions and what the script gave, of a profile.
tree() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p, path, out = json.load(sys.stdin), {}, []
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    given = {k: v for k, v in n["metrics"].items() if k in sys.argv[1:] or k == "count"}
    if given:
        out += [path[n["id"]] + "".join(" %s=%g" % (k, given[k]) for k in sorted(given))]
print(*sorted(out), sep=", ")' "${@:2}"
}
record() { timeout 240 "$PROTON" record -q --context scopes -o run.hatchet -- "$python" "$app" "$cuda" "$@" >out 2>err; }

record sessions
check "sessions" "0 1 1|Session has not been initialized: 0|backend 'nonsense' is not one of proton's (cupti, cupti_pcsampling, rocprofiler, roctracer)|" "$(tr '\n' '|' <out)"
check "one of them" "mul count=2, outer count me=2 flops=8, outer/add count=1, outer/inner/add count=2" "$(tree a.hatchet_msgpack flops "count me")"
check "another" "mul count=2" "$(tree b.hatchet)"
check "the run has all" "mul count=3, outer/add count=1, outer/inner/add count=2" "$(tree run.hatchet)"

record scopes
check "scopes" "depth 2|TypeError|depth 0 1|" "$(tr '\n' '|' <out)"
check "metrics come late, too" "decorated three[0] (%)=1, decorated/add count=1, outer given=1 late=4, outer/inner big (ns)=1.18059e+21 late=2.5 less=-3, outer/inner/add count=1, timed/add count=1, warm/mul count=1" \
	"$(tree s.hatchet given late less "big (ns)" "three[0] (%)")"
check "time on the CPU" yes "$([ "$(metric s.hatchet timed 'cpu_time (ns)' | cut -d. -f1)" -gt 0 ] && echo yes)"

# Its own collector is loaded for GPUs of AMD, and wants a libcuda: the mock is one.
LD_LIBRARY_PATH=$libs record inside
check "instrumentation: status" 0 $?
check "instrumentation: sessions" "two True|depth 1 1|Session has not been initialized|" "$(tr '\n' '|' <out)"
check "instrumentation: ours" "outer given=2, outer/state/add count=1" "$(tree ours.hatchet given)"
check "instrumentation: theirs" theirs.chrome_trace "$(ls theirs.*)"
has "instrumentation: a note" "are left to Triton's own collector" <(notes run.hatchet)

# Where all of Triton is installed, with its compilers.
if "$python" -c '
import sys, triton
from triton.backends import backends
sys.exit(tuple(map(int, triton.__version__.split(".")[:2])) < (3, 6) or "nvidia" not in backends)' 2>/dev/null; then
	TRITON_CACHE_DIR=$PWD/cache record compiled
	check "compiled by Triton: status" 0 $?
	check "compiled by Triton: its scopes, below its kernel, and no copies" "outer/copy count=3, outer/copy/whole cycles=2400, outer/copy/whole/load cycles=720" "$(tree t.hatchet cycles)"
	check "compiled by Triton: none is lost" "" "$(losses run.hatchet)"
fi

# As torchrun starts its workers: by fork and exec, each with its rank.
cat >agent.py <<'END'
import os, sys
failed = 0
for rank in range(2):
    pid = os.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-u"] + sys.argv[1:],
                  dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2"))
    failed |= os.waitpid(pid, 0)[1]
sys.exit(failed != 0)
END
timeout 240 "$PROTON" record -q --context scopes -o run.hatchet -- "$python" agent.py "$app" "$cuda" worker >out 2>err
check "workers: status" 0 $?
check "workers: each has its sessions" "0|0|" "$(tr '\n' '|' <out)"
check "workers: and its file" "rank 0/add count=1; rank 1/add count=2" "$(tree rank0.hatchet); $(tree rank1.hatchet)"
check "workers: the run has all, by rank" "[0, 1] rank 0/add count=1, rank 1/add count=2" \
	"$("$PROTON" export -f json run.hatchet | python3 -c 'import json, sys; print(sorted(p["rank"] for p in json.load(sys.stdin)["processes"] if p["rank"] >= 0))') $(tree run.hatchet)"

record tensors
check "tensors: status" 0 $?
check "tensors: values at the launch, the scope and each run of a graph, copies beside them" \
	"__proton_launch_metadata/memcpy DtoH pageable count=2, matmul 64 count=1 flops=8 given=1 three[0]=1 three[1]=2 three[2]=3, scope/__proton_launch_metadata/memcpy DtoH pageable count=1, scope/state loss=0.5, scope/state/<captured_at>/scope/__proton_launch_metadata/<metric> count=3, scope/state/<captured_at>/scope/state computed=4.5, scope/state/add count=1" \
	"$(tree t.hatchet flops given 'three[0]' 'three[1]' 'three[2]' loss computed)"
check "tensors: a list" "[1, 2, 3]" "$(python3 -c 'import json; print(*[c["metrics"]["three"] for c in json.load(open("t.hatchet"))[0]["children"] if "three" in c["metrics"]])')"

record trace
events=$(python3 -c 'import json; print(*[(e["ph"], e["args"].get("call_stack")) for e in json.load(open("t.chrome_trace"))["traceEvents"]], sep="|")')
if "$python" -c 'import sys, triton; sys.exit(triton.__version__ >= "3.8")'; then
	check "a trace of a release without names in it" "('X', ['ROOT', 'init', 'ones'])|('X', ['ROOT', 'init', 'ones'])|('X', ['ROOT', 'test', 'foo'])" "$events"
else
	has "a trace of a release with names in it" "('M', None)" <(echo "$events")
fi
check "and it is read" "init/ones count=2, test/foo count=1" "$(tree t.chrome_trace)"

record odd
check "what is wrong" "Metric value type mismatch for valueId 0 (a): current=double, new=uint64_t|depth 2|depth 0|" "$(tr '\n' '|' <out)"
check "a state is a frame of what is given in it" "bad a=1, outer/inner/state a=2, outer/inner/state/add count=1" "$(tree o.hatchet a)"
check "a text is a property" sgd "$("$PROTON" export -f json o.hatchet | python3 -c 'import json, sys; print(*[n["metrics"]["kind"] for n in json.load(sys.stdin)["nodes"] if "kind" in n["metrics"]])')"
check "a scope that is not left ends with the sessions" "mul count=1, outer/inner/state/add count=1" "$(tree run.hatchet)"

record hook
check "hook: status" 0 $?
check "launch metadata" "on count=1, step/__proton_launch_metadata/helper count=3, step/_plain count=1, step/matmul 64 bytes=96 count=3 flops16=192" \
	"$(tree h.hatchet flops16 bytes)"
check "is not shown" "" "$("$PROTON" report h.hatchet | grep helper)"

hooked() { timeout 240 "$PROTON" record -q "${@:2}" -o run.hatchet -- "$python" "$here/programs/triton_hook.py" "$cuda" $1 >out 2>err; }
hooked ''
check "launch_metadata without a profiler: status" 0 $?
check "a hook from the first kernel on that has it" "hooks 0|hooks 1|" "$(head -n 2 out | tr '\n' '|')"
check "Triton's module is its own" "SourceFileLoader JITFunction" "$(tail -n 1 out | cut -d' ' -f2-)"
check "its launches are named" "192 96 3" "$(metric run.hatchet 'matmul 64' flops16 | cut -d. -f1) $(metric run.hatchet 'matmul 64' bytes) $(metric run.hatchet 'matmul 64' count)"
check "others are not" 1,3 "$(metric run.hatchet plain count),$(metric run.hatchet helper count)"
hooked '' --context scopes
check "not where contexts were asked for" "hooks 0|hooks 0|" "$(head -n 2 out | tr '\n' '|')"
hooked profiler
check "nor for a program that uses Triton's Proton" 3 "$(metric run.hatchet matmul count)"

cat >one.py <<'END'
import triton.profiler as proton
print(proton.start("other", backend="cupti"), proton.deactivate(0), proton.activate(0))
try:
    proton.deactivate(1)
except ValueError as error:
    print(error)
with proton.scope("outer", {"given": 2}):
    pass
proton.finalize()
END
for how in '' '-k triton' '-m pcsampling'; do
	(export PROTON_PYTHON=$python; timeout 240 "$PROTON" -n one $how one.py) >out 2>err
	check "proton $how one.py: status" 0 $?
	check "proton $how one.py: one session" "None None None|Only one session can be deactivated when running from the command line.|" "$(tr '\n' '|' <out)"
	check "proton $how one.py: its profile" 2 "$(metric one.hatchet outer given)"
done
timeout 240 "$PROTON" record -q -o run.hatchet -- "$python" -m triton.profiler.proton -n theirs -b cupti one.py >out 2>err
check "Triton's command: status" 0 $?
check "Triton's command: its profile" 2,2 "$(metric theirs.hatchet outer given),$(metric run.hatchet outer given)"

record profile
check "the decorator" "['f.hatchet']" "$(cat out)"
check "has what ran within" "add count=2" "$(tree f.hatchet)"
check "without proton it is Triton's own" 1 "$("$python" "$app" "$cuda" sessions >/dev/null 2>&1; echo $?)"
finish

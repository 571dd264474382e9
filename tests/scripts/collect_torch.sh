#!/bin/bash
# SPDX-License-Identifier: MIT
# record --context torch: a training step of PyTorch reads as module, operator, kernel. With each interpreter
# here that has PyTorch: python3, the system's, and those in PROTON_TEST_PYTHONS.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/mock_python.sh"
app=$here/programs/torch_contexts.py
[ "$(uname -m)" = x86_64 ] || { echo "skipped: operators of PyTorch are seen on x86-64 only"; exit 77; }
steps=20
pythons() {
	local p
	for p in python3 /usr/bin/python3 ${PROTON_TEST_PYTHONS:-}; do
		"$p" -c 'import sys, torch; print(sys.executable)' 2>/dev/null
	done | sort -u
}
run() { # run PYTHON LIST [OPTION...]: into p.hatchet
	timeout 300 "$PROTON" record -q --context "$2" -o p.hatchet "${@:3}" -- \
		"$1" "$app" "$libs/libcuda.so.1" "$libs/torch_launch.so" $steps >out 2>err
}
cat >look.py <<'END'
import collections, json, sys
p, steps = json.load(sys.stdin), int(sys.argv[1])
name = {n["id"]: n for n in p["nodes"]}
def above(n):
    while n["parent"] in name:
        n = name[n["parent"]]
        yield n
calls = lambda n: n["metrics"].get("count", 0)
kernels = [n for n in p["nodes"] if n["kind"] == "kernel"]
below, wrong, lines = collections.Counter(), 0, 0
for k in kernels:
    up = list(above(k))
    lines += any(n["kind"] == "python" for n in up) and k["name"] != "own"
    if k["name"].startswith("k_"):
        wrong += not (up[0]["kind"] == "operator" and up[0]["name"] == k["name"][2:])
    for n in up:
        if n["kind"] in ("module", "operator"):
            below[n["name"]] += calls(k)
    path = [n["name"] for n in up if n["kind"] == "module"]
    ops = [n["name"] for n in up if n["kind"] == "operator"]
    if ops and ops[-1] == "AddmmBackward0" and path:
        below["backward of " + path[0]] += calls(k)
linear = ["layers.%d.%s" % (i, m) for i in (0, 1) for m in ("attention.qkv", "attention.out", "mlp.0", "mlp.2")]
print("kernels", sum(calls(k) for k in kernels))
print("not below their operators", wrong)
# The first operator may come before names are known.
alike = [(below["layers.0." + m], below["layers.1." + m]) for m in ("attention.out", "mlp.0", "mlp.2")]
print("modules alike", all(a == b > 20 * steps for a, b in alike))
back = [below["backward of " + l] for l in linear[1:] + ["head"]]
print("backward below its modules", min(back) == max(back) >= 3 * steps)
print("of AddmmBackward0 elsewhere", below["AddmmBackward0"] - sum(below["backward of " + l] for l in linear + ["head"])
      > 20)
print("optimizer", below["Optimizer.step#SGD.step"] >= 18 * steps)
print("lines", lines > 0)
END
look() { "$PROTON" export -f json p.hatchet | python3 look.py $steps; }
losses() {
	"$PROTON" export -f json p.hatchet | python3 -c '
import json, sys
print({k: v for k, v in json.load(sys.stdin)["losses"].items() if v and k not in ("pipe_full", "wire_gaps")})'
}
right() { # right KERNELS LINES
	printf '%s\n' "kernels $1" "not below their operators 0" "modules alike True" \
		"backward below its modules True" "of AddmmBackward0 elsewhere False" "optimizer True" "lines $2"
}

# What the programs below begin with: PROGRAM LIBCUDA TORCH_LAUNCH.
cat >mocked.py <<'END'
import ctypes, sys
driver = ctypes.CDLL(sys.argv[1])
driver.cuInit(0)
name = ctypes.create_string_buffer(b"own")
def launch(times):
    for _ in range(times):
        driver.cuLaunchKernel(name, 1, 1, 1, 1, 1, 1, 0, None, None, None)
# From now on each operator of PyTorch launches.
def begin():
    if ctypes.CDLL(sys.argv[2]).torch_launch_begin(sys.argv[1].encode()) < 0:
        sys.exit("no launches")
END
start_program() { # start_program OPTION...: of PYTHON PROGRAM ARGUMENT... in `program`
	timeout 300 "$PROTON" record -o p.hatchet "$@" -- "${program[@]:0:2}" "$libs/libcuda.so.1" \
		"$libs/torch_launch.so" "${program[@]:2}" >out 2>err
}

# Ranges of the program's that count up.
cat >ranges.py <<'END'
import sys, torch, mocked
mocked.launch(2000)
mocked.begin()
x = torch.zeros(2)
for i in range(int(sys.argv[3])):
    with torch.profiler.record_function("iter %d" % i):
        x.neg()
END
cat >rows.py <<'END'
import json, sys
p = json.load(sys.stdin)
rows = [n for n in p["nodes"] if n["name"].startswith("iter ")]
kernels = [n for n in p["nodes"] if n["name"] == "k_aten::neg"]
print("rows", len(rows), "kernels", sum(n["metrics"].get("count", 0) for n in kernels),
      "folded", sum(n["metrics"].get("folded", 0) for n in rows))
END
ranges() { # ranges PYTHON N LIST [OPTION...]
	program=("$1" ranges.py "$2")
	start_program -q --context "$3" "${@:4}"
	"$PROTON" export -f json p.hatchet | python3 rows.py
}

# PyTorch is imported when the driver is there already, and after N launches; then 300 of its operators launch.
cat >late.py <<'END'
import sys, mocked
mocked.launch(int(sys.argv[3]))
import torch
mocked.begin()
layer = torch.nn.Linear(8, 8)
x = torch.zeros(2, 8)
for _ in range(300):
    layer(x)
END
late() { # late PYTHON N: are most of them below their operators?
	program=("$1" late.py "$2")
	start_program -q --context torch
	"$PROTON" export -f json p.hatchet | python3 -c '
import json, sys
nodes = json.load(sys.stdin)["nodes"]
kind = {n["id"]: n["kind"] for n in nodes}
n = sum(n["metrics"].get("count", 0) for n in nodes if n["name"] == "k_aten::addmm" and kind[n["parent"]] == "operator")
print("most" if n > 250 else n)'
}

# Operators whose inputs have shapes that are known, of all kinds.
cat >shapes.py <<'END'
import torch, mocked
mocked.launch(2000)
layer = torch.nn.Linear(64, 128)
x, seven, sparse = torch.zeros(4, 64), torch.zeros(1, 2, 3, 4, 5, 6, 7), torch.eye(3).to_sparse()
many = [torch.zeros(i) for i in range(300)]
mocked.begin()
layer(x).sum().backward()
seven.neg()
torch.zeros(()).sin()
sparse.neg()
torch.where(x > 0, x, x)
torch.cat([x, x])
for t in many:
    t.cos()
END
shapes() { # shapes PYTHON [OPTION...]: operators with what is behind their names
	program=("$1" shapes.py)
	start_program --context torch "${@:2}"
	"$PROTON" export -f json p.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
kind = {n["id"]: n["kind"] for n in p["nodes"]}
names = {n["name"] for n in p["nodes"] if n["kind"] == "operator"}
for op in "addmm neg sin where cat".split():
    print(*sorted(x[6:] for x in names if x.split()[0] == "aten::" + op), sep="; ")
cos = [n["name"] for n in p["nodes"] if n["kind"] == "operator" and n["name"].startswith("aten::cos")]
print(len(cos), "aten::cos [[#]]" in cos)
print(sum(n["metrics"].get("count", 0) for n in p["nodes"] if n["kind"] == "kernel"))' | paste -sd '|'
}

# A product that torch.compile compiles, forward and back: code is generated for it, which calls PyTorch's operator.
cat >compiled.py <<'END'
import sys, torch, mocked
mocked.launch(2000)
class Product(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(64, 64))
    def forward(self, x):
        return x @ self.weight
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.product = Product()
    def forward(self, x):
        return self.product(x)
net, x = Net(), torch.ones(64, 64)
net.product = torch.compile(net.product)
for _ in range(2):
    net(x).backward(x)
mocked.begin()
for _ in range(200):
    net(x).backward(x)
END
# compiled PYTHON LIST: what stands above the most launches of the operator, from the region on; forward and back
compiled() {
	program=("$1" compiled.py)
	TORCHINDUCTOR_CACHE_DIR=$PWD/inductor start_program -q --context "$2"
	"$PROTON" export -f json p.hatchet | python3 -c '
import collections, json, sys
nodes = {n["id"]: n for n in json.load(sys.stdin)["nodes"]}
above = collections.Counter()
for n in nodes.values():
    if n["name"] != "k_aten::mm":
        continue
    up, at = [], nodes[n["parent"]]
    while at["parent"] is not None:
        up.append(at)
        at = nodes[at["parent"]]
    kinds = ["region" if a["name"].startswith("Torch-Compiled Region") else
             "backward" if a["name"] == "CompiledFunctionBackward" else
             "nodes" if a["name"].endswith("aten.mm") and a["name"] == n["source_nodes"] else
             a["name"] if a["name"] == "aten::mm" else "" for a in up]
    above[" ".join(filter(None, reversed(kinds)))] += n["metrics"].get("count", 0)
print(*("%s %s" % (k, "most" if v > 150 else v) for k, v in sorted(above.items()) if v > 20), sep="|")'
}

# Small operators without a pause: to be told of each takes more than the budget. Children that are forked meanwhile
# go on as well.
cat >turns.py <<'END'
import os, sys, torch, mocked
torch.set_num_threads(1)
mocked.launch(2000)
mocked.begin()
class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
    def forward(self, x):
        return self.b(torch.relu(self.a(x)))
net, x = Two(), torch.zeros(2, 8)
def work(times):
    with torch.no_grad():
        for _ in range(times):
            net(x)
for i in range(10):
    work(int(sys.argv[3]) // 10)
    if i % 3 == 0:
        child = os.fork()
        if not child:
            work(20)
            os._exit(7)
        assert os.waitpid(child, 0)[1] == 7 << 8
END
# Who comes to another line between turns has a turn for that, and does not wait until enough is saved for the next.
cat >places.py <<'END'
import sys, time, torch, mocked
torch.set_num_threads(1)
mocked.launch(2000)
mocked.begin()
net, x = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8)), torch.zeros(2, 8)
def turns():
    return [l.split("turn ")[1].rstrip() for l in open(sys.argv[3]) if "torch2: turn " in l]
def work(call):
    with torch.no_grad():
        for _ in range(200):
            call()
end, calls, told = time.monotonic() + 100, [], False
while not told and time.monotonic() < end:
    calls.append(eval("\n" * len(calls) + "lambda: net(x)"))
    n = len(turns())
    while not turns()[n:] and time.monotonic() < end:
        work(calls[-1])
    while not turns()[-1:] or turns()[-1][0] != "1":
        work(calls[-1])
        if time.monotonic() > end:
            break
    told = any("new place" in t for t in turns())
print("told of a new place" if told else turns())
END
cat >turns_look.py <<'END'
import collections, json, sys
def paths(file):
    p = json.load(open(file))
    nodes = {n["id"]: n for n in p["nodes"]}
    got = collections.Counter()
    for n in nodes.values():
        at, path = n, []
        while at["parent"] in nodes:
            path.append(at["name"])
            at = nodes[at["parent"]]
        if n["metrics"].get("count"):
            got["/".join(path)] += n["metrics"]["count"]
    return got, sum(n["metrics"].get("guessed", 0) for n in nodes.values()), p["losses"]["dropped_records"]
(all, none, all_lost), (some, guessed, some_lost) = paths(sys.argv[1]), paths(sys.argv[2])
# 16 threads on a busy machine may launch faster than their buffers are emptied: what is lost is told, and is of no place.
lost = abs(all_lost - some_lost)
moved = (sum(abs(all[k] - some[k]) for k in set(all) | set(some)) - lost) / 2 / sum(all.values())
print("the same" if sum(all.values()) + all_lost == sum(some.values()) + some_lost else "other", "launches, none" if not none else "launches, some",
      "and some guessed," if guessed else "and none guessed,", "at their places" if moved < .1 else "%g moved" % moved)
END
# The same, 16 threads of it at once.
cat >threads.py <<'END'
import sys, threading, torch, mocked
torch.set_num_threads(1)
mocked.launch(2000)
mocked.begin()
net, x = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8)), torch.zeros(2, 8)
def work():
    with torch.no_grad():
        for _ in range(int(sys.argv[3]) // 16):
            net(x)
all = [threading.Thread(target=work) for _ in range(16)]
for t in all: t.start()
for t in all: t.join()
END
turns() { # turns PYTHON PROGRAM TIMES BUDGET: with a budget and without
	local way
	program=("$1" "$2" "$3")
	rm -f log
	for way in "torch --budget off" "auto --budget $4"; do
		PROTON_LOG=2:$PWD/log start_program -q --context $way || tail -3 err
		"$PROTON" export -f json p.hatchet >"${way%% *}.json"
	done
	python3 turns_look.py torch.json auto.json
}

# A program that profiles itself: its first session names no context, so that there is a budget, and the second does. By
# then PyTorch does not tell of operators; it does again, without a next turn, and nothing more is guessed.
cat >midway.py <<'END'
import ctypes, os, sys, time, torch, mocked
torch.set_num_threads(1)
lib = ctypes.CDLL(os.environ["PROTON_LIBRARY"])
class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(n, ctypes.c_char_p) for n in ("context", "data", "backend", "mode", "hook")]
def start(name, context):
    session = lib.proton_api_session_start(name, ctypes.byref(Options(ctypes.sizeof(Options), context)))
    assert session >= 0, session
    return session
net, x = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8)), torch.zeros(2, 8)
def work(scope, times):
    lib.proton_api_enter_scope(scope)
    with torch.no_grad():
        for _ in range(times):
            net(x)
    lib.proton_api_exit_scope()
def last_turn():
    turns = [l.split("turn ")[1][0] for l in open(sys.argv[3]) if "torch2: turn " in l]
    return turns[-1] if turns else ""
def work_until(scope, turn):
    end = time.monotonic() + 100
    while last_turn() != turn:
        if time.monotonic() > end:
            sys.exit("turn %s, not %s" % (last_turn(), turn))
        work(scope, 50)
first = start(b"first", None)
mocked.launch(2000)
mocked.begin()
work_until(b"limited", "1")
second = start(b"second", b"python")
work_until(b"between", "3")
work(b"named", 4000)
assert last_turn() == "3", last_turn()
for session in second, first:
    assert lib.proton_api_session_finalize(session, None) >= 0
END
cat >midway_look.py <<'END'
import json, sys
nodes = {n["id"]: n for n in json.load(sys.stdin)["nodes"]}
def above(n):
    while n["parent"] in nodes:
        n = nodes[n["parent"]]
        yield n
of = [(n, n["metrics"].get("count", 0), list(above(n))) for n in nodes.values() if n["name"].startswith("k_")]
wrong = sum(c for n, c, up in of if up[0]["kind"] == "operator" and up[0]["name"] != n["name"][2:])
of = [(n, c, up) for n, c, up in of if any(u["name"] == "named" for u in up)]
count = sum(c for n, c, up in of)
print("all kernels" if count and count % 4000 == 0 else "%d kernels" % count,
      "guessed", sum(n["metrics"].get("guessed", 0) for n, c, up in of),
      "elsewhere", sum(c for n, c, up in of if up[0]["name"] != n["name"][2:] or not any(u["kind"] == "module" for u in up)),
      "of another operator", wrong)
END
midway() { # midway PYTHON
	rm -f log first.hatchet
	: >log
	PROTON_LOG=2:$PWD/log PROTON_LIBRARY=$(dirname "$PROTON")/.libs/libproton.so.0 timeout 300 \
		"$1" midway.py "$libs/libcuda.so.1" "$libs/torch_launch.so" "$PWD/log" >out 2>err || tail -3 err
	"$PROTON" export -f json first.hatchet | python3 midway_look.py
}

n=0
while read -r python; do
	version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null)
	n=$((n + 1))
	run "$python" scopes
	check "$version: without contexts" 0 $?
	wanted=$("$PROTON" export -f json p.hatchet | python3 look.py $steps | sed -n 's/^kernels //p')
	run "$python" torch
	check "$version: status" 0 $?
	check "$version: module, operator, kernel" "$(right "$wanted" False)" "$(look)"
	check "$version: losses" "{}" "$(losses)"
	check "$version: nothing is said in the program" "" "$(grep -i proton err)"
	run "$python" python,torch
	check "$version: with lines of Python" "$(right "$wanted" True)" "$(look)"
	run "$python" auto --budget off
	check "$version: by itself" "$(right "$wanted" False)" "$(look)"
	run "$python" auto --budget 2%
	check "$version: all kernels within a budget" "$wanted" "$(look | sed -n 's/^kernels //p')"
	check "$version: imported after the driver's start" most "$(late "$python" 0)"
	check "$version: imported after the first launches" most "$(late "$python" 10)"
	check "$version: ranges that count up" "rows 17 kernels 2000 folded 1984" "$(ranges "$python" 2000 torch)"
	check "$version: … each with a row" "rows 2000 kernels 2000 folded 0" \
		"$(ranges "$python" 2000 torch --no-fold-numbers)"
	bare=$(shapes "$python")
	kernels=${bare##*|}
	check "$version: without --shapes" "addmm|neg|sin|where|cat|1 False|$kernels" "$bare"
	case $version in
	1.*|2.[0-2].*) # without functions for C that make a tensor
		check "$version: --shapes" "$bare" "$(shapes "$python" --shapes)"
		check "$version: --shapes: said" 1 "$(grep -c 'note: PyTorch: the shapes of inputs are not known' err)" ;;
	*)
		check "$version: --shapes" "addmm [[128],[4,64],[64,128]]|neg [?]; neg [[1,2,3,4,5,6,7]]|sin [[]]|$(
			)where [[4,64],[4,64],[4,64]]|cat|129 True|$kernels" "$(shapes "$python" --shapes)"
		check "$version: --shapes: nothing is said in the program" "" "$(grep -i proton out)" ;;
	esac
	check "$version: within a budget, without being told of each" \
		"the same launches, none and some guessed, at their places" "$(turns "$python" turns.py 20000 5%)"
	case $version in
	1.*|2.[0-2].*) check "$version: … told of each" 0 "$(grep -c 'torch2: turn' log)" ;;
	*)
		check "$version: … by turns" 1 "$(grep -c -m 1 'torch2: turn 1' log)"
		program=("$python" places.py "$PWD/places.log")
		PROTON_LOG=2:$PWD/places.log start_program -q --context auto
		check "$version: … soon at new places" "told of a new place" "$(tail -1 out)"
		check "$version: a budget that ends meanwhile" "all kernels guessed 0 elsewhere 0 of another operator 0" "$(midway "$python")" ;;
	esac
	case $("$python" -c 'import torch; print(".".join(torch.__version__.split(".")[:2]))') in
	2.[2-9] | 2.1[0-9])
		for list in auto torch; do
			check "$version: $list: compiled code says what it was made from" \
				"backward nodes aten::mm most|region nodes aten::mm most" "$(compiled "$python" $list)"
		done ;;
	esac
	# Where they wait for each other the budget may be enough for all.
	check "$version: of 16 threads, too" "the same launches, none at their places" \
		"$(turns "$python" threads.py 32000 5% | sed 's/ and [a-z]* guessed,//')"
	# Guessed ones are those that were read.
	check "$version: … within a budget" "kernels 2000" \
		"$(ranges "$python" 2000 auto --budget 1% | grep -o 'kernels [0-9]*')"
done < <(pythons)
echo "$n interpreters with PyTorch"
[ $n -gt 0 ] || { echo "skipped: no python3 here has PyTorch"; exit 77; }
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# What a CUDA graph runs stands below the modules of PyTorch that it was captured in, each kernel below its own: from
# the first capture on, after many launches, whatever the budget leaves. A capture is read once and runs again and again.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/mock_python.sh"
[ "$(uname -m)" = x86_64 ] || { echo "skipped: modules of PyTorch are seen on x86-64 only"; exit 77; }
for python in python3 /usr/bin/python3 none; do
	"$python" -c 'import torch' 2>/dev/null && break
done
[ $python != none ] || { echo "skipped: there is no PyTorch"; exit 77; }

# 40 modules launch a kernel each: WARM times, then while a stream is captured. That runs 100 times.
cat >modules.py <<'END_OF_PYTHON'
import ctypes, sys, threading, torch
cuda = ctypes.CDLL(sys.argv[1])
cuda.cuInit(0)
keep = ctypes.CDLL(None).strdup
keep.restype = ctypes.c_void_p
kernel = ctypes.c_void_p(keep(b"kernel"))
stream = ctypes.c_void_p(None)
def launch():
    cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, None)
class Layer(torch.nn.Module):
    def forward(self, x):
        launch()
        return x
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer() for _ in range(40)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
net, x, graph = Net(), torch.zeros(1), ctypes.c_void_p()
for _ in range(int(sys.argv[2])):
    net(x)
stream = ctypes.c_void_p(1) # it always captures
cuda.cuStreamBeginCapture_v2(stream, 0)
if sys.argv[3] == "thread": # as PyTorch's backward threads
    t = threading.Thread(target=net, args=(x,))
    t.start()
    t.join()
else:
    net(x)
cuda.cuStreamEndCapture(stream, ctypes.byref(graph))
cuda.mock_graph_instantiate()
for _ in range(100):
    cuda.mock_graph_launch()
END_OF_PYTHON
cat >look.py <<'END_OF_PYTHON'
import collections, json, sys
nodes = json.load(sys.stdin)["nodes"]
name = {n["id"]: n for n in nodes}
def above(n):
    while n["parent"] in name:
        n = name[n["parent"]]
        yield n
below, eager = collections.Counter(), 0
for n in nodes:
    runs = n["metrics"].get("count", 0)
    if n["kind"] != "kernel" or not runs:
        continue
    made_in = [a["name"] for a in above(n)]
    if "<captured_at>" not in made_in:
        eager += runs
        continue
    modules = [a["name"] for a in above(n) if a["kind"] == "module"]
    below[modules[0] if modules else "none"] += runs
    below["guessed"] += n["metrics"].get("guessed", 0)
own = [below.pop("layers.%d" % i, 0) for i in range(40)]
# Names are found once something has been launched in the outermost module: the first has but its class.
if "first" in sys.argv:
    below["named"] = sum(own) + below.pop("Layer", 0)
    own = "own"
print("eager", eager, "each", set(own) if own != "own" else own, *sorted("%s %d" % b for b in below.items() if b[1]))
END_OF_PYTHON
run() { # run WARM here|thread [first]: with the options in `options`
	timeout 300 "$PROTON" record -q "${options[@]}" -o p.hatchet -- "$python" modules.py "$cuda" "$1" "$2" >out 2>err
	check "${options[*]}, $1 before, $2: status" 0 $?
	"$PROTON" export -f json p.hatchet | python3 look.py "${@:3}" >looked
}
for list in auto torch; do
	options=(--context $list)
	[ $list = torch ] || options+=(--budget 0.01%)
	run 0 here first
	check "$list: each has a module in the first capture of a process" "eager 0 each own named 4000" "$(cat looked)"
	for how in here thread; do
		run 1 $how
		check "$list, $how: each is below its own module" "eager 40 each {100}" "$(cat looked)"
		run 300 $how
		check "$list, $how: … after many launches" "eager 12000 each {100}" "$(cat looked)"
		[ $list = torch ] ||
			has "$list, $how: what is captured is no launch that the budget bounds" \
				"of 16000 launches" <("$PROTON" report p.hatchet)
	done
done
finish

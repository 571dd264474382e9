#!/bin/bash
# SPDX-License-Identifier: MIT
# Kernels of torch.compile: below the line of the generated code that launches them, which is called what it was made
# from, as that says itself; captured in a graph, too; and as it is where the code does not say it, or is gone.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/mock_python.sh"

# A file like those of PyTorch's cache, in a folder of its own; what launches is ours.
cache=cache/nx
mkdir -p $cache
generated=$cache/cnxwxywdlitivdpzen5nj5z2n4miggflnzqcjcx7yervrrrbqczk.py
cat >$generated <<'END'
def call(args):
    run = args
    # Topologically Sorted Source Nodes: [norm, add], Original ATen: [aten.linalg_vector_norm, aten.add]
    # Source node to ATen node mapping:
    stream0 = 0
    run.run(b"triton_red_fused_add_norm_0")
    run.run(b"of_nobody")
    # Unsorted Source Nodes: [], Original ATen: [aten.sum]
    run.run(b"triton_per_fused_sum_1")
    return (run, )
END
cat >program.py <<'END'
import ctypes, importlib.util, os, sys

class Node(ctypes.Structure):
    _fields_ = [("graph", ctypes.c_size_t), ("executable", ctypes.c_size_t), ("node", ctypes.c_uint64),
                ("of", ctypes.c_uint64), ("type", ctypes.c_uint32)]

# The first fields of struct mock_op (tests/mocks/mock_cupti.h), and room for the rest.
class Op(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("n_records", ctypes.c_uint32), ("name", ctypes.c_char_p),
                ("bytes", ctypes.c_uint64), ("n_copies", ctypes.c_uint64), ("kinds", ctypes.c_uint8 * 5),
                ("is_async", ctypes.c_bool), ("channel", ctypes.c_uint32), ("device", ctypes.c_uint32),
                ("context", ctypes.c_uint32), ("stream", ctypes.c_uint32), ("graph", ctypes.c_uint32),
                ("start_ns", ctypes.c_uint64), ("end_ns", ctypes.c_uint64), ("lasts_ns", ctypes.c_uint64),
                ("result", ctypes.c_uint32), ("captured", ctypes.c_bool), ("graph_node", ctypes.c_uint64),
                ("rest", ctypes.c_uint64 * 40)]

KERNEL, LAUNCH, GRAPH_LAUNCH, CREATED, EXEC_CREATED, CLONED = 10, 307, 514, 13, 18, 20
ctypes.CDLL(sys.argv[1]).cuInit(0)
mock = ctypes.CDLL(os.environ["PROTON_CUPTI_PATH"])

def do(call, **fields):
    mock.mock_call(call, ctypes.byref(Op(kind=KERNEL, **fields)))

class Launch:
    def run(self, name):
        do(LAUNCH, name=name)

class Capture:
    def __init__(self):
        self.nodes = []
    def run(self, name):
        node = 1 << 32 | len(self.nodes) + 1
        do(LAUNCH, name=name, captured=True, graph=1, graph_node=node)
        self.nodes.append((node, name))
    def replay(self, times):
        made = []
        for node, name in self.nodes:
            to = Node(node=2 << 32 | node & 0xff, of=node)
            mock.mock_graph(CREATED, ctypes.byref(to))
            mock.mock_graph(CLONED, ctypes.byref(to))
            made.append((to.node, name))
        mock.mock_graph(EXEC_CREATED, ctypes.byref(Node(executable=2)))
        for _ in range(times):
            for node, name in made:
                do(GRAPH_LAUNCH, name=name, graph=2, graph_node=node)

def load(path):
    spec = importlib.util.spec_from_file_location("generated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

launch = Launch()
for _ in range(300):
    launch.run(b"own")
generated = load(os.path.abspath(sys.argv[2]))
if len(sys.argv) > 3: # what is put there before the first launch in it
    os.unlink(sys.argv[2])
    if sys.argv[3] == "fifo":
        os.mkfifo(sys.argv[2])
for _ in range(20):
    generated.call(launch)
graph = Capture()
generated.call(graph)
graph.replay(30)
END
launched() { # PROFILE: of each kernel how often it ran, and the line of generated code above it
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
nodes = {n["id"]: n for n in p["nodes"]}
for n in p["nodes"]:
    if n["kind"] != "kernel" or n["name"] == "own":
        continue
    up, at = [], nodes.get(n["parent"])
    while at and at["name"] != "ROOT":
        up.append(at)
        at = nodes.get(at["parent"])
    inside = "captured " if any(a["name"] == "<captured_at>" for a in up) else ""
    line = next(a["name"] for a in up if "/nx/cnx" in a.get("raw", a["name"]))
    print(inside + n["name"], n["metrics"].get("count", 0), "|", line.rsplit("/", 1)[-1])' | LC_ALL=C sort
}
record() { timeout 300 "$PROTON" record -q --context "$1" -o p.hatchet -- "$python" program.py "$cuda" "${@:2}" >out 2>err; }

known="captured of_nobody 30 | ${generated##*/}:7@call
captured triton_per_fused_sum_1 30 | aten.sum
captured triton_red_fused_add_norm_0 30 | [norm, add] aten.linalg_vector_norm, aten.add
of_nobody 20 | ${generated##*/}:7@call
triton_per_fused_sum_1 20 | aten.sum
triton_red_fused_add_norm_0 20 | [norm, add] aten.linalg_vector_norm, aten.add"
for python in $(pythons); do
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	for context in auto python; do
		record $context $generated
		check "$version, $context: status" 0 $?
		check "$version, $context: kernels stand below what they were made from" "$known" "$(launched p.hatchet)"
	done
done
"$PROTON" report p.hatchet >report
has "report: the tree" "[norm, add] aten.linalg_vector_norm, aten.add" report
"$PROTON" export -f json p.hatchet >json
has "json: where that is" '"line":6' json
has "json: the file" "nx/${generated##*/}\"" json
has "json: of a kernel" '"source_nodes":"[norm, add] aten.linalg_vector_norm, aten.add"' json
has "json: of a kernel of which it is not said" '"source_nodes":null' json
"$PROTON" export -f hatchet p.hatchet -o again.hatchet
check "hatchet: nothing is lost" "$known" "$(launched again.hatchet)"
has "hatchet: the line's own name is kept" ":6@call" again.hatchet

# ---- a file that is gone, or is none ----
cp $generated kept
unknown=$(echo "$known" | sed "s/| aten.sum/| ${generated##*/}:9@call/; s/| \[norm.*/| ${generated##*/}:6@call/")
for instead in gone fifo; do
	record python $generated $instead
	check "$instead: status" 0 $?
	check "$instead: lines keep their names" "$unknown" "$(launched p.hatchet)"
	rm -f $generated
	cp kept $generated
done
"$PROTON" export -f json p.hatchet >json
hasnt "json: nothing is said of any" '"source_nodes":"' json
finish

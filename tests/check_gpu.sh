#!/bin/bash
# SPDX-License-Identifier: MIT
# check_gpu.sh [BUILD]: on a machine with an NVIDIA GPU: real programs under `proton record`, and
# what they did against what was saved. Needs a build folder with `proton`, its library and what
# `make cuda-programs` builds, bash and python3; nothing of autotools.
#
# BUILD is the argument, the variable or the current folder. Without a GPU: exit status 77.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ ! -e /dev/nvidia0 ] && ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
	echo "check_gpu: skipped: there is no NVIDIA GPU (no /dev/nvidia0, nvidia-smi lists none)"
	exit 77
fi
[ "${1:-}" = --probe ] && exit 0
build=$(cd "${1:-${BUILD:-.}}" && pwd) || exit 99
builddir=$build
. "$here/tools/cli_help.sh"
PROTON=$build/proton
[ -x "$PROTON" ] || { echo "check_gpu: there is no '$PROTON'"; exit 99; }
n_run=0

ok() { echo "ok: $1"; }
failed() { echo "FAILED: $1"; sed 's/^/    /' "$2" | head -20; n_failed=$((n_failed + 1)); }

# Kernels below all nodes of a name: launches_under FILE NAME
launches_under() {
	python3 - "$1" "$2" <<'PY'
import json, sys
def walk(node, inside):
    inside = inside or node["frame"]["name"] == sys.argv[2]
    n = node["metrics"].get("count", 0) if inside and not node["children"] else 0
    return n + sum(walk(c, inside) for c in node["children"])
print(walk(json.load(open(sys.argv[1]))[0], False))
PY
}

# workload [--OPTION…] PROGRAM ARGS…: its `expect` lines against the file, nothing lost.
workload() {
	local options=() name status
	while [[ $1 == --* ]]; do options+=("$1"); shift; done
	name=$*
	n_run=$((n_run + 1))
	if [ ! -x "$build/bench/$1" ]; then
		echo "skipped: $name: not built (make cuda-programs)"
		return
	fi
	rm -f w.hatchet
	timeout 120 "$PROTON" record -q "${options[@]}" -o w.hatchet -- "$build/bench/$1" "${@:2}" >out 2>err
	status=$?
	[ $status = 0 ] || { failed "$name ${options[*]}: exit status $status" err; return; }
	if python3 "$here/tools/check_profile.py" w.hatchet out >diff; then
		ok "$name ${options[*]}: $(cat diff)"
	else
		failed "$name ${options[*]}" diff
	fi
	lost=$(losses w.hatchet)
	check "$name ${options[*]}: losses" "" "$lost"
}

# The chip that is here tells its name, and its sets.
hardware_metrics() {
	"$PROTON" metrics >out 2>err
	check "metrics of the chip that is here" 0 $?
	echo "chip: $(head -2 out | tr '\n' ' ')"
	"$PROTON" doctor --json cuda >out 2>err
	check "doctor knows the passes of sets" ok "$(python3 -c '
import json
print([c["state"] for c in json.load(open("out"))["checks"] if c["name"] == "metric-sets"][0])')"
	n_run=$((n_run + 1))
}

# How kernels are launched, against what CUDA says of them.
launches() {
	n_run=$((n_run + 1))
	timeout 120 "$PROTON" record -q -o w.hatchet -- "$build/bench/cuda_launches" >out 2>err
	check "launches: status" 0 $?
	check "launches, and occupancy" "9 launches" "$(python3 "$here/tools/check_launches.py" "$PROTON" w.hatchet out 2>&1)"
	check "launches: losses" "" "$(losses w.hatchet)"
}

# Hardware metrics of ranges, which have as many kernels as the program says; and of each kernel.
range_metrics() {
	local metric=smsp__inst_executed.sum range
	for range in nvtx scope; do
		n_run=$((n_run + 1))
		timeout 120 "$PROTON" record -q -o w.hatchet --metrics $metric --range $range -- "$build/bench/cuda_scopes" >out 2>err
		check "metrics of ranges, $range: status" 0 $?
		check "metrics of ranges, $range" "9 ranges" "$(python3 "$here/tools/check_ranges.py" w.hatchet $metric out 2>&1)"
	done
}

# What kernels wait for whose reasons are known, in a program that is over before all samples have come.
code_samples() {
	n_run=$((n_run + 1))
	timeout 120 "$PROTON" record -q -o w.hatchet --pc-sampling -- "$build/bench/cuda_pc" 12 >out 2>err
	check "samples of code: status" 0 $?
	check "samples of code: what was waited for" "looked at 3" \
		"$(python3 "$here/tools/check_samples.py" w.hatchet latency=long_scoreboard conflict=short_scoreboard barrier=barrier 2>&1)"
	check "samples of code: losses" "" "$(losses w.hatchet)"
}

# Scopes within kernels, and what else they record: kernel_records NAME PROGRAM [ARGUMENT] [OPTION…]
kernel_records() {
	n_run=$((n_run + 1))
	[ -x "$build/bench/$2" ] || { echo "skipped: $1: not built (make cuda-programs)"; return; }
	timeout 120 "$PROTON" record -q -o w.hatchet "${@:4}" -- "$build/bench/$2" ${3:+"$3"} >out 2>err
	check "$1: status" 0 $?
	"$PROTON" export -f json -o w.json w.hatchet
	if python3 "$here/tools/check_scopes.py" w.json out >diff; then
		ok "$1: $(cat diff)"
	else
		failed "$1" diff
	fi
}

# Kernels that were made to record, by their PTX: the same comes out of them, loops take as long as they wait, and no warp is missing.
probed() { # probed BUFFER
	local plain=$build/bench/cuda_ptx_kernels.ptx
	[ -r "$plain" ] || { echo "skipped: probed: not built (make cuda-programs)"; return; }
	n_run=$((n_run + 1))
	"$PROTON" kernel probe --intra func,loop --intra-mode "default:buffer_type=$1" -o probed.ptx "$plain" >out 2>err
	check "probed, $1: status" 0 $?
	"$build/bench/cuda_ptx" "$plain" probed.ptx -n 1 >out 2>err
	check "probed, $1: the same comes out" 7 "$(grep -c '^expect .*_same=1$' out)"
	timeout 120 "$PROTON" record -q -o w.hatchet -- "$build/bench/cuda_ptx" "$plain" probed.ptx -n 4 -k delays >out 2>err
	check "probed, $1: as long as planted" "looked at 4" "$(python3 "$here/tools/check_delays.py" w.hatchet 5 2>&1)"
	check "probed, $1: losses" "" "$(losses w.hatchet)"
}

# A graph of 100 kernels, two copies and a set, recorded as one: whole_graphs MODE REPLAYS
whole_graphs() {
	rm -f w.hatchet
	timeout 120 "$PROTON" record -q --graphs whole -o w.hatchet -- "$build/bench/cuda_graph" -m "$1" -r "$2" >out 2>err
	check "whole graphs, $1: status" 0 $?
	printf 'expect %s\n' "graph_count=$2" "graph_kernels_count=$((100 * $2))" "graph_nodes_count=$((103 * $2))" \
		kernels=2 >wanted
	if python3 "$here/tools/check_profile.py" w.hatchet wanted >diff; then
		ok "whole graphs, $1: $(cat diff)"
	else
		failed "whole graphs, $1" diff
	fi
	check "whole graphs, $1: losses" "" "$(losses w.hatchet)"
}

workloads() {
	workload cuda_copies
	workload cuda_copies seed pinned async 2d sets others batch
	workload cuda_copies seed
	workload cuda_threads -n 20000
	workload --no-count-launches cuda_threads -n 20000
	workload cuda_storm -n 200000
	workload --no-count-launches cuda_storm -n 200000
	workload cuda_storm_shared -n 100000
	workload cuda_storm -n 50000 -t 4 -s 2
	for mode in global thread relaxed manual; do
		workload cuda_graph -m "$mode" -r 200 -o
	done
	workload --graphs=whole cuda_device_graphs
	for mode in global manual; do
		whole_graphs "$mode" 200
	done
	workload cuda_graph -e # graphs of host nodes alone have no record
	workload cuda_gpubound -s 2
	workload cuda_contexts
	workload cuda_driver
	workload cuda_driver -f
	workload cuda_driver -c
}

# What is allocated and released, by calling context and kind. With a reset what was left is no longer there, and is
# counted as left.
memory() {
	if [ ! -x "$build/bench/cuda_memory" ]; then
		echo "skipped: cuda_memory: not built (make cuda-programs)"
		return
	fi
	timeout 120 "$PROTON" record -q --context scopes -o m.hatchet -- "$build/bench/cuda_memory" "$@" >out 2>err
	check "memory $*: status" 0 $?
	"$PROTON" export -f json m.hatchet >m.json
	python3 - m.json out >diff <<'PY'
import collections, json, re, sys
sums, paths = collections.Counter(), {}
for n in json.load(open(sys.argv[1]))["nodes"]:
    name = re.sub("^(alloc .*) from .*", r"\1", n["name"]) # whose code allocates is told beside
    paths[n["id"]] = "/".join(filter(None, (paths.get(n["parent"]), name if n["parent"] is not None else "")))
    for metric, value in n["metrics"].items():
        if isinstance(value, int):
            sums[paths[n["id"]], metric] += value
bad = n = 0
for line in open(sys.argv[2]):
    m = re.match(r"expect_memory (.*) n=(\d+) bytes=(\d+) freed_n=(\d+) left=(\d+)", line)
    if not m:
        continue
    where, want = m.group(1), list(map(int, m.groups()[1:]))
    get = lambda metric: sums[where, metric]
    have = [get("allocations"), get("allocated_bytes"), get("releases"), get("live_bytes") + get("left_bytes")]
    n += 1
    if have != want:
        bad += 1
        print(where, "want", want, "got", have)
if bad or n < 5:
    for (where, metric), value in sorted(sums.items()):
        if "alloc" in where or "pool" in where:
            print(where, metric, value)
    sys.exit(1)
print(n, "agree")
PY
	if [ $? = 0 ]; then ok "memory $*: $(cat diff)"; else failed "memory $*" diff; fi
	check "memory $*: losses" "" "$(losses m.hatchet)"
}

# Moves and faults of unified memory beside the kernels that ran: as much as the sums say, in the run, in lanes of their
# own, and no work of the device.
unified_in_a_trace() {
	local name="unified memory in a trace"

	[ -x "$build/bench/cuda_unified" ] || { echo "skipped: $name: not built (make cuda-programs)"; return; }
	timeout 120 "$PROTON" record -q --context scopes --unified --trace -o u.hatchet -- "$build/bench/cuda_unified" >out 2>err
	check "$name: status" 0 $?
	check "$name: losses" "" "$(losses u.hatchet)"
	"$PROTON" export -f json -o u.json u.hatchet
	"$PROTON" export -f chrome -o u.chrome_trace u.hatchet
	python3 "$here/tools/check_pages.py" u.json u.chrome_trace >diff
	if grep -q '^wrong' diff || ! grep -q 'migration HtoD GPU' diff; then failed "$name" diff; else ok "$name: $(grep -vc '^busy' diff) kinds by node"; fi
	"$PROTON" report --ascii --view timeline u.hatchet >out
	for lane in "pages to GPU" "pages to CPU" "page faults"; do
		check "$name: a lane '$lane'" 1 "$(sed -n '/^GPU0/,/^GPU1/p' out | grep -c "^  $lane")"
	done
	"$PROTON" report --view memory --width 200 u.hatchet | sed -n '/^Unified memory, by the kernels/,$p' >out
	check "$name: what moved while 'reads' ran" 1 "$(grep -c ' reads' out)"
	"$PROTON" report --view timeline u.chrome_trace --ascii >out
	check "$name: … and from a Chrome trace" 1 "$(grep -c '^  pages to GPU' out)"
}

# What a program says of places in the tree and of findings: places TITLE PROGRAM [OPTION...]
places() {
	if [ ! -x "$build/bench/$2" ]; then
		echo "skipped: $2: not built (make cuda-programs)"
		return
	fi
	timeout 120 "$PROTON" record -q --context scopes "${@:3}" -o g.hatchet -- "$build/bench/$2" >out 2>err
	check "$1: status" 0 $?
	"$PROTON" export -f json g.hatchet >g.json
	"$PROTON" advise -f json g.hatchet >f.json
	python3 - g.json f.json out >diff <<'PY'
import json, re, sys
paths, found = {}, {}
for n in json.load(open(sys.argv[1]))["nodes"]:
    name = re.sub("^(alloc .*) from .*", r"\1", n["name"]) # whose code allocates is told beside
    # Forms of graphs that were captured in one place are one here.
    own = "" if name.startswith("<form ") else name
    paths[n["id"]] = "/".join(filter(None, (paths.get(n["parent"], ""), own)))
    if n["parent"] is None:
        paths[n["id"]] = ""
    for metric, value in n["metrics"].items():
        if not isinstance(value, str):
            found[paths[n["id"]], metric] = found.get((paths[n["id"]], metric), 0) + (value or 0)
said = {f["rule"]: ["/".join(c) for c in f["contexts"]] for f in json.load(open(sys.argv[2]))["findings"]}
lines = [line.split(None, 1) for line in open(sys.argv[3]) if line.startswith(("place ", "least ", "finding "))]
bad = 0
for word, rest in lines:
    if word != "finding":
        path, _, what = rest.rpartition(" ")
        metric, want = what.split("=")
        have = found.get((path, metric), 0)
        if have != float(want) and not (word == "least" and have > float(want)):
            bad += 1
            print(path, metric, word, float(want), "got", have)
    else:
        rule, path = rest.strip().split(" ", 1)
        if not any(path in p for p in said.get(rule, [])):
            bad += 1
            print("finding", rule, "want", path, "got", said.get(rule))
if bad or len(lines) < 10:
    print(*sorted(found), sep="\n")
    sys.exit(1)
print(len(lines), "agree")
PY
	if [ $? = 0 ]; then ok "$1: $(cat diff)"; else failed "$1" diff; fi
	check "$1: losses" "" "$(losses g.hatchet)"
}

status_and_signals() {
	"$PROTON" record -q -o e.hatchet -- sh -c 'exit 7'
	check "sh -c 'exit 7'" 7 $?
	"$PROTON" record -o k.hatchet -- sh -c "'$build/bench/cuda_gpubound' -s 30 -a 100 & p=\$!
		sleep 3; kill -9 \$p; wait \$p" >out 2>err
	check "killed: status" 137 $?
	"$PROTON" report --section losses k.hatchet >losses
	has "kill -9: unaccounted launches are said" "launches without a record" losses
	check "kill -9: kernels are there" yes "$([ "$(launches_under k.hatchet ROOT)" -gt 100 ] && echo yes)"
}

eight_processes() {
	local i
	"$PROTON" record -q -o 8.hatchet -- sh -c "for i in 1 2 3 4 5 6 7 8; do
		'$build/bench/cuda_storm' -n 20000 >out.\$i & done; wait" 2>err
	check "8 processes: status" 0 $?
	for i in 1 2 3 4 5 6 7 8; do sed -n 's/^expect kernels=//p' out.$i; done >want
	check "8 processes: kernels" "$(awk '{ n += $1 } END { print n }' want)" "$(launches_under 8.hatchet ROOT)"
	check "8 processes: in the file" 8 "$("$PROTON" export -f json 8.hatchet |
		python3 -c 'import json, sys
p = json.load(sys.stdin)["processes"]
print(sum(q["exe"].endswith("cuda_storm") for q in p))')"
	check "8 processes: losses" "" "$(losses 8.hatchet)"
}

other_users() {
	PROTON_CUPTI_PATH=/nonexistent/libcupti.so "$PROTON" record -o n.hatchet -- \
		"$build/bench/cuda_copies" seed >out 2>err
	check "no libcupti: the program is unharmed" 0 $?
	has "no libcupti: said" "no libcupti at PROTON_CUPTI_PATH" err
	[ -e "$build/bench/floor_callbacks.so" ] || return 0
	CUDA_INJECTION64_PATH=$build/bench/floor_callbacks.so "$PROTON" record -o o.hatchet -- \
		"$build/bench/cuda_copies" seed >out 2>err
	check "another user of CUPTI: the program is unharmed" 0 $?
	has "another user of CUPTI: said" "CUDA_INJECTION64_PATH" err
}

formats() {
	"$PROTON" record -q -o f.hatchet --tape f.tape -- "$build/bench/cuda_copies" seed >out 2>err
	"$PROTON" report --ascii f.hatchet >report
	has "report" "memcpy HtoD" report
	"$PROTON" report --ascii --section tree f.tape >tape; "$PROTON" report --ascii --section tree f.hatchet >file
	check "the tape says what the file says" "" "$(diff tape file)"
	"$PROTON" export -f json -o f.json f.hatchet
	python3 "$here/tools/validate_json.py" "$here/../data/proton-profile.schema.json" f.json >err 2>&1
	case $? in 0) ok "JSON against the schema" ;; 77) echo "skipped: JSON against the schema" ;; *)
		failed "JSON against the schema" err ;; esac
	check "top without a screen" 0 "$("$PROTON" top --batch 0 -o t.hatchet -- "$build/bench/cuda_gpubound" -s 1 >out 2>&1; echo $?)"
	has "top without a screen: kernels" "ROOT" out
}

# What was printed of a run against what was saved of it, by a script of bench/: against PROGRAM NAME OPTIONS…
against() {
	local program=$1 name=$2
	if [ ! -x "$build/bench/$program" ]; then
		echo "skipped: $name: not built (make cuda-programs)"
		return
	fi
	timeout 120 "$PROTON" record -q "${@:3}" -o a.hatchet -- "$build/bench/$program" >out 2>err
	check "$name: status" 0 $?
	"$PROTON" export -f json a.hatchet >a.json
	if python3 "$here/../bench/$program.py" a.json out >diff; then ok "$name"; else failed "$name" diff; fi
}

# Modules of PyTorch in CUDA graphs, each kernel as often as the graph was replayed: torch_graphs decode|train
torch_graphs() {
	"$PROTON" record -q --graphs nodes -o nodes.hatchet -- python3 "$here/../bench/torch_graphs.py" "$1" 100 12 >out 2>err
	check "PyTorch graphs, $1: status" 0 $?
	"$PROTON" record -q --graphs whole -o whole.hatchet -- python3 "$here/../bench/torch_graphs.py" "$1" 100 12 >out 2>err
	check "PyTorch graphs, $1, whole: status" 0 $?
	"$PROTON" export -f json nodes.hatchet >nodes.json
	"$PROTON" export -f json whole.hatchet >whole.json
	python3 - "$1" nodes.json whole.json >diff <<'PY'
import collections, json, sys
def load(path):
    nodes = {n["id"]: n for n in json.load(open(path))["nodes"]}
    def up(n):
        while n is not None:
            yield n["name"]
            n = nodes.get(n["parent"])
    return [(n, list(up(n))) for n in nodes.values()]
replays, bad, layers, kernels = 120, [], collections.Counter(), 0
for n, path in load(sys.argv[2]):
    if n["kind"] == "kernel" and "<captured_at>" in path:
        count = n["metrics"]["count"]
        kernels += count
        if count % replays:
            bad.append("%d times: %s" % (count, " < ".join(path)))
        for layer in {p.split("layers.")[1].split(".")[0].split(" ")[0] for p in path if "layers." in p}:
            layers[layer] += count
whole = sum(n["metrics"].get("graph_kernels", 0) for n, path in load(sys.argv[3]) if n["name"].startswith("<graph"))
if kernels != whole or not kernels:
    bad.append("%d kernels by node, %d in whole graphs" % (kernels, whole))
# Backwards, the first layer has no input whose gradient is asked for.
alike = {n for layer, n in layers.items() if layer != "0" or sys.argv[1] == "decode"}
if len(layers) != 12 or len(alike) != 1:
    bad.append("layers: %s" % dict(layers))
print(*bad or ["%d kernels" % kernels], sep="\n")
sys.exit(bool(bad))
PY
	if [ $? = 0 ]; then ok "PyTorch graphs, $1: $(cat diff)"; else failed "PyTorch graphs, $1" diff; fi
	check "PyTorch graphs, $1: losses" " " "$(losses nodes.hatchet) $(losses whole.hatchet)"
}

# Scopes within kernels of Triton: its own sessions, added up and one by one, and those that rules put in. Eight blocks of four warps,
# three times.
triton_scopes() {
	if ! python3 -c 'import torch, triton.profiler.language, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
		echo "skipped: Triton: no torch with CUDA, or no triton.profiler.language (3.5)"
		return
	fi
	cat >add.py <<'PY'
import hashlib, sys
import torch, triton, triton.language as tl
import triton.profiler as proton, triton.profiler.language as pl
pl.enable_semantic("triton")

@triton.jit
def add(x, y, BLOCK: tl.constexpr, SCOPES: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if SCOPES:
        pl.enter_scope("whole")
        pl.enter_scope("load")
    v = tl.load(x + at)
    if SCOPES:
        pl.exit_scope("load")
    tl.store(y + at, v + v)
    if SCOPES:
        pl.exit_scope("whole")

x = torch.arange(8192, dtype=torch.float32, device="cuda")
y = torch.empty_like(x)
if sys.argv[1:]:
    proton.start("own", data=sys.argv[1], backend="instrumentation")
for _ in range(3):
    add[(8,)](x, y, BLOCK=1024, SCOPES=len(sys.argv) > 1, num_warps=4)
if sys.argv[1:]:
    proton.finalize()
print(hashlib.sha256(y.cpu().numpy().tobytes()).hexdigest())
PY
	local same entries='import json, sys
print(*[n["metrics"]["scope_entries"] for n in json.load(open(sys.argv[1]))["nodes"] if "scope_entries" in n["metrics"]])'
	same=$(python3 add.py)
	for data in tree trace; do
		n_run=$((n_run + 1))
		timeout 120 "$PROTON" record -q -o w.hatchet -- python3 add.py $data >out 2>err
		check "Triton's own scopes, $data: status, and what comes out" "0 $same" "$? $(cat out)"
		"$PROTON" export -f json -o w.json w.hatchet
		check "Triton's own scopes, $data: entries" "96 96" "$(python3 -c "$entries" w.json)"
		check "Triton's own scopes, $data: losses" "" "$(losses w.hatchet)"
	done
	check "Triton's own scopes, trace: single ones, by block" "192 8" "$(python3 -c 'import json
e = json.load(open("own.chrome_trace"))["traceEvents"]
print(len(e), len({x["pid"].split(" CTA")[1] for x in e}))')"
	n_run=$((n_run + 1))
	timeout 120 "$PROTON" record -q --intra=ttgir:func --intra-trace=3 -o w.hatchet -- python3 add.py >out 2>err
	check "scopes by rules in Triton's kernels: status, and what comes out" "0 $same" "$? $(cat out)"
	"$PROTON" export -f json -o w.json w.hatchet
	check "scopes by rules in Triton's kernels: entries" 96 "$(python3 -c "$entries" w.json)"
	check "scopes by rules in Triton's kernels: three launches, each its own" 3 \
		"$(python3 "$here/tools/warps.py" w.warps | awk '$3 > 0 && $4 != "0ns" && /left out/ == 0 {print $3}' | sort -u | wc -l)"
	check "scopes by rules in Triton's kernels: losses" "" "$(losses w.hatchet)"
}

torch() {
	if ! python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
		echo "skipped: PyTorch: not installed, or without CUDA"
		return
	fi
	cat >step.py <<'PY'
import torch
from torch.cuda import nvtx
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 256, device="cuda")
for _ in range(10):
    with nvtx.range("step"):
        with nvtx.range("forward"):
            loss = (model(x) ** 2).mean()
        with nvtx.range("backward"):
            optimizer.zero_grad()
            loss.backward()
        with nvtx.range("optimizer"):
            optimizer.step()
print(loss.item())
PY
	torch_graphs decode
	torch_graphs train
	"$PROTON" record -q -o torch.hatchet -- python3 step.py >out 2>err
	check "PyTorch: status" 0 $?
	for range in forward backward optimizer; do
		n=$(launches_under torch.hatchet $range)
		check "PyTorch: kernels under $range ($n), the same for each step" yes \
			"$([ "$n" -gt 0 ] && [ $((n % 10)) = 0 ] && echo yes)"
	done
	check "PyTorch: losses" "" "$(losses torch.hatchet)"
	cat >inner.py <<'PY'
import time, torch
x = torch.zeros(128, device="cuda")
def run(n):
    for _ in range(n): torch.add(x, 1, out=x)
    torch.cuda.synchronize()
def named(name, n):
    with torch.cuda.nvtx.range(name): run(n)
named("before", 70)
for _ in range(3):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p: run(100)
    print("seen", sum(e.count for e in p.key_averages() if e.device_type == torch.autograd.DeviceType.CUDA))
time.sleep(0.8)
named("after", 50)
PY
	python3 inner.py >bare 2>err
	"$PROTON" record -o inner.hatchet -- python3 inner.py >out 2>err
	check "torch.profiler inside: status" 0 $?
	check "torch.profiler inside: it sees what it sees without us" "$(cat bare)" "$(cat out)"
	check "torch.profiler inside: kernels before it, and when it is done" "70 50" \
		"$(launches_under inner.hatchet before) $(launches_under inner.hatchet after)"
	check "torch.profiler inside: only its time is lost" aside_ms "$(losses inner.hatchet | sed 's/=[0-9]*//')"
	"$PROTON" record -q --hold -o inner.hatchet -- python3 inner.py >out 2>err
	check "torch.profiler inside, --hold: all of ours" "120 " "$(($(launches_under inner.hatchet before) + \
		$(launches_under inner.hatchet after))) $(losses inner.hatchet)"
}

# Tools of CUPTI inside the program, and what is left to us.
rival() {
	local name="cuda_rival $*"
	n_run=$((n_run + 1))
	[ -x "$build/bench/cuda_rival" ] || { echo "skipped: $name: not built (make cuda-programs)"; return; }
	timeout 60 "$PROTON" record -q -o r.hatchet -- "$build/bench/cuda_rival" "$@" >out 2>err
	check "$name: status" 0 $?
	check "$name: the tool has its records" "" "$(sed -n 's/^result tool_wanted=//p' out | while read -r n; do
		grep '^result tool_records=' out | grep -v "=$n$"; done)"
	python3 "$here/tools/check_profile.py" r.hatchet out >diff && ok "$name: $(cat diff)" || failed "$name" diff
	check "$name: only its time is lost" aside_ms "$(losses r.hatchet | sed 's/=[0-9]*//')"
}

# What goes wrong in a program is as it is without us, and each kernel that it launched is there or is a loss.
trouble() { # MODE [LOSSES]: which may be there
	local name="cuda_trouble $1" launched lost
	n_run=$((n_run + 1))
	[ -x "$build/bench/cuda_trouble" ] || { echo "skipped: $name: not built (make cuda-programs)"; return; }
	timeout 60 "$build/bench/cuda_trouble" "$1" >bare 2>&1
	echo "status $?" >>bare
	timeout 60 "$PROTON" record -q -o t.hatchet -- "$build/bench/cuda_trouble" "$1" >out 2>&1
	echo "status $?" >>out
	check "$name: as without us" "$(cat bare)" "$(cat out)"
	launched=$(sed -n 's/^launched //p' out)
	lost=$(losses t.hatchet)
	"$PROTON" export -f json t.hatchet >t.json
	check "$name: kernels and losses, of $launched" "$launched" "$(python3 - t.json <<'PY'
import json, sys
p = json.load(open(sys.argv[1]))
n = sum(m["metrics"].get("count", 0) for m in p["nodes"] if m["kind"] == "kernel" or "trouble" in m["name"])
print(n + sum(p["losses"].get(k, 0) for k in ("unaccounted_launches", "dropped_records", "zero_timestamps")))
PY
)"
	for l in $lost; do
		case " ${2:-} " in *" ${l%=*} "*) ;; *) check "$name: losses" "${2:-}" "$lost" ;; esac
	done
}

workloads
memory
memory -r
trouble contexts "unaccounted_launches gaps"
trouble reset "unaccounted_launches gaps"
trouble sticky "unaccounted_launches zero_timestamps gaps"
trouble memory
trouble streams lanes_full
trouble unload
trouble library
places "graphs of all kinds" cuda_graph_places
places "patterns of copies" cuda_patterns
rival
rival -u
rival -z
rival -f
rival -u -g
kernel_records "records within kernels" cuda_kernel_records
kernel_records "records within kernels, without their cost" cuda_kernel_records -s --kernel-scopes time-shift
kernel_records "records within kernels, added up" cuda_kernel_sums
places "unified memory" cuda_unified --unified
unified_in_a_trace
against cuda_idle "idle time as planted" --sync
against cuda_bandwidth "bandwidths by events" --context scopes
status_and_signals
hardware_metrics
launches
range_metrics
code_samples
probed shared
probed global
eight_processes
other_users
formats
torch
triton_scopes
echo "$n_run workloads"
finish

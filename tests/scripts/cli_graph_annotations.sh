#!/bin/bash
# SPDX-License-Identifier: MIT
# What PyTorch says of nodes of CUDA graphs (torch.cuda.graph_annotations) is the calling context of what ran in them: where
# it stands in the events of a trace, and where it stands in a file beside it.
trace=$(cd "${srcdir:-.}/tests/chrome" && pwd)/h200-torch-graph.json || exit 99
tools=$(cd "${srcdir:-.}/tests/tools" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
annotated() { python3 "$tools/annotate_trace.py" "$1" "$trace"; }
# Paths with their kinds, and how often what is there ran and for how long; names of kernels are cut.
tree() {
	"$PROTON" export -f json "$@" | python3 -c '
import json, sys
path = {None: ""}
for n in json.load(sys.stdin)["nodes"]:
    name = n["name"].split("<")[0] if n["kind"] == "kernel" else n["name"]
    path[n["id"]] = path[n["parent"]] + "/" * (n["parent"] is not None) + ("%s:%s" % (n["kind"], name) if n["id"] else "")
    if "count" in n["metrics"]:
        print(path[n["id"]], n["metrics"]["count"], int(n["metrics"]["time (ns)"]))' | LC_ALL=C sort
}
at=/scope:replay/graph:'<captured_at>'
named="$at/module:layers.0.mlp.down/scope:down/scope:backward/kernel:void sgemm_largek_lds64 4 51584
$at/module:layers.0.mlp.up/scope:up/kernel:void cublasLt::splitKreduce_kernel 4 7744
$at/module:layers.0.mlp.up/scope:up/kernel:void cutlass::Kernel2 4 21760
$at/module:layers.0.mlp/kernel:void at::native::vectorized_elementwise_kernel 4 5248
$at/scope:epilogue/kernel:void cublasLt::epilogue::impl::globalKernel 4 5984
$at/scope:zero/set:memset device 4 3424
/scope:replay/kernel:void scal_kernel 4 3744"

# ---- in the events ----
annotated numbers >numbers.json
annotated inline >inline.json
annotated lanes >lanes.json
check "in events: a context below the launch; what nobody named stays there" "$named" "$(tree inline.json)"
check "in events: what the trace has without them" "$(tree "$trace")" "$(tree numbers.json)"
check "in events: times on the host stay" \
	"$("$PROTON" report -m cpu_time,launch_time "$trace" | grep replay)" "$("$PROTON" report -m cpu_time,launch_time inline.json | grep replay)"
check "moved to other tracks: the same contexts" "$named" "$(tree lanes.json)"
check "moved to other tracks: the stream that it ran in" "stream 7" \
	"$("$PROTON" report --ascii -g stream -d 2 lanes.json --section tree | grep -o 'stream [0-9]*' | sort -u)"
"$PROTON" export -f hatchet inline.json >inline.hatchet
check "as Hatchet, and back" "$named" "$(tree inline.hatchet)"
event() { # event ARGS: a trace of one kernel
	printf '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {%s}}]}' "$1" >one.json
	tree one.json
}
check "an early spelling" "/graph:<captured_at>/scope:a/kernel:k 1 1000" "$(event '"graph node id": 5, "str": "a"')"
check "a number as text" "/graph:<captured_at>/scope:a/kernel:k 1 1000" "$(event '"graph node id": "5", "name": "a"')"
check "no node of a graph" "/kernel:k 1 1000" "$(event '"name": "a", "module_fqn": "b"')"
check "its number is 0" "/kernel:k 1 1000" "$(event '"graph node id": 0, "name": "a"')"
check "nothing that is known is said" "/kernel:k 1 1000" "$(event '"graph node id": 5, "name": "", "colour": "red"')"
check "its path is in the event" "/kernel:k 1 1000" "$(event '"graph node id": 5, "name": "a", "call_stack": ["ROOT", "k"]')"
for hostile in '{"a": [{}]}' '[["a", {"name": "b"}]]' 7 null true 1e999; do
	check "said by $hostile: nothing" "/kernel:k 1 1000" "$(event '"graph node id": 5, "name": '"$hostile"', "module_fqn": '"$hostile"', "original_stream": '"$hostile")"
done
check "numbers that are none" "/kernel:k 1 1000" "$(event '"graph node id": {"a": 5}, "name": "a"')"
finish

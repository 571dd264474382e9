#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A trace of torch.profiler as later versions write it: nodes of CUDA graphs have numbers, and what
torch.cuda.graph_annotations says of them is in the events, or in a file beside the trace.

    annotate_trace.py numbers TRACE    the trace with numbers, and nothing said
    annotate_trace.py inline TRACE     as export_chrome_trace(cuda_graph_annotations=...) has it
    annotate_trace.py lanes TRACE      the same with graph_lanes="all": events are moved to other tracks
    annotate_trace.py file TRACE       the annotations, as JSON
"""
import collections
import json
import sys

GRAPH = 7 << 32  # the number of the executable graph is the upper half of those of its nodes

# By the order in which nodes run. What is said twice: the last one counts.
ANNOTATIONS = {
    0: [{"module_fqn": "layers.0.mlp.up", "name": "up", "stream": 61}],
    1: [{"module_fqn": "layers.0.mlp.up", "name": "up"}],
    2: [{"module_fqn": "layers.0.mlp"}],
    3: [{"name": "zero", "Group size": 4}],
    5: [{"autograd_phase": "backward", "name": "down", "module_fqn": "layers.0.mlp.down"}],
    6: [{"name": "outer"}, {"name": "epilogue"}],
}


def args_text(args, said, lanes):
    """The arguments of an event, with keys that stand there twice."""
    args, chunks, lane = dict(args), [], 7
    for entry in said:
        fields = {k: str(v) for k, v in entry.items() if k != "stream"}
        lane = entry.get("stream", lane)
        if fields:
            chunks.append(json.dumps(fields)[1:-1])
    if lanes and lane != args["stream"]:
        args["original_stream"], args["stream"] = args["stream"], lane
    return "{" + ", ".join([json.dumps(args)[1:-1]] + chunks) + "}", lane


def main():
    how, path = sys.argv[1:]
    if how == "file":
        print(json.dumps({str(GRAPH | node): said for node, said in ANNOTATIONS.items()}))
        return
    with open(path) as f:
        trace = json.load(f)
    ran = collections.Counter()
    events = []
    graphs = {e["args"]["correlation"] for e in trace["traceEvents"] if "GraphLaunch" in e.get("name", "")}
    for event in trace.pop("traceEvents"):
        args = event.get("args", {})
        if event.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy") and args["correlation"] in graphs:
            node = ran[args["correlation"]]
            ran[args["correlation"]] += 1
            args |= {"graph id": GRAPH >> 32, "graph node id": GRAPH | node}
            said = ANNOTATIONS.get(node, []) if how != "numbers" else []
            text, lane = args_text(args, said, how == "lanes")
            event["tid"] = lane if how == "lanes" else event["tid"]
            event.pop("args")
            events.append(json.dumps(event)[:-1] + ', "args": ' + text + "}")
        else:
            events.append(json.dumps(event))
    if how != "numbers":
        trace["cudaGraphInlineAnnotated"] = True
    print(json.dumps(trace)[:-1] + ', "traceEvents": [\n' + ",\n".join(events) + "\n]}")


main()

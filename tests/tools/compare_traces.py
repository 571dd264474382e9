#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what proton reads from traces of PyTorch with what the events say: each kernel by name, how
often and how long; copies and sets; each operator of the host; and below which operator each kernel was
launched, the innermost one around the call with its correlation id.
Usage: compare_traces.py PROTON TRACE... (JSON, also packed with gzip)"""
import collections
import gzip
import json
import subprocess
import sys

WORK = {"kernel": None, "Kernel": None, "gpu_memcpy": "copy", "Memcpy": "copy", "gpu_memset": "set",
        "Memset": "set"}
OPERATORS = {"cpu_op", "user_annotation", "Operator"}
CALLS = {"cuda_runtime", "cuda_driver", "hip_runtime", "Runtime"}


def load(path):
    with open(path, "rb") as f:
        data = f.read()
    document = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    events = document.get("traceEvents") if isinstance(document, dict) else document
    return [e for e in events or [] if isinstance(e, dict) and e.get("ph") == "X" and "ts" in e]


def add(sums, key, count, ns):
    have = sums.get(key, (0, 0))
    sums[key] = (have[0] + count, have[1] + ns)


def work_of_events(events):
    sums = {}
    for e in events:
        if e.get("cat") in WORK:
            add(sums, WORK[e["cat"]] or e["name"], 1, float(e.get("dur", 0)) * 1000)
    return sums


def work_of_nodes(nodes):
    sums = {}
    for node in nodes:
        if "time (ns)" in node["metrics"]:
            add(sums, node["kind"] if node["kind"] in ("copy", "set") else node["name"],
                node["metrics"]["count"], node["metrics"]["time (ns)"])
    return sums


def host_of_events(events):
    """Names that only operators have: calls may be folded, Python's are written otherwise."""
    others = {e.get("name") for e in events if e.get("cat") != "cpu_op"}
    sums = {}
    for e in events:
        if e.get("cat") == "cpu_op" and e["name"] not in others:
            add(sums, e["name"], 1, float(e.get("dur", 0)) * 1000)
    return sums


def host_of_nodes(nodes, names):
    sums = {}
    for node in nodes:
        if node["name"] in names and "cpu_count" in node["metrics"]:
            add(sums, node["name"], node["metrics"]["cpu_count"], node["metrics"].get("cpu_time (ns)", 0))
    return sums


def innermost(operators, moments):
    """For each moment, in order, the operator that began last of those around it."""
    operators = sorted(operators, key=lambda e: (float(e["ts"]), -float(e.get("dur", 0))))
    stack, i = [], 0
    for moment in sorted(moments):
        while i < len(operators) and float(operators[i]["ts"]) <= moment[0]:
            begin = float(operators[i]["ts"])
            stack = [x for x in stack if x[0] > begin]
            stack.append((begin + float(operators[i].get("dur", 0)), operators[i]["name"]))
            i += 1
        stack = [x for x in stack if x[0] >= moment[0]]
        yield moment, stack[-1][1] if stack else "ROOT"


def launches_of_events(events):
    """(operator, kernel): how often. None where Python's frames are between them."""
    if any(e.get("cat") == "python_function" for e in events):
        return None
    calls = {e["args"]["correlation"]: e for e in events
             if e.get("cat") in CALLS and "correlation" in (e.get("args") or {})}
    operators, moments = collections.defaultdict(list), collections.defaultdict(list)
    for e in events:
        if e.get("cat") in OPERATORS:
            operators[e["pid"], e["tid"]].append(e)
        elif e.get("cat") in ("kernel", "Kernel"):
            call = calls.get((e.get("args") or {}).get("correlation"))
            if call:
                moments[call["pid"], call["tid"]].append((float(call["ts"]), e["name"]))
    counts = collections.Counter()
    for thread, at in moments.items():
        for (_, kernel), operator in innermost(operators[thread], at):
            counts[operator, kernel] += 1
    return counts


def launches_of_nodes(nodes):
    names = {node["id"]: node["name"] for node in nodes}
    counts = collections.Counter()
    for node in nodes:
        if node["kind"] == "kernel":
            counts[names[node["parent"]], node["name"]] += node["metrics"].get("count", 0)
    return counts


def differences(want, got):
    """Times are rounded to the nanosecond, each."""
    for key in want.keys() | got.keys():
        a, b = want.get(key, (0, 0)), got.get(key, (0, 0))
        if a[0] != b[0] or abs(a[1] - b[1]) > 2 + a[0]:
            yield f"{key}: {a} in the trace, {b} here"


def compare(proton, path):
    events = load(path)
    done = subprocess.run([proton, "export", "-f", "json", path], capture_output=True, check=True)
    nodes = json.loads(done.stdout)["nodes"]
    want, host = work_of_events(events), host_of_events(events)
    found = list(differences(want, work_of_nodes(nodes)))
    found += differences(host, host_of_nodes(nodes, host.keys()))
    launches, ours = launches_of_events(events), launches_of_nodes(nodes)
    # What was launched by nobody is below the root, too.
    found += [f"{key}: {n} launches in the trace, {ours[key]} here"
              for key, n in (launches or {}).items() if ours[key] != n and key[0] != "ROOT"]
    print(f"{path}: {len(events)} events, {sum(n for n, _ in want.values())} on devices, {len(host)} operators, "
          f"{sum((launches or {}).values())} launches: {len(found)} differences")
    for text in found[:5]:
        print("   ", text)
    return len(found)


sys.exit(1 if sum([compare(sys.argv[1], path) for path in sys.argv[2:]]) else 0)

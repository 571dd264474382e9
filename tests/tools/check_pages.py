#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages of unified memory in a trace, against the sums of the same profile: check_pages.py PROFILE.json [CHROME_TRACE]

Prints a line for each node of pages: path, place, how many, what amount, ns in all; then what is wrong, as "wrong: ...";
then how long devices were busy. In the Chrome trace the bytes have to be the same."""
import collections
import json
import sys

SUMS = {  # name: (its metric of the context that allocated, what of an operation adds up to it)
    "migration HtoD": ("migrated_to_device_bytes", "amount"),
    "migration DtoH": ("migrated_to_host_bytes", "amount"),
    "migration PtoP": ("migrated_to_peer_bytes", "amount"),
    "CPU page fault": ("cpu_page_faults", "amount"),
    "GPU page faults": ("gpu_page_faults", "amount"),
    "thrashing": ("thrashings", "amount"),
    "throttled": ("throttled (ns)", "ns"),
    "mapped remotely": ("remote_maps", "amount"),
}
CAUSES = {" as asked": "migrated_as_asked_bytes", " evicted": "evicted_bytes"}


def union_ns(spans):
    total, end = 0, 0
    for a, b in sorted(spans):
        total += max(b - max(a, end), 0)
        end = max(end, b)
    return total


def main():
    profile = json.load(open(sys.argv[1]))
    nodes = {n["id"]: n for n in profile["nodes"]}
    clocks = {c["process"]: c["clock_ns"] - c["monotonic_ns"] for c in profile["clocks"] if c["name"] == "realtime"}
    run = profile["runs"][0]
    path, shown, want = {}, collections.Counter(), collections.Counter()
    amounts, times, busy = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    wrong, n_bytes = set(), 0

    for n in profile["nodes"]:
        name = n["name"].split(" from ")[0] if n["parent"] is not None else ""
        path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), name)))
    for v in profile["intervals"]:
        node, lane = nodes[v["node"]], profile["lanes"][v["lane"]]
        ns = v["end_ns"] - v["start_ns"]
        if node["kind"] != "pages":
            if lane["device"] is not None:
                busy[lane["process"], lane["device"]].append((v["start_ns"], v["end_ns"]))
            continue
        cause = next((c for c in CAUSES if node["name"].endswith(c)), "")
        name = node["name"][:len(node["name"]) - len(cause)]
        at = path[v["node"]], "host" if lane["device"] is None else "GPU%d" % lane["device"]
        shown[at] += 1
        amounts[at] += v["amount"]
        times[at] += ns
        metric, what = SUMS[name]
        want[node["parent"], metric] += v["amount"] if what == "amount" else ns
        if name.startswith("migration"):
            n_bytes += v["amount"]
            want[node["parent"], "migrations"] += 1
            want[node["parent"], "migration_time (ns)"] += ns
            if cause:
                want[node["parent"], CAUSES[cause]] += v["amount"]
        if ns < 0:
            wrong.add("it ends before it begins: %s" % at[0])
        if lane["device"] is not None and lane["stream"] is not None:
            wrong.add("it is in a stream: %s" % at[0])
        start = v["start_ns"] + clocks.get(lane["process"], 0)
        if not run["start_ns"] <= start <= start + ns <= run["start_ns"] + run["wall_ns"]:
            wrong.add("it was not in the run: %s" % at[0])
    for (node, metric), value in want.items():
        has = nodes[node]["metrics"].get(metric) or 0
        if has != value:
            wrong.add("%s of %s: %s in all, and %s in the trace" % (metric, path[node], has, value))
    for n in profile["nodes"]:
        for metric, value in n["metrics"].items():
            if metric in ("migrations", "cpu_page_faults", "gpu_page_faults") and value and not want[n["id"], metric]:
                wrong.add("%s of %s: none in the trace" % (metric, path[n["id"]]))
    for use in profile["uses"]:
        spans = union_ns(busy[use["process"], use["device"]])
        if spans != use["busy_ns"]:
            wrong.add("device %s: busy for %d ns, by its work for %d" % (use["device"], use["busy_ns"], spans))
    if len(sys.argv) > 2:
        events = [e for e in json.load(open(sys.argv[2]))["traceEvents"] if e.get("cat") == "unified_memory"]
        in_chrome = sum(e["args"].get("bytes", 0) for e in events)
        if in_chrome != n_bytes or len(events) != sum(shown.values()):
            wrong.add("%d bytes, and %d in the Chrome trace" % (n_bytes, in_chrome))
    for at in sorted(shown):
        print(*at, shown[at], amounts[at], times[at])
    for w in sorted(wrong):
        print("wrong:", w)
    print("busy", *(u["busy_ns"] for u in profile["uses"]))


main()

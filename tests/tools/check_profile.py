#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_profile.py FILE [EXPECT]: a saved profile against what the program said that it did.

FILE is a Hatchet file, EXPECT the output of a workload with `expect NAME=VALUE` lines (standard
input when left out). One line a difference; exit status 1 when there is one. Known names: kernels,
kernels_of_thread_N, kernel_time_ns_at_least, <Direction>_count, <Direction>_bytes, memset_count,
memset_bytes; of graphs that are recorded whole graph_count, graph_kernels_count and
graph_nodes_count. Others are named and left alone."""
import collections, json, re, sys


def add_up(node, sums):
    metrics, name = node["metrics"], node["frame"]["name"]
    if name.startswith("memcpy"):
        direction = metrics.get("direction", "Unknown")
        sums[direction + "_count"] += metrics.get("count", 0) + metrics.get("copies_besides", 0)
        sums[direction + "_bytes"] += metrics.get("bytes", 0)
    elif name.startswith("memset"):
        sums["memset_count"] += metrics.get("count", 0)
        sums["memset_bytes"] += metrics.get("bytes", 0)
    elif name.startswith("<graph"):
        sums["graph_count"] += metrics.get("count", 0)
        sums["graph_kernels_count"] += metrics.get("graph_kernels", 0)
        sums["graph_nodes_count"] += metrics.get("graph_nodes", 0)
    elif "time (ns)" in metrics and name != "ROOT":
        sums["kernels"] += metrics.get("count", 0)
        sums["kernel_time_ns"] += metrics["time (ns)"]
        thread = re.search(r"kernel_of_thread(?:ILi|<)(\d+)", name)
        if thread:
            sums["kernels_of_thread_" + thread.group(1)] += metrics.get("count", 0)
    for child in node["children"]:
        add_up(child, sums)


def main():
    sums, bad, left = collections.Counter(), [], []
    add_up(json.load(open(sys.argv[1]))[0], sums)
    text = open(sys.argv[2], errors="replace") if len(sys.argv) > 2 else sys.stdin
    for name, want in re.findall(r"^expect (\w+)=(\d+)$", text.read(), re.M):
        least = name.endswith("_at_least")
        key = name[:-len("_at_least")] if least else name
        if not re.fullmatch(r"kernels|kernels_of_thread_\d+|kernel_time_ns|\w+_(count|bytes)", key):
            left.append(name)
        elif sums[key] < int(want) if least else sums[key] != int(want):
            bad.append("%s: want %s, got %d" % (name, want, sums[key]))
    print("\n".join(bad) or "all agree" + (", not compared: " + " ".join(left) if left else ""))
    sys.exit(1 if bad else 0)


main()

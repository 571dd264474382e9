#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_samples.py HATCHET NAME=REASON…: do warps of these kernels wait for this more than for anything else? Are lines
known, and is each sample of a kernel that was recorded?"""
import collections
import json
import sys


def main():
    reasons, lines, nobodys = collections.defaultdict(collections.Counter), collections.Counter(), 0

    def add(node, kernel, line):
        nonlocal nobodys
        name, metrics = node["frame"]["name"], node["metrics"]
        if metrics.get("count") and metrics.get("time (ns)"):
            kernel = name
        if ".cu:" in name:
            line = kernel
        lines[line] += metrics.get("num_samples", 0)
        if kernel is None:
            nobodys += metrics.get("num_samples", 0)
        for key, n in metrics.items():
            if key.startswith("stalled_"):
                reasons[kernel][key[len("stalled_"):]] += n
        for child in node["children"]:
            add(child, kernel, line)

    with open(sys.argv[1], encoding="utf-8") as f:
        add(json.load(f)[0], None, None)
    if nobodys:
        print(nobodys, "samples of kernels that were not recorded")
    for kernel, reason in (word.split("=") for word in sys.argv[2:]):
        most = reasons[kernel].most_common(1)
        if not most or most[0][0] != reason:
            print(kernel, "waits for", reasons[kernel].most_common(3))
        if not lines[kernel]:
            print("no line of", kernel)
    print("looked at", len(sys.argv) - 2)


main()

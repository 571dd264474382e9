#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_ranges.py HATCHET METRIC OUTPUT: what ranges of bench/cuda_scopes counted, against its lines "range NAME KERNELS"."""
import collections
import json
import sys


def main():
    counted = collections.Counter()

    def add(node):
        counted[node["frame"]["name"]] += node["metrics"].get(sys.argv[2], 0)
        for child in node["children"]:
            add(child)

    with open(sys.argv[1], encoding="utf-8") as f:
        add(json.load(f)[0])
    wanted = [line.split()[1:] for line in open(sys.argv[3], encoding="utf-8") if line.startswith("range ")]
    for name, kernels in wanted:
        if not counted["one"] or abs(counted[name] / counted["one"] / int(kernels) - 1) > 0.002:
            print(name, "has", counted[name], "of", sys.argv[2], "for", kernels, "kernels; one has", counted["one"])
    print(len(wanted), "ranges")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cuda_idle.py PROFILE.json PLANTED: what bench/cuda_idle printed against what was charged (proton export -f json)."""
import json
import sys


def scope_of(nodes, node):
    while node is not None and node["kind"] != "scope":
        node = nodes.get(node["parent"])
    return node["name"] if node else None


profile = json.load(open(sys.argv[1]))
nodes = {n["id"]: n for n in profile["nodes"]}
charged = {}
for n in profile["nodes"]:
    for metric, value in n["metrics"].items():
        if metric.startswith("idle") and metric != "idle_gaps":
            part = metric.removesuffix(" (ns)").removeprefix("idle_")
            of = charged.setdefault(scope_of(nodes, n), {})
            of[part] = of.get(part, 0) + value / 1e6
failed = 0
for line in open(sys.argv[2]):
    words = line.split()
    if words[:1] != ["planted"]:
        continue
    scope, part, least, most = words[1], words[2], float(words[3]), float(words[4])
    is_right = least <= charged.get(scope, {}).get(part, 0) <= most
    failed += not is_right
    print("ok    " if is_right else "FAILED", scope, part, "%.3f" % charged.get(scope, {}).get(part, 0),
          "ms, planted %.3f to %.3f" % (least, most))
for scope, parts in charged.items():
    print("      ", scope, {p: round(v, 3) for p, v in parts.items() if v})
sys.exit(failed > 0)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bandwidths that proton tells against those of CUDA's events: cuda_bandwidth.py PROFILE.json PRINTED

PRINTED is what bench/cuda_bandwidth printed, PROFILE.json `proton export -f json` of the same run with --context scopes. One line
a scope; exit status 1 when one differs by more than 3 % where a copy takes 0.1 ms and more (between two copies are one or two us that
are of neither)."""
import json, sys

nodes = json.load(open(sys.argv[1]))["nodes"]
scopes = {n["id"]: n["name"] for n in nodes if n["kind"] == "scope"}
bad = n = 0
got = {}
for node in nodes:
    if node["parent"] in scopes and node["name"].startswith("memcpy"):
        m = node["metrics"]
        got[scopes[node["parent"]]] = (m["bytes"] / m["time (ns)"], m["time (ns)"] / m["count"] / 1e6)
for line in open(sys.argv[2]):
    word, scope, want = line.split()
    if word != "expect_gbs":
        continue
    have, ms = got.get(scope, (0.0, 0.0))
    difference = 100 * (have / float(want) - 1)
    far = abs(difference) > 3 and (ms >= 0.1 or not ms)
    print("%-12s events %8.2f  proton %8.2f GB/s  %+5.1f %%  %7.3f ms a copy%s" %
          (scope, float(want), have, difference, ms, "  FAR" if far else ""))
    bad += far
    n += 1
sys.exit(1 if bad or not n else 0)

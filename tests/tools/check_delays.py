# SPDX-License-Identifier: MIT
"""check_delays.py FILE LAUNCHES: loops of `delays` (bench/cuda_ptx_kernels.cu), which was launched so often with 132 blocks of 4
warps: how many there are, and how many cycles each of them took, within 2 %."""
import json
import sys

LOOPS = {1: 100_000, 2: 200_000}  # n = 10 turns; those within take a tenth, and there are ten of each


def scopes(node, depth, found):
    metrics = node["metrics"]
    if "cycles" in metrics and node["frame"]["name"].startswith("loop@"):
        found.append((depth, metrics["scope_entries"], metrics["cycles"] / metrics["scope_entries"]))
    for child in node["children"]:
        scopes(child, depth + ("cycles" in metrics), found)
    return found


def main(path, launches):
    warps = 132 * 4 * launches
    wanted = sorted([(1, warps, c) for c in LOOPS.values()] + [(2, 10 * warps, c / 10) for c in LOOPS.values()])
    found = sorted(scopes(json.load(open(path))[0], 0, []))
    for have, want in zip(found, wanted):
        if have[:2] != want[:2] or abs(have[2] / want[2] - 1) > 0.02:
            sys.exit("found %s, not %s" % (have, want))
    if len(found) != len(wanted):
        sys.exit("found %d loops, not %d" % (len(found), len(wanted)))
    print("looked at", len(found))


main(sys.argv[1], int(sys.argv[2]))

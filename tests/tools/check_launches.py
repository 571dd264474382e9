#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_launches.py PROTON PROFILE OUTPUT: how kernels were launched, as bench/cuda_launches has said it, against what
was saved of it, and what follows from that for a multiprocessor."""
import json
import re
import subprocess
import sys

LEAST_REGISTERS = 16  # that CUPTI tells, also of kernels that need fewer (CUDA 13.0 on an H200)


def proton(*words):
    return subprocess.run([sys.argv[1], *words, sys.argv[2]], capture_output=True, text=True, check=True).stdout


def saved():
    p = json.loads(proton("export", "-f", "json"))
    names = {node["id"]: node["name"] for node in p["nodes"]}
    return {(names[c["node"]], c["grid_x"], c["block_x"], c["dynamic_shared_bytes"]): c for c in p["launch_configs"]}


def shown():
    """By kernel, grid and block: the share of warps, of each row that has these."""
    lines = proton("report", "--view", "launches", "--width", "200").splitlines()
    titles, rows = re.split("  +", lines[0].strip()), {}
    for line in lines[1:]:
        cells = re.split("  +", line.strip())
        if len(cells) != len(titles):
            continue
        row = dict(zip(titles, cells))
        rows.setdefault((row["KERNEL"], row["GRID"], row["BLOCK"]), set()).add(row["OCC%"])
    return rows


def main():
    configs, rows, n = saved(), shown(), 0
    for line in open(sys.argv[3]):
        if not line.startswith("launch "):
            continue
        name, *numbers = line.split()[1:]
        grid, block, cluster, registers, static, dynamic, local, blocks, warps = map(int, numbers)
        c = configs.get((name, grid, block, dynamic))
        have = c and [c["registers"], c["static_shared_bytes"], c.get("local_bytes"), c.get("cluster_x") or 0, c["count"]]
        if have != [max(registers, LEAST_REGISTERS), static, local, cluster, 2]:
            print(line.strip(), "is saved as", c)
        percent = f"{100 * blocks * ((block + 31) // 32) / warps:.1f}"
        if percent not in rows.get((name, str(grid), str(block)), set()):
            print(line.strip(), "has", percent, "% of the warps, shown as", rows.get((name, str(grid), str(block))))
        n += 1
    print(n, "launches")


main()

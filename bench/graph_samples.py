#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""graph_samples.py BUILD [--replays N] [--period N] [--beside]: can samples of code say how long kernels in whole graphs ran?

Records bench/cuda_graph_mix by node, which is the truth, and with whole graphs and samples of code. A multiprocessor gives two
samples in 2^PERIOD cycles while a warp is in it, so samples over twice the multiprocessors that the grid can be in are a time;
what is missing of the graphs' total is given to each kernel alike. Prints both times of each kernel, and the error.
Needs a GPU and `make cuda-programs`. docs/adr/0067-no-times-by-samples.md has what it said."""
import argparse
import collections
import json
import os
import subprocess
import tempfile

LAYERS = 20  # of the program, by itself
NOWHERE = "<samples of kernels that were not recorded>"


def record(options, name, *more):
    file = os.path.join(options.folder, name + ".hatchet")
    program = [os.path.join(options.build, "bench", "cuda_graph_mix"), "-n", str(options.replays)] + ["-b"] * options.beside
    out = subprocess.run([os.path.join(options.build, "proton"), "record", "-q", "-o", file, *more, "--", *program],
                         check=True, capture_output=True, text=True).stdout
    facts = {w[1]: tuple(map(int, w[2:5])) for w in map(str.split, out.splitlines()) if w[:1] == ["fact"]}
    with open(file, encoding="utf-8") as f:
        root, device = json.load(f)
    return facts, root, device["CUDA"]["0"]


def add(node, kernel, sums):
    """Samples and times below a node, by kernel; the time of whole graphs."""
    name, metrics = node["frame"]["name"], node["metrics"]
    time_ns = metrics.get("time (ns)", 0) if metrics.get("count") else 0
    if name.startswith("<graph"):
        sums["graphs"][1] += time_ns
    elif time_ns or kernel == NOWHERE:
        kernel = name
        sums[name][1] += time_ns
    sums[kernel][0] += metrics.get("num_samples", 0)
    for child in node["children"]:
        add(child, NOWHERE if name == NOWHERE else kernel, sums)


def summed(root):
    sums = collections.defaultdict(lambda: [0, 0])
    add(root, None, sums)
    return sums


def busy(grid, per_sm, n_sms):
    """Multiprocessors in the mean, as if all blocks took equally long."""
    wave = per_sm * n_sms
    full, rest = divmod(grid, wave)
    return (full * n_sms + min(rest, n_sms)) / (full + (rest > 0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--replays", type=int, default=300)
    parser.add_argument("--period", type=int, default=14)
    parser.add_argument("--beside", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as options.folder:
        facts, root, device = record(options, "nodes", "--graphs", "nodes")
        truth = summed(root)
        _, root, _ = record(options, "whole", "--graphs", "whole", f"--pc-sampling=2^{options.period},buffer=512MiB")
        sampled = summed(root)
    period_ns = 2 ** options.period / (device["clock_rate"] / 1e6)
    by_samples = {k: sampled[k][0] * period_ns / 2 / busy(grid, per_sm, device["num_sms"])
                  for k, (grid, _, per_sm) in facts.items()}
    gap_ns = (sampled["graphs"][1] - sum(by_samples.values())) / (len(facts) * LAYERS * options.replays)
    print(f"by samples {sum(by_samples.values()) / 1e6:.0f} ms of {sampled['graphs'][1] / 1e6:.0f}: {gap_ns:.0f} ns a kernel missing")
    for k in sorted(facts, key=lambda k: -truth[k][1]):
        ns = by_samples[k] + gap_ns * LAYERS * options.replays
        print(f"{k:16} grid {facts[k][0]:5} samples {sampled[k][0]:8} by node {truth[k][1] / 1e6:7.2f} ms "
              f"by samples {ns / 1e6:7.2f} ms {100 * (ns / truth[k][1] - 1):+6.1f} %")


main()

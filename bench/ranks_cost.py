#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a rank pays for being recorded, alone and beside others: ranks_cost.py BUILD [--rounds N] [--seconds S]
[--ranks 1,N] [--mode ddp]

The job of bench/ranks.py by torchrun, with each number of ranks (1, and one a GPU) bare, under CUPTI's floor with
callbacks at each launch (bench/floor_callbacks.so, make cuda-programs) and under `proton record`; round by round each way
once, in an order that rotates. The time of a step is the median of a run; of a way, median and minimum over rounds, and
ratios of the same round (median)."""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

WAYS = "bare", "floor", "record"


def n_gpus():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
    return len(re.findall("^GPU", listed, re.M))


def step_us(options, way, n_ranks, folder):
    job = ["torchrun", "--nproc-per-node", str(n_ranks), os.path.join(os.path.dirname(__file__), "ranks.py"),
           "--seconds", str(options.seconds), options.mode]
    env = dict(os.environ)
    if way == "floor":
        env["CUDA_INJECTION64_PATH"] = os.path.abspath(os.path.join(options.build, "bench/floor_callbacks.so"))
    if way == "record":
        job = [os.path.join(options.build, "proton"), "record", "-q", "-o", os.path.join(folder, "ranks.hatchet"), "--"] + job
    ended = subprocess.run(job, env=env, capture_output=True, text=True)
    said = re.search(r"^result step_us=([\d.]+)", ended.stdout, re.M)
    if ended.returncode or not said:
        sys.exit(f"{' '.join(job)}: status {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return float(said[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--mode", default="ddp")
    options = parser.parse_args()
    numbers = options.ranks or sorted({1, n_gpus()})
    order = [(n, way) for n in numbers for way in WAYS]
    runs = {key: [] for key in order}
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.rounds):
            turn = i * len(order) // options.rounds
            for n, way in order[turn:] + order[:turn]:
                runs[n, way].append(step_us(options, way, n, folder))
                print(f"round {i} {n} ranks {way}: {runs[n, way][-1]:.0f} us a step", flush=True)
    for n, way in order:
        ratios = [f"{statistics.median(a / b for a, b in zip(runs[n, way], runs[n, base])):.3f} of {base}"
                  for base in WAYS[:WAYS.index(way)]]
        print(f"{n} ranks {way:6} {statistics.median(runs[n, way]):7.0f} us a step (least {min(runs[n, way]):.0f})  "
              + ", ".join(ratios))


main()

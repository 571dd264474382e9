#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a region of OpenMP costs under `record`: bench/openmp.py BUILD LIB [ROUNDS]

LIB is the folder of LLVM's runtime (/usr/lib/llvm-19/lib). Compiles bench/omp_regions.c with clang, without
and with offloading to the processor, and runs each way by turns with one thread: nanoseconds a region,
minimum and median of the rounds."""

import os
import statistics
import subprocess
import sys
import tempfile

N = {"parallel": 1000000, "target": 20000}
# program, what it runs, options of record (None: by itself), title
WAYS = [
    ("host", "parallel", None, "parallel, a program that does not offload: bare"),
    ("host", "parallel", ["--no-openmp"], "    record --no-openmp"),
    ("host", "parallel", [], "    record: no tool"),
    ("host", "parallel", ["--omp-parallel"], "    record --omp-parallel"),
    ("offload", "parallel", None, "parallel, a program that offloads: bare"),
    ("offload", "parallel", ["--no-openmp"], "    record --no-openmp"),
    ("offload", "parallel", [], "    record: a tool for target constructs"),
    ("offload", "parallel", ["--omp-parallel"], "    record --omp-parallel"),
    ("offload", "target", None, "target, on the processor: bare"),
    ("offload", "target", ["--no-openmp"], "    record --no-openmp"),
    ("offload", "target", [], "    record"),
]


def compile_in(folder, lib):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "omp_regions.c")
    for name, options in (("host", []), ("offload", [f"-fopenmp-targets={os.uname().machine}-pc-linux-gnu"])):
        subprocess.run([os.environ.get("CLANG", "clang"), "-O2", "-fopenmp", *options, f"-L{lib}", "-o",
                        os.path.join(folder, name), source], check=True, stderr=subprocess.DEVNULL)


def run(build, folder, env, way):
    program, work, options, _ = way
    command = [os.path.join(folder, program), str(N[work])] + (["target"] if work == "target" else [])
    if options is not None:
        profile = os.path.join(folder, "profile.hatchet")
        command = [os.path.join(build, "proton"), "record", "-q", "-o", profile, *options, "--", *command]
    out = subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout
    return float(out.split("ns_per_region=")[1].split()[0])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, lib, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 7
    env = dict(os.environ, OMP_NUM_THREADS="1")
    env["LD_LIBRARY_PATH"] = ":".join(filter(None, (lib, env.get("LD_LIBRARY_PATH"))))
    times = [[] for _ in WAYS]
    with tempfile.TemporaryDirectory() as folder:
        compile_in(folder, lib)
        for _ in range(rounds):
            for i, way in enumerate(WAYS):
                times[i].append(run(build, folder, env, way))
    for way, t in zip(WAYS, times):
        print(f"{way[3]:52} {min(t):9.1f} {statistics.median(t):9.1f} ns")


main()

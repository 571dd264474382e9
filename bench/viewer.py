#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles as text and on the screen: bench/viewer.py BUILD [--rounds N]

Makes a tree of 50,000 and one of 1,000,000 nodes and prints, in seconds of the processor: reading
against a bare scan by yajl, interleaved; 'proton viewer -m time/ns' against Triton's proton-viewer
where that is installed or PROTON_TRITON_DIR names one; the keys of the screen that take more than
16 ms. Needs what `make viewer-programs` builds."""
import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

from cpu import make_tree

TRITON = """
import sys
sys.argv = ["compare_viewer.py"]
import importlib.util
spec = importlib.util.spec_from_file_location("validate", %r)
validate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(validate)
viewer = validate.load_viewer()
sys.argv = ["proton-viewer", "-m", "time/ns", %r]
viewer.main()
"""


def cpu_s(cmd):
    """Seconds of the processor that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interleaved(rounds, **commands):
    """{name: (minimum, median)} of commands that take turns."""
    taken = {name: [] for name in commands}
    for _ in range(rounds):
        for name, cmd in commands.items():
            taken[name].append(cpu_s(cmd))
    return {name: (min(t), statistics.median(t)) for name, t in taken.items()}


def compare_triton(build, path):
    validate = os.path.join(os.path.dirname(__file__), "..", "tests", "tools", "validate_hatchet.py")
    try:
        theirs = cpu_s([sys.executable, "-c", TRITON % (validate, path)])
    except subprocess.CalledProcessError as error:
        print("Triton's viewer: left out (%s)" % error.stderr.decode().strip().split("\n")[-1])
        return
    ours = interleaved(5, ours=[build + "/proton", "viewer", "-m", "time/ns", path])["ours"]
    print("-m time/ns: Triton's viewer %.1f s, ours %.3f s: %.0fx" % (theirs, ours[1], theirs / ours[1]))


def slow_keys(build, path, rounds):
    out = subprocess.run([build + "/bench/keys", path, str(rounds)], stdout=subprocess.PIPE, check=True,
                         text=True).stdout.splitlines()
    read = float(re.match(r"read +([0-9.]+) ms", out[0])[1]) / 1e3
    keys = [line.rsplit(None, 2) for line in out[2:]]
    slow = sorted({(float(ms), key) for key, _, ms in keys if float(ms) > 16}, reverse=True)
    print("keys: %d of %d within 16 ms; %s" % (sum(float(k[2]) <= 16 for k in keys), len(keys),
          ", ".join("'%s' %.0f ms" % (key, ms) for ms, key in slow) or "none above"))
    return read


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for n in (50000, 1000000):
            path = os.path.join(folder, "%d.hatchet" % n)
            make_tree(path, n)
            print("%d nodes, %d bytes" % (n, os.path.getsize(path)))
            scan = interleaved(args.rounds, scan=[args.build + "/bench/yajl_scan", path])["scan"]
            read = slow_keys(args.build, path, 3)
            print("reading: %.3f s, scan %.3f s: %.2fx" % (read, scan[0], read / scan[0]))
            if n == 50000:
                compare_triton(args.build, path)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels whose names read alike: bench/ambiguous.py PROTON FILE...

Reads traces of PyTorch's profiler (Chrome JSON, gzip or not) by a reader of its own, and what
'proton export -f csv --names short' calls their kernels; prints for each trace how many kernels have
a name, how many of them share their short name with another one, and of how much kernel time; the
same of names as far as their first '<' or '(', which is what most tools show. The last line is of
one profile with the kernels of all traces."""
import collections
import csv
import gzip
import json
import re
import subprocess
import sys
import tempfile


def kernels_of(path):
    """Microseconds of each kernel's name in a trace."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", errors="replace") as f:
        trace = json.load(f, strict=False)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    times = collections.Counter()
    for event in events:
        if event.get("ph") == "X" and str(event.get("cat")).lower() == "kernel":
            times[event["name"]] += event["dur"]
    return times


def names_of(proton, path, mode):
    out = subprocess.run([proton, "export", "-f", "csv", "--names", mode, path], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [row["name"] for row in csv.DictReader(out.splitlines()) if row["kind"] == "kernel"]


def shown_of(proton, path):
    """What each kernel is called on the screen."""
    return dict(zip(names_of(proton, path, "raw"), names_of(proton, path, "short")))


def ambiguous(shown):
    """Of {kernel: name}, the kernels whose name another one has, too."""
    times = collections.Counter(shown.values())
    return [kernel for kernel, name in shown.items() if times[name] > 1]


def line(title, times, shown):
    total = sum(times.values()) or 1
    cut = {kernel: re.split(r"[<(]", kernel.replace("(anonymous namespace)", ""))[0] for kernel in shown}
    counts = []
    for names in (cut, shown):
        alike = ambiguous(names)
        counts += [len(alike), 100 * sum(times[kernel] for kernel in alike) / total]
    print("%6d %6d %5.1f%% %6d %5.1f%%  %s" % (len(shown), *counts, title))


def main():
    proton, paths = sys.argv[1], sys.argv[2:]
    everything, n_traces = collections.Counter(), 0
    print("%6s %6s %6s %6s %6s  %s" % ("names", "cut", "time", "alike", "time", "trace"))
    for path in paths:
        times = kernels_of(path)
        shown = shown_of(proton, path)
        if set(shown) != set(times):
            print("  other kernels than in the trace: " + path)
        elif times:
            line(path.split("/")[-1], times, shown)
            everything.update(times)
            n_traces += 1
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump({"traceEvents": [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7,
                                    "ts": 0, "dur": dur} for name, dur in everything.items()]}, f)
        f.flush()
        line("%d traces in one profile" % n_traces, everything, shown_of(proton, f.name))


main()

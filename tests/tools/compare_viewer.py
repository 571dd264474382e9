#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_viewer.py PROTON FOLDER: 'proton viewer' beside Triton's proton-viewer.

Both print the example files in FOLDER with every metric name and option; the text must be the same,
but for the differences on purpose, which are named here (class Purpose). Exit status 77, with the
reason, where Hatchet or Triton's viewer is missing. PROTON_TRITON_DIR may name a folder that holds
triton/profiler/viewer.py: no more of Triton is needed."""
import contextlib
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings

import validate_hatchet as validate

warnings.simplefilter("ignore")

UNITS = ["s", "ms", "us", "ns"]
METRICS = (
    [f"{name}/{unit}" for name in ("time", "avg_time", "cpu_time", "avg_cpu_time") for unit in UNITS]
    + [f"{p}flop{w}/s" for p in ("", "g", "t") for w in ("", "8", "16", "32", "64")]
    + ["byte/s", "gbyte/s", "tbyte/s", "util", "time/%", "count/%", "bytes/%", "flops8/%"]
    + ["time", "TIME", "count", "bytes", "flops", "flops8", "cpu_time", "cycles", "normalized_cycles"]
    + ["num_samples", "stalled_wait", "nothing", "time/furlongs", "nothing/%"]
)
OPTIONS = (
    [["-l"], ["-m", "time/ns,count"], ["-m", "time/us", "--print-sorted"]]
    + [["-m", "time/us", "-d", str(d)] for d in (0, 1, 2, 3, 50)]
    + [["-m", "count", "-f", f] for f in ("full", "file_function_line", "function_line", "file_function")]
    + [["-m", m, "-t", t] for m in ("time/us", "count", "time") for t in ("0", "1", "100", "1e9")]
    + [["-m", m, "-i", r] for m in ("time/us", "time", "count", "util", "time/%")
       for r in ("foo0", ".*_1.*", "kernel_[12]_.*", "no such", "ROOT", "(?:test|foo)1")]
    + [["-m", m, "-e", r] for m in ("time/us", "time", "count", "time/%")
       for r in ("foo0", ".*_1.*", "kernel_[12]_.*", "no such", "(?:test|foo)1")]
)


class Purpose(Exception):
    """Why a difference is one on purpose."""


def purpose(args, theirs, ours):
    """Raises Purpose where the two may differ; theirs is None where Triton's viewer breaks."""
    metric = args[args.index("-m") + 1] if "-m" in args else ""
    if theirs is None:
        if ours is None:
            raise Purpose("an error in both: one line here, a traceback there")
        if metric == "util":
            raise Purpose("util where no bytes or no such device are known: Triton's viewer fails")
        if re.match("(avg_)?cpu_time|.*flop|.*byte|count|bytes", metric):
            raise AssertionError("a metric without values: Triton's viewer fails, ours does not")
        if "-i" in args and re.search("no such|foo|kernel|test", args[args.index("-i") + 1]):
            raise Purpose("an expression that leaves nothing but ROOT")
        if "-t" in args or "-e" in args:
            raise Purpose("a filter that leaves nothing but ROOT")
        if "-d" in args:
            raise Purpose("a depth of nothing prints nothing")
        raise AssertionError("Triton's viewer fails")
    if ours is None and not re.search(r"[1-9]|0\.\d*[1-9]", " ".join(line.split("─ ")[-1].split(" ")[0] for line in theirs.splitlines())):
        raise Purpose("a metric without values: one line that says so, not nan and 0 for all")
    if ours is None:
        raise AssertionError("only ours fails")
    if metric == "util" and theirs.replace("0.000 ", "nan ") == ours.replace("0.000 ", "nan "):
        raise Purpose("util of what neither bytes nor operations are known of: nan, not 0")
    if "-l" in args and sorted(theirs.split()) == sorted(ours.split()):
        raise Purpose("metrics by name, not in the order of the first node that has one")
    if "--print-sorted" in args and sorted(theirs.splitlines()) == sorted(ours.splitlines()):
        raise Purpose("equal values stay in the order of the tree")
    if "-diff" in args and missing(ours) == missing(theirs):
        raise Purpose("what is missing now is the negated old value, not nan")
    raise AssertionError("the texts differ")


def missing(text):
    """Without the values of what is missing now."""
    return re.sub(r"(?m)(─ )(?:\S+ )+?(\S+ ▶)", r"\1\2", text)


def upstream(viewer, args):
    output = io.StringIO()
    argv, sys.argv = sys.argv, ["proton-viewer", *args]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
            viewer.main()
    except (Exception, SystemExit):  # whatever it is, a user sees it
        return None
    finally:
        sys.argv = argv
    return output.getvalue()


def own(proton, args):
    done = subprocess.run([proton, "viewer", *args], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2) or (done.returncode and len(done.stderr.splitlines()) != 1):
        raise AssertionError(f"status {done.returncode}: {done.stderr}")
    return None if done.returncode else done.stdout


def compare(viewer, proton, args, counts):
    theirs = upstream(viewer, args)
    ours = own(proton, args)
    if theirs == ours and theirs is not None:
        counts["the same"] = counts.get("the same", 0) + 1
        return 0
    try:
        purpose(args, theirs, ours)
    except Purpose as why:
        counts[str(why)] = counts.get(str(why), 0) + 1
        return 0
    except AssertionError as why:
        print(f"proton viewer {' '.join(args)}: {why}\n--- theirs\n{theirs}\n--- ours\n{ours}")
    return 1


def changed(path, folder):
    """The same run with other times, a kernel less and one more."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r'("time \(ns\)": *)([1-9]\d*)', lambda m: m[1] + str(int(m[2]) * 3 // 2), text)
    names = sorted(set(re.findall(r'"name": *"([^"]+)"', text)) - {"ROOT"})
    text = re.sub(rf'("name": *)"{re.escape(names[-1])}"', r'\1"zz_other"', text)
    out = os.path.join(folder, "changed-" + os.path.basename(path))
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)
    return out


def ties(folder):
    """Times whose last digit depends on the order in which a value is divided."""
    pick = random.Random(1)
    kernels = [{"children": [], "frame": {"name": f"k{i}", "type": "function"},
                "metrics": {"time (ns)": 500 * pick.randint(1, 10 ** pick.randint(1, 6)),
                            "count": pick.choice([1, 2, 3, 4, 8, 16]),
                            "device_id": "0", "device_type": "CUDA"}} for i in range(200)]
    root = {"children": kernels, "frame": {"name": "ROOT", "type": "function"},
            "metrics": {"count": 0, "time (ns)": 0}}
    devices = {"CUDA": {"0": {"arch": "90", "bus_width": 6144, "clock_rate": 1980000,
                              "memory_clock_rate": 2619000, "num_sms": 132}}}
    out = os.path.join(folder, "ties.json")
    with open(out, "w", encoding="utf-8") as f:
        json.dump([root, devices], f)
    return out


def main():
    proton, folder = sys.argv[1:]
    viewer = validate.load_viewer()
    if not viewer:
        print("skipped: there is no Triton (PROTON_TRITON_DIR may name one)")
        return 77
    sys.argv = sys.argv[:1]
    counts, failed = {}, 0
    files = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.startswith(("upstream-", "h200-")))
    with tempfile.TemporaryDirectory() as scratch:
        for path in files + [ties(scratch)]:
            other = changed(path, scratch)
            runs = [["-m", m] for m in METRICS] + OPTIONS
            runs += [["-m", m, "-diff", other] for m in ("time/ns", "count", "avg_time/us", "time/%,count")]
            for args in runs:
                failed += compare(viewer, proton, [*args, path], counts)
    for why, n in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{n:5} {why}")
    return 1 if failed or counts.get("the same", 0) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())

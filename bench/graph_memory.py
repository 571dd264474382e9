#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does memory grow while a graph is replayed for long? graph_memory.py BUILD [--replays N] [--graphs nodes|whole] [--floor]

Runs bench/cuda_graph (100 kernels, two copies and a set) under `proton record` and looks each half second at the memory of the
program (VmRSS) and of the device (nvidia-smi). Prints both after a tenth of the time, in the middle and at the end, and how many
kernels were counted. --floor: CUPTI's own, without us (bench/floor.h)."""
import argparse, json, os, re, subprocess, sys, tempfile, time

p = argparse.ArgumentParser()
p.add_argument("build")
p.add_argument("--replays", type=int, default=250000)
p.add_argument("--graphs", default="nodes")
p.add_argument("--floor", action="store_true")
a = p.parse_args()
tmp = tempfile.mkdtemp()
out, text = os.path.join(tmp, "p.hatchet"), os.path.join(tmp, "p.json")
proton = os.path.join(a.build, "proton")
app = os.path.join(a.build, "bench", "cuda_graph")


def rss_kib(pid):
    for line in open("/proc/%d/status" % pid):
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def program():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink("/proc/%s/exe" % pid) == os.path.realpath(app):
                return int(pid)
        except OSError:
            pass
    return None


cmd, env = [app, "-r", str(a.replays)], dict(os.environ)
if a.floor:
    env["CUDA_INJECTION64_PATH"] = os.path.join(os.path.abspath(a.build), "bench", "floor_activity.so")
    env["FLOOR_FLUSH_MS"] = "100"
    if a.graphs == "whole":
        env["FLOOR_GRAPHS"] = env["FLOOR_PINNED"] = "1"
else:
    cmd = [proton, "record", "-q", "--graphs", a.graphs, "-o", out, "--"] + cmd
run = subprocess.Popen(cmd, env=env, stdout=subprocess.PIPE, text=True)
seen = []
while run.poll() is None:
    time.sleep(0.5)
    pid = program()
    try:
        kib = rss_kib(pid) if pid else 0
    except OSError:
        kib = 0
    mib = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                         stdout=subprocess.PIPE, text=True).stdout.split()
    if kib and mib:
        seen.append((kib, int(mib[0])))
printed = run.stdout.read()
print(re.search("result ns_per_node=.*", printed).group())
wanted = 100 * a.replays if a.graphs == "whole" else int(re.search(r"expect kernels=(\d+)", printed).group(1))
if len(seen) < 10:
    sys.exit("too short to see anything: more --replays")
# The first second has the program's own start in it, the last sample its end.
for what, at in (("a tenth", max(2, len(seen) // 10)), ("half", len(seen) // 2), ("the end", len(seen) - 2)):
    print("%-8s program %d KiB, device %d MiB" % ((what,) + seen[at]))
if a.floor:
    sys.exit(0)
with open(text, "w") as f:
    subprocess.run([proton, "export", "-f", "json", out], stdout=f, check=True)
profile = json.load(open(text))
metric = "graph_kernels" if a.graphs == "whole" else "count"
n = sum(m["metrics"].get(metric, 0) for m in profile["nodes"] if a.graphs == "whole" or m["kind"] == "kernel")
lost = {k: v for k, v in profile["losses"].items() if v and k not in ("pipe_full", "wire_gaps")}
print("kernels %d of %d, losses %s" % (n, wanted, lost))
sys.exit(0 if n == wanted else 1)

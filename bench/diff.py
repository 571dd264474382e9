#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time `proton diff` and `proton merge`: bench/diff.py BUILD [--rounds N] [--ranks N]

Makes its own files: two of 100,000 nodes, and 512 ranks of 5,000 nodes. Prints minimum and median
of the wall-clock and of the processor's time, and peak memory."""
import argparse, json, os, random, resource, statistics, subprocess, sys, tempfile, time


def tree(n, fan=10):
    """A tree of n nodes in order of breadth: (root, leaves)."""
    def node(name):
        return {"children": [], "frame": {"name": name, "type": "function"}, "metrics": {}}

    nodes, at = [node("ROOT")], 0
    nodes[0]["metrics"] = {"count": 0, "time (ns)": 0}
    while len(nodes) < n:
        for i in range(min(fan, n - len(nodes))):
            nodes.append(node("void some_kernel_of_a_library<float, %d>(int, float*)" % i))
            nodes[at]["children"].append(nodes[-1])
        at += 1
    return nodes[0], [x for x in nodes if not x["children"]]


def write(path, root, leaves, seed):
    r = random.Random(seed)
    for leaf in leaves:
        leaf["metrics"] = {"count": 3, "device_id": "0", "device_type": "CUDA",
                           "time (ns)": r.randrange(1000, 100000)}
    with open(path, "w") as f:
        json.dump([root, {"CUDA": {"0": {"arch": "90", "bus_width": 6144, "clock_rate": 1980000,
                                         "memory_clock_rate": 2619000, "num_sms": 132}}}], f)


def measure(name, rounds, cmd):
    walls, cpus, peak = [], [], 0
    for _ in range(rounds):
        t = time.perf_counter()
        p = subprocess.Popen(cmd, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(p.pid, 0)
        walls.append(time.perf_counter() - t)
        cpus.append(usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss)
        if status:
            sys.exit("%s: status %d" % (" ".join(cmd[:3]), status))
    print("%-34s wall %.2f min %.2f median   cpu %.2f min %.2f median   peak %d MiB" %
          (name, min(walls), statistics.median(walls), min(cpus), statistics.median(cpus),
           peak // 1024), flush=True)


def main():
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    a.add_argument("build")
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--ranks", type=int, default=512)
    a = a.parse_args()
    proton = os.path.join(os.path.abspath(a.build), "proton")
    with tempfile.TemporaryDirectory() as tmp:
        path = lambda name: os.path.join(tmp, name)
        root, leaves = tree(100000)
        for i in range(3):
            write(path("big%d.hatchet" % i), root, leaves, i)
        root, leaves = tree(5000)
        ranks = [path("run.rank%d.hatchet" % i) for i in range(a.ranks)]
        for i, rank in enumerate(ranks):
            write(rank, root, leaves, i)
        big = [path("big%d.hatchet" % i) for i in range(3)]
        out = path("out.hatchet")
        measure("diff, 2 x 100,000 nodes", a.rounds, [proton, "diff", big[0], big[1]])
        measure("diff, 20 lines of them", a.rounds, [proton, "diff", "-n", "20", big[0], big[1]])
        measure("merge, %d x 5,000 nodes" % a.ranks, a.rounds, [proton, "merge", "-o", out, *ranks])
        measure("merge, %d x 5,000 nodes" % (a.ranks // 8), a.rounds,
                [proton, "merge", "-o", out, *ranks[:a.ranks // 8]])
        measure("merge --ranks, %d x 5,000 nodes" % a.ranks, a.rounds,
                [proton, "merge", "--ranks", *ranks])


if __name__ == "__main__":
    main()

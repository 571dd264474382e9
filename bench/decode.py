#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A decode loop bare, under us and under others: bench/decode.py BUILD [--rounds N] [--tokens N] [--batch 1,32]
[--ways WAY,...] [--nsys PATH] [--python PATH] [--torch LAYERS] [--check]

Tokens a second of `bench/decode` (one graph of 300 kernels of 2 to 20 us and a small copy a token), round by round
each way once, in an order that rotates: median, range, and the ratio to bare and to the floor of the same kind, the median
of those of each round. Needs `make cuda-programs`.
--nsys: where it is not in PATH. --python: one with Triton, whose Proton profiles the same loop from within.
--torch: PyTorch's modules in the graph, and calling contexts of all kinds (bench/torch_graphs.py), in place of that.
--check: 25,000,000 nodes whole and by node, with the memory of the device meanwhile, and what was counted.
Ways: bare floor-whole floor-nodes whole nodes nsys nsys-nodes triton; one-bare one-record one-nsys launch the kernels
one by one."""
import argparse, json, os, re, shutil, statistics, subprocess, sys, tempfile

TRITON = """
import ctypes, sys
import triton.profiler as proton
proton.start(sys.argv[2], backend="cupti")
l = ctypes.CDLL(sys.argv[1])
l.decode_run.restype = ctypes.c_double
r = l.decode_run(ctypes.c_long(int(sys.argv[3])), 300, int(sys.argv[4]), 0, 0, 0)
proton.finalize()
print("result tokens_per_s=%.1f" % r)
"""


class Decode:
    def __init__(self, options):
        self.o = options
        self.build = os.path.abspath(options.build)
        self.tmp = tempfile.mkdtemp()
        self.nsys = options.nsys or shutil.which("nsys")

    def b(self, name):
        return os.path.join(self.build, "bench", name)

    def record(self, *options):
        return [os.path.join(self.build, "proton"), "record", "-q", "-o", os.path.join(self.tmp, "p.hatchet"),
                *options, "--"]

    def under_nsys(self, *options):
        return [self.nsys, "profile", "--trace=cuda", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true",
                "-o", os.path.join(self.tmp, "nsys"), *options]

    def ways(self, batch):
        loop = [self.b("decode"), "-n", str(self.o.tokens), "-b", str(batch)]
        one = loop + ["-1"]
        if self.o.torch:
            loop = [self.o.python or sys.executable, os.path.join(os.path.dirname(__file__), "torch_graphs.py"),
                    "decode", str(self.o.tokens), str(self.o.torch)]
        floor = {"CUDA_INJECTION64_PATH": self.b("floor_activity.so")}
        ways = {
            "bare": (loop, {}),
            "floor-whole": (loop, dict(floor, FLOOR_GRAPHS="1")),
            "floor-nodes": (loop, floor),
            "whole": (self.record("--graphs", "whole") + loop, {}),
            "nodes": (self.record("--graphs", "nodes") + loop, {}),
            "one-bare": (one, {}),
            "one-record": (self.record() + one, {}),
        }
        if self.nsys:
            ways["nsys"] = (self.under_nsys("--cuda-graph-trace=graph") + loop, {})
            ways["nsys-nodes"] = (self.under_nsys("--cuda-graph-trace=node") + loop, {})
            ways["one-nsys"] = (self.under_nsys() + one, {})
        if self.o.python and not self.o.torch:
            script = os.path.join(self.tmp, "triton_peer.py")
            with open(script, "w") as f:
                f.write(TRITON)
            ways["triton"] = ([self.o.python, script, self.b("decode.so"), os.path.join(self.tmp, "triton"),
                               str(self.o.tokens), str(batch)], {})
        if self.o.ways:
            ways = {name: ways[name] for name in self.o.ways.split(",") if name in ways}
        if self.o.torch:
            ways = {name: way for name, way in ways.items() if not name.startswith("one-")}
        return ways

    def run(self, cmd, env=None):
        r = subprocess.run(cmd, env=dict(os.environ, **(env or {})), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
        if r.returncode:
            print("%s: status %d\n%s" % (" ".join(cmd), r.returncode, r.stderr[-2000:]), file=sys.stderr)
        return r.stdout

    def measure(self, batch):
        ways = self.ways(batch)
        names, got = list(ways), {name: [] for name in ways}
        for i in range(self.o.rounds):
            for name in names[i % len(names):] + names[:i % len(names)]:
                m = re.search(r"result tokens_per_s=([\d.]+)", self.run(*ways[name]))
                got[name].append(float(m.group(1)) if m else None)
        self.show(batch, got)

    @staticmethod
    def ratio(got, name, base):
        of = [a / b for a, b in zip(got[name], got.get(base, [])) if a and b]
        return "%.3f of %s" % (statistics.median(of), base) if of and name != base else ""

    @classmethod
    def show(cls, batch, got):
        for name, runs in got.items():
            v = [n for n in runs if n]
            if not v:
                print("batch %-3d %-12s did not run" % (batch, name))
                continue
            bases = ["one-bare" if name.startswith("one-") else "bare", "floor-" + name.split("-")[-1]]
            ratios = filter(None, (cls.ratio(got, name, base) for base in bases))
            print("batch %-3d %-12s %7.1f tokens/s (%.1f to %.1f, n=%d)  %s" % (
                batch, name, statistics.median(v), min(v), max(v), len(v), ", ".join(ratios)))
        sys.stdout.flush()

    # 301 nodes a token: 83,057 of them are 25,000,157.
    def check(self):
        for graphs in ("whole", "nodes"):
            path = os.path.join(self.tmp, "check.hatchet")
            cmd = self.record("--graphs", graphs)
            cmd[cmd.index("-o") + 1] = path
            out = self.run(cmd + [self.b("decode"), "-e", "-m", "-n", "83057"])
            mib = [float(v) for v in re.findall(r"result device_mib=([\d.]+)", out)]
            sums, lost = self.sums(path)
            print("%s: memory of the device in MiB: %s" % (graphs, " ".join("%.0f" % v for v in mib)))
            print("%s: %s, losses %s" % (graphs, sums, lost))
            print("%s: wanted: %s" % (graphs, " ".join(re.findall(r"expect (\S+)", out))))

    def sums(self, path):
        text = subprocess.run([os.path.join(self.build, "proton"), "export", "-f", "json", path],
                              stdout=subprocess.PIPE, text=True).stdout
        p = json.loads(text)
        sums = {}
        for n in p["nodes"]:
            for key in ("count", "graph_nodes", "graph_kernels"):
                if n["metrics"].get(key):
                    name = "%s %s" % (n["kind"], key)
                    sums[name] = sums.get(name, 0) + n["metrics"][key]
        return sums, {k: v for k, v in p["losses"].items() if v}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--batch", default="1,32")
    parser.add_argument("--ways")
    parser.add_argument("--nsys")
    parser.add_argument("--python")
    parser.add_argument("--torch", type=int)
    parser.add_argument("--check", action="store_true")
    decode = Decode(parser.parse_args())
    if decode.o.check:
        decode.check()
        return
    for batch in decode.o.batch.split(","):
        decode.measure(int(batch))


if __name__ == "__main__":
    main()

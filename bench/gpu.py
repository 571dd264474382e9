#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure proton on a GPU: bench/gpu.py BUILD [--rounds N] [NAME ...]

Every comparison is interleaved: round by round each way runs once, in an order that rotates. Each
line has minimum and median, and the ratio of both to the floor or to the bare run. Needs what
`make cuda-programs` builds. The names: launch storm threads graph whole everything gpubound torch start latency
memory. whole: beside nsys where it is found (--nsys PATH)."""
import argparse, os, re, shutil, statistics, struct, subprocess, sys, tempfile, time

TORCH_LOOP = """
import sys, time, torch
how, n = sys.argv[1], int(sys.argv[2])
x = torch.zeros(128, device='cuda')
for _ in range(1000): torch.add(x, 1, out=x)
torch.cuda.synchronize()
prof = None
if how.startswith('triton'):
    import triton.profiler as proton
    proton.start('/tmp/triton_peer', context=how.split('_')[1])
    for _ in range(100): torch.add(x, 1, out=x)
elif how == 'torchprof':
    prof = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]); prof.__enter__()
if how == 'scoped': torch.cuda.nvtx.range_push('loop')
t = time.perf_counter_ns()
for _ in range(n): torch.add(x, 1, out=x)
torch.cuda.synchronize()
a = time.perf_counter_ns()
if how.startswith('triton'): proton.finalize()
elif prof: prof.__exit__(None, None, None)
b = time.perf_counter_ns()
print('ns %.1f %.1f' % ((a - t) / n, (b - t) / n))
"""


class Bench:
    def __init__(self, build, rounds, nsys):
        self.build = os.path.abspath(build)
        self.rounds = rounds
        self.nsys = nsys or shutil.which("nsys")
        self.proton = os.path.join(self.build, "proton")
        self.tmp = tempfile.mkdtemp()

    def b(self, name):
        return os.path.join(self.build, "bench", name)

    def run(self, cmd, env=None, check=True):
        e = dict(os.environ)
        e.update(env or {})
        r = subprocess.run(cmd, env=e, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if check and r.returncode:
            sys.exit("%s: status %d\n%s" % (" ".join(cmd), r.returncode, r.stderr[-2000:]))
        return r.stdout

    def record(self, *options):
        return [self.proton, "record", "-q", "-o", os.path.join(self.tmp, "p.hatchet"), *options, "--"]

    def ways(self, ways, parse):
        """ways: {name: (cmd, env)}; parse: stdout -> number. Interleaved rounds."""
        got = {name: [] for name in ways}
        names = list(ways)
        for i in range(self.rounds):
            for name in names[i % len(names):] + names[:i % len(names)]:
                cmd, env = ways[name]
                got[name].append(parse(self.run(cmd, env)))
        return got

    def show(self, what, unit, got, base):
        for name, v in got.items():
            lo, mid = min(v), statistics.median(v)
            print("%-10s %-22s min %10.1f  median %10.1f %s   x%.3f min  x%.3f median of %s" % (
                what, name, lo, mid, unit, lo / min(got[base]), mid / statistics.median(got[base]), base))
        sys.stdout.flush()

    def storm_ways(self, cmd):
        return {
            "bare": (cmd, {}),
            "floor activity": (cmd, {"CUDA_INJECTION64_PATH": self.b("floor_activity.so")}),
            "floor act+callbacks": (cmd, {"CUDA_INJECTION64_PATH": self.b("floor_callbacks.so")}),
            "proton record": (self.record() + cmd, {}),
            "record --no-count": (self.record("--no-count-launches") + cmd, {}),
        }

    def launch(self):
        env = {"PROTON_CUPTI_PATH": self.b("cupti_switch.so")}
        for i in range(3):
            print(self.run(self.record() + [self.b("launch_cost")], env).strip())

    @staticmethod
    def median_of(out):
        return float(re.search(r"result ns_per_launch_median=([\d.]+)", out).group(1))

    def storm(self):
        got = self.ways(self.storm_ways([self.b("cuda_storm"), "-n", "200000"]), self.median_of)
        self.show("storm", "ns/launch", got, "floor activity")

    def threads(self):
        got = self.ways(self.storm_ways([self.b("cuda_storm"), "-n", "100000", "-t", "4"]), self.median_of)
        self.show("threads4", "ns/launch", got, "floor act+callbacks")

    def timed(self, cmd, env=None):
        t = time.perf_counter_ns()
        self.run(cmd, env)
        return time.perf_counter_ns() - t

    def gpubound(self):
        cmd = [self.b("cuda_gpubound"), "-s", "2"]
        ways = {k: v for k, v in self.storm_ways(cmd).items() if k in ("bare", "proton record")}
        got = self.ways(ways, lambda out: float(re.search(r"result us_per_round=([\d.]+)", out).group(1)))
        self.show("gpubound", "us/round", got, "bare")

    def graph(self):
        cmd = [self.b("cuda_graph"), "-r", "2000"]
        got = self.ways(self.storm_ways(cmd),
                        lambda out: float(re.search(r"result ns_per_node=([\d.]+)", out).group(1)))
        self.show("graph", "ns/node", got, "floor activity")

    def whole(self):
        cmd = [self.b("cuda_graph"), "-r", "2000"]
        floor = {"CUDA_INJECTION64_PATH": self.b("floor_activity.so"), "FLOOR_GRAPHS": "1"}
        ways = {
            "bare": (cmd, {}),
            "floor whole": (cmd, floor),
            "floor whole, pinned": (cmd, dict(floor, FLOOR_PINNED="1")),
            "record --graphs whole": (self.record("--graphs", "whole") + cmd, {}),
        }
        if self.nsys:
            ways["nsys"] = ([self.nsys, "profile", "--trace=cuda", "--sample=none", "--cpuctxsw=none",
                             "--force-overwrite=true", "-o", os.path.join(self.tmp, "nsys"),
                             "--cuda-graph-trace=graph"] + cmd, {})
        got = self.ways(ways, lambda out: float(re.search(r"result ns_per_node=([\d.]+)", out).group(1)))
        self.show("whole", "ns/node", got, "bare")

    # Memory (49), its pools (50) and waits (38), and what is told of calls: each beside CUPTI's own with the same.
    def everything(self):
        cmd = [self.b("cuda_mixed")]
        floor = {"CUDA_INJECTION64_PATH": self.b("floor_callbacks.so")}
        pairs = (("memory", {"FLOOR_KINDS": "49,50"}, []),
                 ("memory sync", {"FLOOR_KINDS": "49,50,38"}, ["--sync"]),
                 ("memory sync api", {"FLOOR_KINDS": "49,50,38", "FLOOR_API": "1"}, ["--sync", "--api"]),
                 ("memory sync trace", {"FLOOR_KINDS": "49,50,38"}, ["--sync", "--trace"]))
        ways = {"bare": (cmd, {})}
        for name, env, options in pairs:
            ways["floor " + name] = (cmd, dict(floor, **env))
            ways["record " + name] = (self.record(*options) + cmd, {})
        got = self.ways(ways, lambda out: float(re.search(r"result ns_per_round_median=([\d.]+)", out).group(1)))
        for name, _, _ in pairs:
            self.show("everything", "ns/round", {k: got[k] for k in ("bare", "floor " + name, "record " + name)},
                      "floor " + name)

    def torch(self):
        script = os.path.join(self.tmp, "loop.py")
        open(script, "w").write(TORCH_LOOP)
        py = lambda how: [sys.executable, script, how, "100000"]
        ways = {
            "bare": (py("bare"), {}),
            "floor act+callbacks": (py("bare"), {"CUDA_INJECTION64_PATH": self.b("floor_callbacks.so")}),
            "proton record": (self.record() + py("bare"), {}),
            "proton record, scope": (self.record() + py("scoped"), {}),
            "triton proton shadow": (py("triton_shadow"), {}),
            "triton proton python": (py("triton_python"), {}),
            "torch.profiler": (py("torchprof"), {}),
        }
        both = self.ways(ways, lambda out: [float(v) for v in re.search(r"ns ([\d.]+) ([\d.]+)", out).groups()])
        self.show("torch.add", "ns/op", {k: [x[0] for x in v] for k, v in both.items()}, "bare")
        self.show("+finalize", "ns/op", {k: [x[1] for x in v] for k, v in both.items()}, "bare")

    def start(self):
        n = 40
        def loop(cmd):
            t = time.perf_counter_ns()
            for _ in range(n):
                self.run(cmd)
            return (time.perf_counter_ns() - t) / n / 1e6
        got = {"/bin/true": [], "proton record /bin/true": []}
        for _ in range(self.rounds):
            got["/bin/true"].append(loop(["/bin/true"]))
            got["proton record /bin/true"].append(loop(self.record() + ["/bin/true"]))
        self.show("start", "ms", got, "/bin/true")

    def latency(self):
        for rate in (10, 100, 1000, 50000):
            times, tape = os.path.join(self.tmp, "times"), os.path.join(self.tmp, "tape")
            self.run(self.record("--tape", tape) + [self.b("cuda_rate"), "-r", str(rate), "-s", "4", "-o", times])
            launches = [t[0] for t in struct.iter_unpack("<Q", open(times, "rb").read())]
            arrivals = self.arrivals(tape)
            late, at = [], 0
            for i, t in enumerate(launches):
                while at < len(arrivals) and arrivals[at][1] <= i:
                    at += 1
                if at < len(arrivals):
                    late.append((arrivals[at][0] - t) / 1e6)
            late.sort()
            print("latency    %6d launches/s  median %6.1f  p95 %6.1f  max %6.1f ms to the pipe, %d of %d" % (
                rate, late[len(late) // 2], late[int(len(late) * .95)], late[-1], len(late), len(launches)))
            sys.stdout.flush()

    @staticmethod
    def arrivals(tape):
        """(send time, cumulative kernels of the busiest slot), from the KERNELS frames (kind 11)."""
        data, at, out = open(tape, "rb").read(), 32, []
        while at + 32 <= len(data):
            magic, kind, length, n, _, _, sent = struct.unpack_from("<HHHHQQQ", data, at)
            if magic != 0x5057:
                break
            if kind == 11:
                for i in range(n):
                    count = struct.unpack_from("<Q", data, at + 32 + 40 * i + 16)[0]
                    if not out or count > out[-1][1]:
                        out.append((sent, count))
            at += (length + 7) & ~7
        return out

    def memory(self):
        def rss(cmd, env=None):
            return int(re.search(r"VmRSS:\s+(\d+)", self.run(cmd, env)).group(1)) / 1024
        cmd = [self.b("cuda_contexts")]
        got = {"floor act+callbacks": [], "proton record": []}
        for _ in range(3):
            got["floor act+callbacks"].append(rss(cmd, {"CUDA_INJECTION64_PATH": self.b("floor_callbacks.so")}))
            got["proton record"].append(rss(self.record() + cmd))
        self.show("memory", "MiB RSS", got, "floor act+callbacks")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("names", nargs="*")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--nsys")
    a = p.parse_intermixed_args()
    b = Bench(a.build, a.rounds, a.nsys)
    for name in a.names or "launch storm threads graph gpubound torch start latency memory".split():
        getattr(b, name)()


main()

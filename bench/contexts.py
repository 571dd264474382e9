#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What calling contexts cost unmodified PyTorch programs: bench/contexts.py BUILD [--rounds N] [NAME ...]

Each program runs bare, under `record` with each choice of contexts, and under its peers, interleaved: round by
round each way once, in an order that rotates; a run takes the time --times times, and says it at once. A line has
minimum and median of the host's time for an operation (of a hundred blocks of them, the tenth from below) or a
step, and the ratio of both to `record --context scopes`; then what a profile of each way has: executions, how many
contexts were guessed, how deep. The names: ops (one small operation, 20 Python frames deep), train (a step of a
small transformer), threads (16 that do small operations). No run begins that would not end within --seconds for
each name: then there are fewer rounds.

With --mock no GPU is needed (make check_LTLIBRARIES first): PyTorch works on the processor, and each of its
operators launches a kernel of tests/mocks."""
import argparse, json, os, re, statistics, subprocess, sys, tempfile, time

PROGRAM = """
import sys, threading, time, torch
import torch.nn as nn
what, how, n, times, mocks = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
dev = 'cpu' if mocks else 'cuda'
done = torch.cuda.synchronize
if mocks:
    import ctypes
    torch.set_num_threads(1)
    done = lambda: None
    driver = ctypes.CDLL(mocks + '/libcuda.so.1')
    driver.cuInit(0)
    ctypes.CDLL(mocks + '/torch_launch.so').torch_launch_begin((mocks + '/libcuda.so.1').encode())

def ops():
    x = torch.zeros(128, device=dev)
    def deep(levels, times):
        if levels:
            return deep(levels - 1, times)
        for _ in range(times):
            torch.neg(x, out=x)
    return lambda times: deep(18, times), 1

class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        a = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** .5, -1)
        return self.out(a @ v)

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm1, self.norm2, self.attention = nn.LayerNorm(d), nn.LayerNorm(d), Attention(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))

def train():
    d = 128
    model = nn.Sequential(*[Block(d) for _ in range(4)]).to(dev)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    x = torch.randn(4, 64, d, device=dev)
    def steps(times):
        for _ in range(times):
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    return steps, 1

def threads():
    def work(times):
        x = torch.zeros(128, device=dev)
        for _ in range(times):
            torch.add(x, 1, out=x)
    def run(times):
        all = [threading.Thread(target=work, args=(times // 16,)) for _ in range(16)]
        for t in all: t.start()
        for t in all: t.join()
    return run, 1

run, per = {'ops': ops, 'train': train, 'threads': threads}[what]()
run(max(n // 10, 16))
done()
prof = None
if how.startswith('triton'):
    import triton.profiler as proton
    proton.start('/tmp/contexts_peer', context=how.split('_')[1])
    run(max(n // 100, 16))
elif how == 'torchprof':
    A = torch.profiler.ProfilerActivity
    prof = torch.profiler.profile(activities=[A.CPU, A.CUDA]); prof.__enter__()
blocks = 100 if what == 'ops' else 1
for _ in range(times):
    ns = []
    for _ in range(blocks):
        t = time.perf_counter_ns()
        run(n // blocks)
        done()
        ns.append((time.perf_counter_ns() - t) * blocks / n)
    print('ns %.1f' % sorted(ns)[blocks // 10], flush=True)
if how.startswith('triton'): proton.finalize()
elif prof: prof.__exit__(None, None, None)
"""
N = {"ops": 50000, "train": 100, "threads": 48000}
CHOICES = ("scopes", "python", "torch", "python,torch", "native", "auto")


class Bench:
    def __init__(self, build, a, tmp):
        self.proton = os.path.join(os.path.abspath(build), "proton")
        self.rounds, self.times, self.seconds, self.tmp = a.rounds, a.times, a.seconds, tmp
        self.peers = [x for x in a.peers.split(",") if x]
        self.mocks = os.path.join(os.path.abspath(build), "tests/mocks/.libs") if a.mock else ""
        if a.mock:
            os.environ["PROTON_CUPTI_PATH"] = os.path.join(self.mocks, "mock_cupti.so")
        self.program = os.path.join(self.tmp, "program.py")
        with open(self.program, "w") as f:
            f.write(PROGRAM)
        known = subprocess.run([self.proton, "help", "--list-values", "record:context"],
                               stdout=subprocess.PIPE, text=True).stdout.split()
        self.choices = [c for c in a.choices.split(":") if all(word in known for word in c.split(","))]

    def profile(self, choice):
        return os.path.join(self.tmp, choice + ".hatchet")

    def ways(self, what):
        py = lambda how: [sys.executable, self.program, what, how, str(N[what]), str(self.times), self.mocks]
        ways = {"bare": py("bare")}
        for c in self.choices:
            ways["record --context " + c] = [self.proton, "record", "-q", "--context", c, "-o",
                                             self.profile(c), "--"] + py("bare")
        for peer in self.peers:
            ways[peer] = py(peer)
        return ways

    @staticmethod
    def ns(cmd):
        r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if r.returncode:
            sys.exit("%s: status %d\n%s" % (" ".join(cmd), r.returncode, r.stderr[-2000:]))
        return [float(x) for x in re.findall(r"^ns ([\d.]+)", r.stdout, re.M)]

    def runs(self, ways):
        """Round by round (name, numbers), as long as there is time for the next."""
        names, end, longest = list(ways), time.monotonic() + self.seconds, 0
        for i in range(self.rounds):
            for name in names[i % len(names):] + names[:i % len(names)]:
                start = time.monotonic()
                if start + longest > end:
                    print("%g s are over in round %d" % (self.seconds, i + 1), flush=True)
                    return
                yield name, self.ns(ways[name])
                longest = max(longest, time.monotonic() - start)

    def compare(self, what):
        ways = self.ways(what)
        got = {name: [] for name in ways}
        for name, ns in self.runs(ways):
            got[name] += ns
            print("%-8s   %-28s %s" % (what, name, " ".join("%.0f" % x for x in ns)), flush=True)
        base = got["record --context scopes"] or [float("nan")]
        for name, v in got.items():
            if not v:
                continue
            lo, mid = min(v), statistics.median(v)
            print("%-8s %-30s min %12.1f  median %12.1f ns  x%.3f x%.3f" % (
                what, name, lo, mid, lo / min(base), mid / statistics.median(base)), flush=True)
        for c in self.choices:
            if got["record --context " + c]:
                self.show_profile(what, c)

    def show_profile(self, what, choice):
        text = subprocess.run([self.proton, "export", "-f", "json", self.profile(choice)],
                              stdout=subprocess.PIPE, text=True).stdout
        p = json.loads(text)
        parent = {n["id"]: n["parent"] for n in p["nodes"]}
        def depth(i):
            d = 0
            while i in parent:
                i, d = parent[i], d + 1
            return d
        sums = {k: sum(n["metrics"].get(k, 0) for n in p["nodes"]) for k in ("count", "guessed")}
        lost = {k: v for k, v in p["losses"].items() if v}
        deepest = max(depth(n["id"]) for n in p["nodes"])
        print("%-8s   %-28s %d executions, %d guessed, %d nodes, depth %d, lost %s" % (
            what, choice, sums["count"], sums["guessed"], len(p["nodes"]), deepest, lost or "nothing"), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("names", nargs="*")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--times", type=int, default=3)
    p.add_argument("--seconds", type=float, default=1e9, help="for each name")
    p.add_argument("--choices", default=":".join(CHOICES), help="of contexts, separated by colons")
    p.add_argument("--peers", default="triton_shadow,triton_python,torchprof", help="comma-separated, or ''")
    p.add_argument("--mock", action="store_true")
    a = p.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as tmp:
        b = Bench(a.build, a, tmp)
        for name in a.names or N:
            b.compare(name)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What calling contexts cost unmodified PyTorch programs: bench/contexts.py BUILD [--rounds N] [NAME ...]

Each program runs bare, under `record` with each choice of contexts, and under its peers, all of them at once, but one
at a time works: round by round each once, in an order that rotates, first a while that is not counted (what a budget
saved while the others worked is spent), then one that is. Under `record` a scope is open all the time: without one
there are no callbacks of CUPTI's under `scopes`, which would not be the same work.

A line has minimum and median of the time for an operation or a step, and the ratio of both to `record --context
scopes`, and the median of the ratios of each round: first as it passes, then as the program's own threads work (their
time on a processor, without ours). It is the mean of a round, for `auto` does not do the same at all times; `ops` has
also the tenth from below of a hundred blocks of them (best). The next lines are what a profile of each way has:
executions, how many contexts were guessed, how deep, and how many executions stand elsewhere than with `torch` or
`python`, whichever was named first and before it.

With --observers it is instead what PyTorch takes to tell of operators: under `record --context torch --budget off` the
observers are disabled and called by turns, sixty times in one process, --rounds processes. Which they are is known of a
program that has no others.

The names: ops (one small operation, 20 Python frames deep), train (a step of a small transformer), threads (16 that do
small operations). No round begins that would not end within --seconds for each name: then there are fewer.

BUILD is a build folder or where `make install` put it. With --mock no GPU is needed (make check_LTLIBRARIES first):
PyTorch works on the processor, and each of its operators that would launch a kernel on a GPU launches one of
tests/mocks."""
import argparse, collections, json, os, statistics, subprocess, sys, tempfile, time

PROGRAM = """
import ctypes, glob, os, sys, threading, time, torch
import torch.nn as nn
what, how, n, mocks = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
dev = 'cpu' if mocks else 'cuda'
done = torch.cuda.synchronize
if mocks:
    torch.set_num_threads(1)
    done = lambda: None
    driver = ctypes.CDLL(mocks + '/libcuda.so.1')
    # Before an observer of proton's: it launches as an operator ends, which is to be open still.
    ctypes.CDLL(mocks + '/torch_launch.so').torch_launch_kernels((mocks + '/libcuda.so.1').encode())
    driver.cuInit(0)
if 'PROTON_LIBRARY' in os.environ:
    ctypes.CDLL(os.environ['PROTON_LIBRARY']).proton_api_enter_scope(b'all')

ended_ns = 0
def ended():
    global ended_ns
    ended_ns += time.thread_time_ns()

def worked_ns():
    ns = ended_ns
    for task in glob.glob('/proc/self/task/*'):
        try:
            if not open(task + '/comm').read().startswith('proton'):
                ns += int(open(task + '/schedstat').read().split()[0])
        except OSError:
            pass
    return ns

def ops():
    x = torch.zeros(128, device=dev)
    def deep(levels, times):
        if levels:
            return deep(levels - 1, times)
        for _ in range(times):
            torch.neg(x, out=x)
    return lambda times: deep(18, times)

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
    d, batch, words = (8, 1, 4) if mocks else (128, 4, 64)
    model = nn.Sequential(*[Block(d) for _ in range(4)]).to(dev)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    x = torch.randn(batch, words, d, device=dev)
    def steps(times):
        for _ in range(times):
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    return steps

def threads():
    def work(times):
        x = torch.zeros(128, device=dev)
        for _ in range(times):
            torch.add(x, 1, out=x)
        ended()
    def run(times):
        all = [threading.Thread(target=work, args=(times // 16,)) for _ in range(16)]
        for t in all: t.start()
        for t in all: t.join()
    return run

run = {'ops': ops, 'train': train, 'threads': threads}[what]()
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

def observers():
    cpu = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), 'lib', 'libtorch_cpu.so'))
    # The first, or with mocks the second, was one that went again.
    ours = range(3, 6) if mocks else range(2, 5)
    def switch(called):
        for handle in ours:
            f = cpu._ZN2at16reenableCallbackEm if called else cpu._ZN2at15disableCallbackEm
            f(ctypes.c_uint64(handle))
    for i in range(60):
        for called in (True, False) if i % 2 else (False, True):
            switch(called)
            run(max(n // 100, 16))
            done()
            t, worked = time.perf_counter_ns(), worked_ns()
            run(max(n // 20, 16))
            done()
            per = max(n // 20, 16)
            print('called' if called else 'disabled', (time.perf_counter_ns() - t) / per, (worked_ns() - worked) / per,
                  flush=True)
    switch(True)
    with torch.autograd.profiler.profile() as p:
        run(16)
        done()
    print('records', sum(e.count for e in p.key_averages()) / 16, flush=True)

print('ready', flush=True)
if how == 'observers':
    observers()
    sys.exit()
blocks = 100 if what == 'ops' else 1
for line in sys.stdin:
    run(n // 4)
    done()
    ns, worked = [], worked_ns()
    for _ in range(blocks):
        t = time.perf_counter_ns()
        run(n // blocks)
        done()
        ns.append(time.perf_counter_ns() - t)
    print('ns %.1f %.1f %.1f' % (sum(ns) / n, (worked_ns() - worked) / n, sorted(ns)[blocks // 10] * blocks / n),
          flush=True)
if how.startswith('triton'): proton.finalize()
elif prof: prof.__exit__(None, None, None)
"""
N = {"ops": 100000, "train": 200, "threads": 100000}
N_MOCK = {"ops": 200000, "train": 600, "threads": 200000}
CHOICES = ("scopes", "python", "torch", "python,torch", "native", "auto")


def command_of(build):
    """In a build folder, or where `make install` put it."""
    for place in ("proton", "bin/proton"):
        path = os.path.join(os.path.abspath(build), place)
        if os.path.isfile(path):
            return path
    sys.exit("no command proton in %s" % build)


class Profile:
    def __init__(self, proton, file):
        text = subprocess.run([proton, "export", "-f", "json", file], stdout=subprocess.PIPE, text=True).stdout
        p = json.loads(text)
        self.nodes = {n["id"]: n for n in p["nodes"]}
        self.lost = {k: v for k, v in p["losses"].items() if v}
        self.paths, self.guessed, self.depth = collections.Counter(), 0, 0
        for n in self.nodes.values():
            self.guessed += n["metrics"].get("guessed", 0)
            if n["metrics"].get("count"):
                path = self.path(n)
                self.depth = max(self.depth, len(path))
                self.paths["/".join(path)] += n["metrics"]["count"]

    def path(self, n):
        path = []
        while n:
            path.append(n["name"])
            n = self.nodes.get(n["parent"])
        return path[::-1]

    def executions(self):
        return sum(self.paths.values())

    def elsewhere(self, other):
        """The part of them that stands elsewhere than in the other, however many both have."""
        a, b = self.paths, other.paths
        return sum(abs(a[k] / self.executions() - b[k] / other.executions()) for k in set(a) | set(b)) / 2


class Bench:
    def __init__(self, a, tmp):
        self.proton = command_of(a.build)
        self.rounds, self.seconds, self.tmp = a.rounds, a.seconds, tmp
        self.peers = [x for x in a.peers.split(",") if x]
        self.mocks = os.path.join(os.path.abspath(a.build), "tests/mocks/.libs") if a.mock else ""
        self.program = os.path.join(self.tmp, "program.py")
        with open(self.program, "w") as f:
            f.write(PROGRAM)
        known = subprocess.run([self.proton, "help", "--list-values", "record:context"],
                               stdout=subprocess.PIPE, text=True).stdout.split()
        self.choices = [c for c in a.choices.split(":") if all(word in known for word in c.split(","))]

    def profile(self, choice):
        return os.path.join(self.tmp, choice + ".hatchet")

    def ways(self, what):
        n = str((N_MOCK if self.mocks else N)[what])
        py = lambda how: [sys.executable, self.program, what, how, n, self.mocks]
        ways = {"bare": py("bare")}
        for c in self.choices:
            ways["record --context " + c] = [self.proton, "record", "-q", "--context", c, "-o",
                                             self.profile(c), "--"] + py("bare")
        for peer in self.peers:
            ways[peer] = py(peer)
        return ways

    def start(self, cmd):
        err = tempfile.TemporaryFile("w+", dir=self.tmp)
        env = dict(os.environ)
        if self.mocks and cmd[0] == self.proton:
            env["PROTON_CUPTI_PATH"] = os.path.join(self.mocks, "mock_cupti.so")
        p = subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, text=True, env=env)
        p.said = err
        self.hear(p, "ready")
        return p

    def hear(self, p, word):
        for line in p.stdout:
            if line.split() and line.split()[0] == word:
                return [float(x) for x in line.split()[1:]]
        p.wait()
        p.said.seek(0)
        sys.exit("%s: status %d\n%s" % (" ".join(p.args), p.returncode, p.said.read()[-2000:]))

    def round(self, p):
        p.stdin.write("\n")
        p.stdin.flush()
        return self.hear(p, "ns")

    def compare(self, what):
        ways = self.ways(what)
        names, end, longest = list(ways), time.monotonic() + self.seconds, 0
        running = {name: self.start(ways[name]) for name in names}
        got = {name: [] for name in names}
        for i in range(self.rounds):
            start = time.monotonic()
            if start + longest > end:
                print("%g s are over in round %d" % (self.seconds, i + 1), flush=True)
                break
            for name in names[i % len(names):] + names[:i % len(names)]:
                got[name].append(self.round(running[name]))
            longest = max(longest, time.monotonic() - start)
        for p in running.values():
            p.communicate()
        self.show(what, got)
        self.show_profiles(what, self.choices)

    def observers(self, what):
        cmd = [self.proton, "record", "-q", "--context", "torch", "--budget", "off", "-o", self.profile("torch"),
               "--"] + self.ways(what)["bare"]
        cmd[cmd.index("bare")] = "observers"
        for _ in range(self.rounds):
            p, got = self.start(cmd), {"called": [], "disabled": []}
            for line in p.stdout:
                word, *numbers = line.split()
                if word in got:
                    got[word].append([float(x) for x in numbers])
                elif word == "records":
                    records = float(numbers[0])
            p.communicate()
            for word, v in got.items():
                print("%-8s %-8s" % (what, word), "  ".join("%s: min %.0f median %.0f ns" % (
                    of, min(x[i] for x in v), statistics.median(x[i] for x in v))
                    for i, of in enumerate(("passed", "worked"))), flush=True)
            more = [statistics.median(a[i] - b[i] for a, b in zip(got["called"], got["disabled"])) for i in (0, 1)]
            print("%-8s %.0f records: by pairs passed %.0f, worked %.0f ns more, %.0f and %.0f a record" % (
                what, records, *more, more[0] / records, more[1] / records), flush=True)

    @staticmethod
    def show(what, got):
        for i, of in enumerate(("passed", "worked") + (("best",) if what == "ops" else ())):
            base = [x[i] for x in got.get("record --context scopes", [])]
            for name, rounds in got.items():
                own = [x[i] for x in rounds]
                line = "%-8s %-7s %-30s " % (what, of, name)
                if own:
                    line += "min %11.1f  median %11.1f ns" % (min(own), statistics.median(own))
                if own and base:
                    line += "  x%.3f x%.3f, by rounds x%.3f" % (
                        min(own) / min(base), statistics.median(own) / statistics.median(base),
                        statistics.median(a / b for a, b in zip(own, base)))
                print(line, flush=True)

    def show_profiles(self, what, choices):
        first = None
        for c in choices:
            p = Profile(self.proton, self.profile(c))
            text = "%d executions, %d guessed, %d nodes, depth %d, lost %s" % (
                p.executions(), p.guessed, len(p.nodes), p.depth, p.lost or "nothing")
            if first:
                text += ", %.2f %% elsewhere than with %s" % (100 * p.elsewhere(first[1]), first[0])
            elif c in ("torch", "python"):
                first = c, p
            print("%-8s   %-28s %s" % (what, c, text), flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("names", nargs="*")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--seconds", type=float, default=1e9, help="for each name")
    p.add_argument("--choices", default=":".join(CHOICES), help="of contexts, separated by colons")
    p.add_argument("--peers", default="triton_shadow,triton_python,torchprof", help="comma-separated, or ''")
    p.add_argument("--observers", action="store_true")
    p.add_argument("--mock", action="store_true")
    a = p.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as tmp:
        b = Bench(a, tmp)
        for name in a.names or N:
            (b.observers if a.observers else b.compare)(name)


main()

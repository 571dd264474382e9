#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure proton on a machine without a GPU: bench/cpu.py BUILD [--rounds N] [NAME ...]

Each name prints a line or a few: minimum and median over the rounds; what is compared is
interleaved, in an order that rotates. Needs what `make cpu-programs` builds. The names: start
children scopes top opencl view shapes readers decode save."""
import argparse, fcntl, json, os, pty, re, select, signal, statistics, struct, subprocess
import sys, tempfile, termios, time

TICK = os.sysconf("SC_CLK_TCK")


def make_tree(path, n):
    """A file as others write it: six levels of ten, names used again in other contexts."""
    left = [n - 1]

    def node(depth):
        i = left[0]
        left[0] -= 1
        children = []
        while depth < 6 and left[0] > 0 and len(children) < 10:
            children.append(node(depth + 1))
        if children:
            name, metrics = "scope_%d_%d" % (depth, i % 100), {}
        else:
            name = "kernel_%d" % (i % 1000)
            metrics = {"time (ns)": 1000 + i % 977, "count": 1 + i % 7, "device_id": "0",
                       "device_type": "CUDA"}
        return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": children}

    root = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {"time (ns)": 0, "count": 0}}
    root["children"] = []
    while left[0] > 0:
        root["children"].append(node(1))
    devices = {"CUDA": {"0": {"arch": "90", "num_sms": 132, "clock_rate": 1980000, "bus_width": 6016,
                              "memory_clock_rate": 3201000}}}
    with open(path, "w") as f:
        json.dump([root, devices], f)


FUNCTOR = ("_ZN2at6native29vectorized_elementwise_kernelILi%dENS0_13BinaryFunctorIfffNS0_15binary_internal"
           "10MulFunctorIfEEEESt5arrayIPcLm3EEEEviT0_T1_")
SHAPES = {  # leaves below the root, levels down to one, names
    "wide, 1,000,000 names": (1000000, 1, "kernel_%d"),
    "wide, 1,000,000 mangled names": (1000000, 1, FUNCTOR),
    "wide, one name": (1000000, 1, "kernel"),
    "200 x 5,000 levels": (200, 5000, "function_%d"),
}


def make_shape(path, leaves, levels, name):
    """1,000,000 nodes that are not a balanced tree."""
    text = (lambda i: name % i) if "%" in name else (lambda i: name)
    with open(path, "w") as f:
        f.write('[{"frame":{"name":"ROOT"},"metrics":{"time (ns)":0,"count":0},"children":[')
        for i in range(leaves):
            f.write("," * (i > 0))
            for level in range(levels):
                f.write('{"frame":{"name":"%s"},"metrics":{%s},"children":[' %
                        (text(i * levels + level), '"time (ns)":%d,"count":1,"device_id":"0","device_type":"CUDA"' %
                         (i * 7919 % 1000003) if level + 1 == levels else ""))
            f.write("]}" * levels)
        f.write(']},{"CUDA":{"0":{"arch":"90","num_sms":132}}}]')


def make_trace(path, n):
    """n operations, each with the launch of a kernel, as torch.profiler writes them."""
    event = '{"ph":"X","cat":"%s","name":"%s%d","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{%s}}'
    with open(path, "w") as f:
        f.write('{"traceEvents":[')
        for i in range(n):
            launch = '"correlation":%d' % i
            f.write("," * (i > 0) + ",\n".join([
                event % ("cpu_op", "aten::op", i % 500, 1, 1, i * 10, 9, ""),
                event % ("cuda_runtime", "cudaLaunchKernel", 0, 1, 1, i * 10 + 1, 3, launch),
                event % ("kernel", "kernel_", i % 300, 0, 7, i * 10 + 5, 5, launch + ',"device":0,"stream":7')]))
        f.write("]}")


class Screen:
    """A program on a terminal of its own."""

    def __init__(self, cmd, env=None, rows=40, columns=120):
        self.start = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.environ.update({"TERM": "xterm-256color", **(env or {})})
            os.execv(cmd[0], cmd)
        self.text = b""

    def read(self, seconds, until=None):
        """For so long, or until a text came; how long after the start that was, or None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                try:
                    self.text += os.read(self.fd, 65536)
                except OSError:
                    return None
                if until and until in self.text:
                    return time.monotonic() - self.start
        return None

    def cpu(self):
        """CPU seconds so far: of the process, of the children it has waited for."""
        f = open("/proc/%d/stat" % self.pid).read().rsplit(")", 1)[1].split()
        return (int(f[11]) + int(f[12])) / TICK, (int(f[13]) + int(f[14])) / TICK

    def peak(self):
        """Bytes; not what wait4() says, which remembers the process before exec."""
        return int(re.search(r"VmHWM:\s+(\d+)", open("/proc/%d/status" % self.pid).read()).group(1)) * 1024

    def quit(self, keys=b"q"):
        os.write(self.fd, keys)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            self.read(0.05)
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
        else:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


class Bench:
    def __init__(self, build, rounds, tmp):
        self.build = os.path.abspath(build)
        self.rounds = rounds
        self.proton = os.path.join(self.build, "proton")
        self.tmp = tmp
        for name in ("PROTON_FAKE", "OPENCL_LAYERS", "PROTON_LIBRARY"):
            os.environ.pop(name, None)

    def path(self, name):
        return os.path.join(self.tmp, name)

    def run(self, cmd, env=None):
        r = subprocess.run(cmd, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        if r.returncode:
            sys.exit("%s: status %d\n%s" % (" ".join(cmd), r.returncode, r.stderr[-2000:]))
        return r.stdout

    def timed(self, cmd, n=1):
        start = time.perf_counter()
        for _ in range(n):
            self.run(cmd)
        return (time.perf_counter() - start) / n

    def record(self, *options):
        return [self.proton, "record", "-q", "-o", self.path("p.hatchet"), *options, "--"]

    def ways(self, ways):
        """ways: {name: function -> number}. Interleaved."""
        got, names = {name: [] for name in ways}, list(ways)
        for i in range(self.rounds):
            for name in names[i % len(names):] + names[:i % len(names)]:
                got[name].append(ways[name]())
        return got

    @staticmethod
    def line(what, v, unit, note=""):
        print("%-34s min %9.3f  median %9.3f %s%s" % (what, min(v), statistics.median(v), unit, note))
        sys.stdout.flush()

    def pair(self, what, unit, bare, ours, scale=1):
        """Two ways and what the second one adds."""
        got = self.ways({"bare": bare, "proton": ours})
        for name, v in got.items():
            self.line("%s: %s" % (what, name), [x * scale for x in v], unit)
        print("%-34s min %9.3f  median %9.3f %s" % (
            what + ": added", (min(got["proton"]) - min(got["bare"])) * scale,
            (statistics.median(got["proton"]) - statistics.median(got["bare"])) * scale, unit))
        sys.stdout.flush()

    def start(self):
        self.pair("start of /bin/true", "ms", lambda: self.timed(["/bin/true"], 20),
                  lambda: self.timed(self.record() + ["/bin/true"], 20), 1e3)

    def children(self):
        loop = ["/bin/sh", "-c", "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done"]
        self.pair("a child without a GPU", "ms", lambda: self.timed(loop) / 200,
                  lambda: self.timed(self.record() + loop) / 200, 1e3)

    def top_cpu(self, what, script, views):
        for view in views:
            shares, saving = [], []
            for _ in range(3):
                s = Screen([self.proton, "top", "--view", view, "-o", self.path("t.hatchet"), "--exit", "--",
                            "sleep", "15"], {"PROTON_FAKE": script} if script else {})
                s.read(2.5)
                before, start = s.cpu(), time.monotonic()
                s.read(10)
                after, seconds = s.cpu(), time.monotonic() - start
                shares.append((after[0] - before[0]) / seconds * 100)
                saving.append((after[1] - before[1]) / seconds * 100)
                s.read(5)
                s.quit()
            self.line("top, %s, %s" % (what, view), shares, "% of a core at 1 Hz",
                      ", saving the profile: %.1f" % statistics.median(saving))

    def top(self):
        self.top_cpu("idle", None, ["tree"])
        self.top_cpu("10,000 slots change", "many 10000 kernel_ 1000;pause 100;repeat 1000",
                     ["tree", "kernels"])

    def opencl(self):
        storm = [os.path.join(self.build, "bench/opencl_storm"), "100000"]
        number = lambda out: float(re.search(r"ns_per_launch=([\d.]+)", out).group(1))
        self.rounds = max(self.rounds, 15)  # a launch is short, its noise is not
        self.pair("OpenCL launch", "us", lambda: number(self.run(storm)),
                  lambda: number(self.run(self.record() + storm)), 1e-3)

    def scopes(self):
        program = [os.path.join(self.build, "bench/scopes"), "500000"]
        number = lambda out: float(re.search(r"ns_per_scope=([\d.]+)", out).group(1))
        got = self.ways({"bare": lambda: number(self.run(program)),
                         "record": lambda: number(self.run(self.record() + program)),
                         "record --cpu-time": lambda: number(self.run(self.record("--cpu-time") + program))})
        for name, v in got.items():
            self.line("a scope: " + name, v, "ns")

    def first_screen(self, path):
        s = Screen([self.proton, "view", path])
        seconds = s.read(60, b"ROOT")
        peak = s.peak()
        s.quit()
        return seconds, peak

    def file(self, n, ours):
        path = self.path("tree_%d" % n)
        if not os.path.exists(path):
            make_tree(path, n)
        if ours and not os.path.exists(path + ".ours"):
            self.run([self.proton, "export", "-f", "hatchet", "-o", path + ".ours", path])
        return path + (".ours" if ours else "")

    def view(self):
        small = self.path("small")
        make_tree(small, 10)
        base = min(self.first_screen(small)[1] for _ in range(3))
        for n in (50000, 1000000):
            for ours in (False, True):
                path = self.file(n, ours)
                got = [self.first_screen(path) for _ in range(self.rounds)]
                what = "view, %d nodes%s" % (n, ", own file" if ours else "")
                self.line(what, [g[0] for g in got], "s to the first screen",
                          "  %.0f MB file" % (os.path.getsize(path) / 1e6))
                self.line(what, [(g[1] - base) / n for g in got], "bytes a node, peak RSS")
            path = self.file(n, False)
            report = [self.proton, "report", "--tree", "-d", "3", path]
            self.line("report --tree -d 3, %d nodes" % n,
                      [self.timed(report) for _ in range(self.rounds)], "s")

    def shapes(self):
        for what, shape in SHAPES.items():
            path = self.path("shape")
            make_shape(path, *shape)
            got = [self.first_screen(path) for _ in range(self.rounds)]
            self.line("view, " + what, [g[0] for g in got], "s to the first screen",
                      "  %.0f MB file, peak %.0f MB" % (os.path.getsize(path) / 1e6, got[0][1] / 1e6))

    def readers(self):
        tree, files = self.file(1000000, False), {}
        files["hatchet, 1,000,000 nodes"] = tree
        for name in ("hatchet_msgpack", "folded"):
            files[name + ", the same"] = self.path(name)
            self.run([self.proton, "export", "-f", name, "-o", self.path(name), tree])
        files["chrome, 750,000 events"] = self.path("trace")
        make_trace(self.path("trace"), 250000)
        for what, path in files.items():
            got = []
            for _ in range(self.rounds):
                before = os.times()
                self.run([self.proton, "list", path])
                after = os.times()
                got.append(after.children_user + after.children_system - before.children_user -
                           before.children_system)
            self.line("read " + what, got, "s of the processor", "  %.0f MB file" % (os.path.getsize(path) / 1e6))

    def decode(self):
        tape = self.path("d.tape")
        self.run(self.record("--tape", tape) + ["sleep", "3"])
        for name, script in (("defines", "many 50000 kernel_with_a_longer_name_ 1000"),
                             ("values", "many 10000 kernel_ 1000;pause 50;repeat 40")):
            subprocess.run(self.record("--tape", tape) + ["sleep", "5"],
                           env={**os.environ, "PROTON_FAKE": script}, check=True)
            print(name + ": " + self.run([os.path.join(self.build, "bench/inner"), "decode", tape, "15"]), end="")

    def save(self):
        inner = os.path.join(self.build, "bench/inner")
        for n in (50000, 1000000):
            print(self.run([inner, "save", self.file(n, False), str(self.rounds)]), end="")
            print(self.run([inner, "picture", self.file(n, False), str(self.rounds)]), end="")


def main():
    names = "start children scopes top opencl view shapes readers decode save".split()
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("names", nargs="*")
    p.add_argument("--rounds", type=int, default=7)
    a = p.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as tmp:
        b = Bench(a.build, a.rounds, tmp)
        for name in a.names or names:
            if name not in names:
                p.error("no such benchmark: " + name)
            getattr(b, name)()


if __name__ == "__main__":
    main()

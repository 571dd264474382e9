#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What filters leave of exports: filter_exports.py PROTON FOLDER

Makes a profile, decides itself which calling contexts each filter leaves, and adds up their time. What
'proton export' writes must have the same paths with the same values, and 'proton report' the same totals,
whatever the format. Nothing of this asks proton what a selector means."""
import csv
import io
import json
import os
import random
import re
import subprocess
import sys

TIME, COUNT, BYTES, HOST = "time (ns)", "count", "bytes", "cpu_time (ns)"


class Node:
    def __init__(self, name, parent, own):
        self.name, self.parent, self.own, self.children = name, parent, own, []
        if parent:
            parent.children.append(self)

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def path(self):
        return (self.parent.path() if self.parent else []) + ([self.name] if self.parent else [])

    def sum(self, metric):
        values = [n.own[metric] for n in self.walk() if metric in n.own]
        return sum(values) if values else None

    def json(self):
        return {"frame": {"name": self.name, "type": "function"}, "metrics": self.own,
                "children": [c.json() for c in self.children]}


def make_tree():
    """Scopes with elapsed time on the host, some without, and kernels."""
    rand = random.Random(7)
    root = Node("ROOT", None, {TIME: 0, COUNT: 0})

    def fill(parent, depth):
        for i in range(rand.randint(2, 4)):
            if depth == 5 or (depth > 2 and rand.random() < 0.4):
                own = {TIME: rand.randint(1, 5000), COUNT: rand.randint(1, 40)}
                if rand.random() < 0.5:
                    own[BYTES] = rand.randint(1, 1 << 20)
                Node("%s_%d" % (rand.choice(["gemm", "conv", "relu", "copy"]), i), parent, own)
            else:
                scope = Node("%s%d.%d" % (rand.choice(["step", "layer", "conv"]), depth, i), parent, {})
                fill(scope, depth + 1)

    fill(root, 1)
    for node in reversed(list(root.walk())):
        if node.parent and node.children and rand.random() < 0.8:
            node.own[HOST] = rand.randint(10, 900) + within(node)
    return root


def within(node):
    """Elapsed time of what is nested in a node."""
    total = 0
    for child in node.children:
        total += child.own[HOST] if HOST in child.own else within(child)
    return total


def own_host(node):
    return node.own[HOST] - within(node) if HOST in node.own else 0


# ---- filters: which nodes match, as a function of the node ----

def names(expression):
    return lambda n: re.match(expression, n.name) is not None


def value(metric, test):
    """Of the whole profile; the root is no calling context, and absent is no number."""
    def match(n):
        v = n.sum(metric)
        return n.parent is not None and v is not None and test(v)
    return match


def mean(test):
    def match(n):
        time, count = n.sum(TIME), n.sum(COUNT)
        return n.parent is not None and time is not None and bool(count) and test(time / count)
    return match


def path(expression):
    return lambda n: n.parent is not None and re.fullmatch(expression, "/".join(n.path())) is not None


def include(root, match, last):
    """last: of matches on one path, only the last has all below it."""
    kept = set()

    def below(n):
        return any(match(c) or below(c) for c in n.children)

    for n in root.walk():
        if not match(n):
            continue
        up = n
        while up:
            kept.add(up)
            up = up.parent
        if not last or not below(n):
            kept.update(n.walk())
    return kept


def exclude(root, match):
    gone = set()
    for n in root.walk():
        if match(n):
            gone.update(n.walk())
    return set(root.walk()) - gone


FILTERS = [
    ("-i", "conv", names("conv"), False),
    ("-i", ".*_1|layer3", names(".*_1|layer3"), False),
    ("-i", "time > 20us", value(TIME, lambda v: v > 20000), True),
    ("-i", "bytes >= 512KiB && calls < 60",
     lambda n: value(BYTES, lambda v: v >= 1 << 19)(n) and value(COUNT, lambda v: v < 60)(n), True),
    ("-i", "**/conv*/*gemm*", path("(.*/)?conv[^/]*/[^/]*gemm[^/]*"), False),
    ("-i", "ROOT/step*/**", path("step[^/]*(/.*)?"), False),
    ("-e", "gemm", names("gemm"), False),
    ("-e", "time < 1us", value(TIME, lambda v: v < 1000), True),
    ("-e", "avg > 200ns && name ~ relu", lambda n: mean(lambda v: v > 200)(n) and names("relu")(n), True),
    ("-e", "**/layer*", path("(.*/)?layer[^/]*"), False),
    ("-e", "!(bytes > 0) && name ~ copy",
     lambda n: not value(BYTES, lambda v: v > 0)(n) and names("copy")(n), True),
]


# ---- what proton says ----

class Proton:
    def __init__(self, program, file):
        self.program, self.file = program, file

    def run(self, *words):
        done = subprocess.run([self.program, *words, self.file], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit("%s: %s" % (" ".join(words), done.stderr))
        return done.stdout

    def folded(self, *words):
        """Own time by path."""
        rows = (line.rsplit(" ", 1) for line in self.run("export", "-f", "folded", *words).splitlines())
        return add((p, int(v)) for p, v in rows)

    def csv(self, *words):
        text = self.run("export", "-f", "csv", *words)
        return list(csv.DictReader(io.StringIO(text)))

    def hatchet(self, *words):
        def build(data, parent):
            node = Node(data["frame"]["name"], parent, data["metrics"])
            for child in data["children"]:
                build(child, node)
            return node
        return build(json.loads(self.run("export", "-f", "hatchet", *words))[0], None)

    def total(self, metric, *words):
        for line in self.run("report", "--tree", "--ascii", "-m", metric + "/ns", *words).splitlines():
            if line.endswith(" ROOT"):
                return line.split()[0]
        raise SystemExit("no ROOT")


def add(pairs):
    sums = {}
    for key, v in pairs:
        if v:
            sums[key] = sums.get(key, 0) + v
    return sums


failed = 0


def check(what, wanted, got):
    global failed
    if wanted == got:
        return
    failed += 1
    print("FAILED: %s: wanted %s, got %s" % (what, str(wanted)[:300], str(got)[:300]))


def own_times(nodes):
    return add((";".join(n.path()), n.own.get(TIME, 0)) for n in nodes)


def check_part(what, proton, kept, words):
    """An export of a part, against the nodes that should be left."""
    time = sum(n.own.get(TIME, 0) for n in kept)
    host = sum(own_host(n) for n in kept)
    root = proton.hatchet(*words)
    rows = proton.csv(*words)
    check(what + ": nodes", sorted(n.path() for n in kept), sorted(n.path() for n in root.walk()))
    check(what + ": stacks", own_times(kept), proton.folded(*words))
    check(what + ": hatchet", own_times(kept), own_times(root.walk()))
    check(what + ": csv", time, sum(int(r["time (ns)"] or 0) for r in rows))
    check(what + ": csv, the root", str(time), rows[0]["time (ns) [inclusive]"])
    check(what + ": host", host, sum(own_host(n) for n in root.walk()))
    check(what + ": report", "%.3f" % time, proton.total("time", *words))
    if host:
        check(what + ": report of the host", "%.3f" % host, proton.total("cpu_time", *words))


def check_limited(what, proton, kept, large, words):
    """What is small is in what is above it: totals stay."""
    root = proton.hatchet(*words)
    wanted = {}
    for n in kept:
        up = n
        while up not in large:
            up = up.parent
        key = ";".join(up.path())
        wanted[key] = wanted.get(key, 0) + n.own.get(TIME, 0)
    check(what + ": nodes", sorted(n.path() for n in large), sorted(n.path() for n in root.walk()))
    check(what + ": own", {k: v for k, v in wanted.items() if v}, own_times(root.walk()))
    check(what + ": inclusive", sum(n.own.get(TIME, 0) for n in kept), root.sum(TIME))
    check(what + ": count", sum(n.own.get(COUNT, 0) for n in kept), root.sum(COUNT))
    check(what + ": bytes", sum(n.own.get(BYTES, 0) for n in kept) or None, root.sum(BYTES))
    check(what + ": host", sum(own_host(n) for n in kept), sum(own_host(n) for n in root.walk()))


def main():
    folder = sys.argv[2]
    file = os.path.join(folder, "filters.hatchet")
    root = make_tree()
    with open(file, "w", encoding="utf-8") as f:
        json.dump([root.json(), {}], f)
    proton = Proton(sys.argv[1], file)
    nodes = set(root.walk())
    check_part("nothing", proton, nodes, [])
    for option, text, match, is_condition in FILTERS:
        kept = include(root, match, is_condition) if option == "-i" else exclude(root, match)
        if not 1 < len(kept) < len(nodes):
            raise SystemExit("'%s' tests nothing" % text)
        check_part("%s '%s'" % (option, text), proton, kept, [option, text])
    kept = include(root, names("conv"), False) & exclude(root, names("gemm"))
    check_part("both", proton, kept, ["-i", "conv", "-e", "gemm"])
    for words, test in ((["-t", "20us"], lambda n: n.sum(TIME) is not None and n.sum(TIME) >= 20000),
                        (["-t", "5%"], lambda n: (n.sum(TIME) or 0) >= root.sum(TIME) / 20),
                        (["-d", "3"], lambda n: len(n.path()) < 3)):
        check_limited(words[0], proton, nodes, {n for n in nodes if test(n) or not n.parent}, words)
    gone = exclude(root, names("gemm"))
    check_limited("-e -d", proton, gone, {n for n in gone if len(n.path()) < 3}, ["-e", "gemm", "-d", "3"])
    return failed > 0


sys.exit(main())

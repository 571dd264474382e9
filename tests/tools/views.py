#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""views.py PROTON FILE: each view as text against the nodes of the same file, as `export -f csv` has
them. Prints what does not add up; nothing when all does."""
import csv
import io
import subprocess
import sys

proton, path = sys.argv[1:3]
DEVICE = {"kernel", "copy", "set"}


def run(*args):
    done = subprocess.run([proton, *args, path], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def number(text):
    return 0 if text in ("-", "") else float(text)


def near(what, got, want):
    if abs(got - want) > 0.01 + 1e-6 * abs(want):
        print(f"{what}: {got}, not {want}")


def table(text):
    """Rows of numbers and a name; the name keeps the lines before it."""
    lines = text.splitlines()
    titles = lines[0].split()
    for line in lines[1:]:
        if line.startswith("("):
            continue
        words = line.split()
        yield [number(w) for w in words[:len(titles) - 1]], line, words


def depth_of(line):
    """How many branches stand before the name, each of three columns behind the last number."""
    marks = [line.find(m) for m in ("|- ", "`- ") if m in line]
    return max(marks) if marks else -1


def groups(rows):
    """[value, sum of the children, line] of each row, by where the branch before its name stands."""
    stack, sums = [], []
    for value, line in rows:
        place = depth_of(line)
        while stack and stack[-1][0] >= place:
            stack.pop()
        if stack:
            stack[-1][1][1] += value
        node = [value, 0.0, line]
        sums.append(node)
        stack.append((place, node))
    return sums


nodes = list(csv.DictReader(io.StringIO(run("export", "-f", "csv"))))
work = [n for n in nodes if n["kind"] in DEVICE]
time = sum(number(n["time (ns)"]) for n in nodes)

rows = list(table(run("report", "--view", "kernels", "-m", "time/ns")))
near("kernels", sum(r[0][0] for r in rows), sum(number(n["time (ns)"]) for n in work))

# Roots make up all time, and callers what they call.
rows = list(table(run("report", "--ascii", "--view", "bottom-up", "-m", "time/ns(exc)")))
near("bottom-up: roots", sum(r[0][0] for r in rows if depth_of(r[1]) < 0), time)
near("bottom-up: one root",
     sum(r[0][0] for r in table(run("report", "--view", "bottom-up", "-d", "1", "-m", "time/ns(exc)"))),
     time)
for value, below, line in groups([(r[0][0], r[1]) for r in rows]):
    if below:
        near("bottom-up: callers of" + line, below, value)

# Callees and the function itself make it up.
for scope in {n["name"] for n in nodes if n["kind"] in ("scope", "nvtx") and n["name"]}:
    same = [n for n in nodes if n["name"] == scope]
    if len(same) != 1:
        continue
    rows = list(table(run("report", "--ascii", "--view", "callers=" + scope, "-m", "time/ns")))
    function = [r for r in rows if " ^ " not in r[1] and " v " not in r[1]]
    near("callers: " + scope, function[0][0][0], number(same[0]["time (ns) [inclusive]"]))
    near("callees: " + scope, sum(r[0][0] for r in rows if " v " in r[1]), function[0][0][0])
    near("callers of: " + scope, sum(r[0][0] for r in rows if " ^ " in r[1]), function[0][0][0])

# A box for each node with time, as wide as that; the first begins where its parent does.
lines = run("report", "--ascii", "--view", "flame", "-m", "time/ns").splitlines()
boxes = [line for line in lines[1:] if line.split()]
want = sorted(number(n["time (ns) [inclusive]"]) for n in nodes
              if number(n["time (ns) [inclusive]"]) > 0)
got = sorted(float(line.split()[0]) for line in boxes)
near("flame: boxes", len(got), len(want))
for a, b in zip(got, want):
    near("flame: a box", a, b)
begin = lines[0].index("%") + 3
stack = []
for line in boxes:
    bar = line[begin:begin + 40]
    start = len(bar) - len(bar.lstrip())
    end = len(bar.rstrip())
    place = depth_of(line)
    while stack and stack[-1][0] >= place:
        stack.pop()
    share = float(line.split()[1])
    if abs((end - start) - share / 100 * 40) > 1.1:
        print(f"flame: {end - start} columns for {share} %: {line}")
    if stack and not (stack[-1][1] - 1 <= start and end <= stack[-1][2] + 1):
        print("flame: outside of its parent: " + line)
    stack.append((place, start, end))

# Copies and sets: by kind and by context the same bytes as the nodes have.
parts = run("report", "--view", "memory", "-m", "bytes/B").split("\n\n")
moved = sum(number(n.get("bytes", "")) for n in nodes if n["kind"] in ("copy", "set"))
for part in parts[:2]:
    caption, rest = part.split("\n", 1)
    got = 0 if rest.startswith("none") else sum(r[0][0] for r in table(rest))
    near("memory: " + caption, got, moved)

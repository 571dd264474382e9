#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_values.py PROTON TESTS COUNT SEED DATABASE...: files whose syntax is right and whose content is
not: other values, types, keys, orders and depths, in every kind of JSON, MessagePack and database.
Each is read or refused in a line, soon, in little memory, and what is written of it can be read. By
hand with many, in a build with sanitizers; those that fail stay in the folder."""
import copy
import json
import os
import random
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import hostile_text

CPU_S = 5  # of the process, so that a busy machine does no harm
MUCH = 64 << 20  # paths of a deep chain with long names: a table of them is large, and takes its time
MEMORY_KB = 1 << 20
BIG = [0, -1, -0.0, 1e300, -1e300, 5e-324, 2**31 - 1, 2**31, -2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63,
       -2**63, -2**63 - 1, 2**64 - 1, 2**64, 10**30, 0.5, 1.5, 999, 1e18, 1e19, 4e15, -4e15]
TEXTS = ["", "0", "-1", "NaN", "12", "x" * 5000, "\0", "a\0b", ";", "a;b", "\n", "ROOT", "CUDA", "HIP", "\ud800", "\x1b[2J",
         "<cuda>", "%3B", "@", ":0", "a:99999999999", "\U0001f680", "_Z3fooILi3EEvv", "_Z" + "N1a" * 500 + "E"]
# Keys that mean something, in whatever kind of file.
KEYS = ["frame", "name", "type", "metrics", "children", "CUDA", "HIP", "time (ns)", "count", "count (exc)", "device_id",
        "device_type", "bytes", "flops8", "arch", "clock_rate", "num_sms", "memory_clock_rate", "bus_width", "traceEvents",
        "ph", "cat", "ts", "dur", "pid", "tid", "args", "id", "deviceProperties", "correlation", "stream", "device", "context",
        "call_stack", "External id", "displayTimeUnit", "schemaVersion", "proton", "hatchet", "version", "nodes", "processes",
        "devices", "computeMajor", "distributedInfo", "rank", "world_size", "sf", "stackFrames", "parent", "bp", "hash", ""]
FORMATS = ("json", "hatchet", "hatchet_msgpack", "csv", "markdown", "folded", "speedscope", "pprof", "callgrind", "flamegraph", "dot",
           "chrome", "perfetto")


# ---- documents: an object is a list of pairs, so that a key may be there twice ----

class Pairs(list):
    pass


class Literal(str):
    """What json.dumps() would not write: a number as it is spelt, or very deep."""


def parse(text):
    return json.loads(text, object_pairs_hook=lambda pairs: Pairs([k, v] for k, v in pairs))


def dump(x):
    if isinstance(x, Literal):
        return str(x)
    if isinstance(x, Pairs):
        return "{" + ",".join(json.dumps(k) + ":" + dump(v) for k, v in x) + "}"
    if isinstance(x, list):
        return "[" + ",".join(map(dump, x)) + "]"
    return json.dumps(x)


def size(n, small, long):
    return bytes([small | n]) if n < 16 else struct.pack(">BH", long, n) if n < 1 << 16 else struct.pack(
        ">BI", long + 1, n)


def pack(x):
    """The same in MessagePack."""
    if isinstance(x, Literal):
        return b"\x91" * min(len(x), 3000) + b"\xc0"
    if isinstance(x, Pairs):
        return size(len(x), 0x80, 0xde) + b"".join(pack(k) + pack(v) for k, v in x)
    if isinstance(x, list):
        return size(len(x), 0x90, 0xdc) + b"".join(map(pack, x))
    if isinstance(x, str):
        text = x.encode("utf-8", "surrogatepass")
        return struct.pack(">BI", 0xdb, len(text)) + text
    if x is None or isinstance(x, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[x]
    if isinstance(x, int) and -2**63 <= x < 2**63:
        return struct.pack(">Bq", 0xd3, x)
    if isinstance(x, int) and 0 < x < 2**64:
        return struct.pack(">BQ", 0xcf, x)
    return struct.pack(">Bd", 0xcb, float(x))


def containers(x, found):
    if isinstance(x, list):
        if x:
            found.append(x)
        for value in x:
            containers(value[1] if isinstance(x, Pairs) else value, found)
    return found


def get(c, i):
    return c[i][1] if isinstance(c, Pairs) else c[i]


def put(c, i, value):
    if isinstance(c, Pairs):
        c[i][1] = value
    else:
        c[i] = value


def value_of(chance):
    return chance.choice([None, True, False, [], Pairs(), [[]], Pairs([["", None]]), chance.choice(BIG), chance.choice(BIG),
                          chance.choice(TEXTS), chance.choice(TEXTS), Literal("1E400"), Literal("-0"), Literal("1e-400"),
                          Literal("NaN"), Literal("-Infinity"), Literal("9" * 400), Literal("0." + "3" * 400)])


def like(old, chance):
    """A value of the same kind, or nearly."""
    if isinstance(old, bool) or old is None:
        return value_of(chance)
    if isinstance(old, (int, float)):
        return chance.choice([-old, old * 1e9, float(old), str(old), old + 1, int(old * 2**40), old / 3, [old],
                              chance.choice(BIG), Literal("%.1fe0" % old if abs(old) < 1e200 else "0")])
    if isinstance(old, str):
        return chance.choice([old + "x", old[:-1], old * 300, old.upper(), [old], Pairs([[old, old]]), chance.choice(TEXTS)])
    return value_of(chance)


def deep(chance):
    n = chance.choice([50, 600, 5000])
    a, b = chance.choice([("[", "]"), ('{"a":', "}"), ('{"children":[', "]}"), ('{"args":', "}"), ('[{"children":', "}]")])
    return Literal(a * n + ("null" if a[-1] == ":" else "") + b * n)


def chain(x, chance):
    """A tree that is a long chain of its own first node."""
    for _ in range(chance.choice([30, 300])):
        x = Pairs([["frame", Pairs([["name", "deep"], ["type", "function"]])], ["metrics", Pairs([["count", 1]])],
                   ["children", [x]]])
    return x


def spoil(document, chance):
    """One change; the document stays one."""
    all_of_it = containers(document, [])
    if not all_of_it:
        return
    c, other = chance.choice(all_of_it), chance.choice(all_of_it)
    i, j = chance.randrange(len(c)), chance.randrange(len(other))
    way = chance.randrange(14)
    if way == 0:
        put(c, i, value_of(chance))
    elif way in (1, 2, 3):
        put(c, i, like(get(c, i), chance))
    elif way == 4:
        del c[i]
    elif way == 5:
        chance.shuffle(c)
    elif way == 6:
        put(c, i, copy.deepcopy(get(other, j)))  # not that itself: it may hold c
    elif way == 7 and isinstance(c, Pairs):
        c.insert(chance.randrange(len(c) + 1), [c[i][0], value_of(chance)])  # twice
    elif way == 8 and isinstance(c, Pairs):
        c[i][0] = chance.choice(KEYS + TEXTS)
    elif way == 9 and isinstance(c, Pairs):
        c.append([chance.choice(KEYS), value_of(chance)])
    elif way == 10:
        put(c, i, deep(chance))
    elif way == 11:
        put(c, i, chain(get(c, i), chance))
    elif way == 12:
        c[:] = c * chance.choice([2, 20]) if len(c) < 50 else c[:1]
    else:
        c.clear()


def mutant(text, chance):
    document = parse(text)
    for _ in range(chance.choice([1, 1, 2, 4, 12])):
        before = copy.deepcopy(document)
        try:
            spoil(document, chance)
            if len(dump(document)) > 1 << 20:
                document = before
        except (OverflowError, ValueError):  # a number that is too large to be changed
            document = before
    return document


# ---- databases: the schema stays ----

def rows_of(db):
    for table, in db.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite%'").fetchall():
        columns = [row[1] for row in db.execute('pragma table_info("%s")' % table)]
        rows = [row for row, in db.execute('select rowid from "%s"' % table)]
        if rows and columns:
            yield table, columns, rows


def spoil_rows(db, chance):
    table, columns, rows = chance.choice(list(rows_of(db)))
    column, row = chance.choice(columns), chance.choice(rows)
    values = [None, "", "text", b"\xff\0", b"", float("inf"), 1e300, -1e300, 0.5] + [x for x in BIG if abs(x) < 2**63] + TEXTS[:-8]
    set_one = 'update or ignore "%s" set "%s" = %%s where rowid = %d' % (table, column, row)
    way = chance.randrange(9)
    if way < 3:
        db.execute(set_one % "?", (chance.choice(values),))
    elif way == 3:
        db.execute('update or ignore "%s" set "%s" = ?' % (table, column), (chance.choice(values),))
    elif way == 4:
        db.execute(set_one % '-"%s"' % column)
    elif way == 5:
        db.execute(set_one % '"%s"' % chance.choice(columns))
    elif way == 6:
        db.execute('update or ignore "%s" set "%s" = (select "%s" from "%s" order by %d * rowid %% 7 limit 1)' %
                   (table, column, column, table, chance.randrange(1, 7)))
    elif way == 7:
        db.execute('delete from "%s"%s' % (table, chance.choice(["", " where rowid = %d" % row])))
    else:
        names = ", ".join('"%s"' % c for c in columns)
        db.execute('insert or ignore into "%s" (%s) select %s from "%s"' % (table, names, names, table))


def mutant_rows(data, chance):
    with open("mutant.db", "wb") as f:
        f.write(data)
    db = sqlite3.connect("mutant.db")
    db.execute("pragma foreign_keys = off")
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        try:
            spoil_rows(db, chance)
        except (sqlite3.Error, IndexError, UnicodeEncodeError):  # not every column takes every value
            pass
    db.commit()
    db.close()
    with open("mutant.db", "rb") as f:
        return f.read()


# ---- trying them ----

def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))


class Trial:
    def __init__(self, proton):
        self.proton, self.n, self.read, self.failed = proton, 0, 0, 0
        self.env = dict(os.environ, LC_ALL="C.UTF-8")

    def fault(self, name, data, words, why):
        self.failed += 1
        with open("fault-" + name, "wb") as f:
            f.write(data)
        print("FAILED: fault-%s: %s: %s" % (name, " ".join(words), why), flush=True)

    def run(self, name, data, *words):
        """Its status, or None where it ended badly."""
        with open("out", "wb") as out, open("err", "wb") as err:
            p = subprocess.Popen([self.proton, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=self.env,
                                 preexec_fn=limit)
            _, status, used = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        with open("err", "rb") as f:
            said = f.read()
        why = None
        if p.returncode == -signal.SIGXCPU and os.path.getsize("out") > MUCH:
            why = None
        elif p.returncode not in (0, 1):
            why = "status %d" % p.returncode
        elif b"Sanitizer" in said or b"runtime error" in said:
            why = "sanitizer"
        elif used.ru_maxrss > MEMORY_KB:
            why = "%d KiB" % used.ru_maxrss
        elif p.returncode == 1 and (not said.startswith(b"proton: ") or said.count(b"\n") != 1):
            why = "no one line"
        if why:
            self.fault(name, data, words, "%s: %r" % (why, said[-3000:]))
        self.n += 1
        return None if why else p.returncode

    def check_output(self, name, data, words, form):
        """What was written of it is what it should be."""
        with open("out", "rb") as f:
            out = f.read()
        try:
            if form in ("json", "hatchet", "speedscope", "chrome"):
                json.loads(out.decode(), parse_constant=lambda word: 1 / 0)
            elif form in ("report", "csv", "markdown", "folded", "dot", "flamegraph"):
                out.decode()
        except (ValueError, ArithmeticError) as why:
            self.fault(name, data, words, "writes %s" % why)
            return
        if form in ("hatchet", "hatchet_msgpack"):
            with open("again", "wb") as f:
                f.write(out)
            if self.run(name, data, "list", "again") == 1:
                self.fault(name, data, words, "what it wrote cannot be read")

    def file(self, name, data, chance, others):
        """A report, and some of the other commands."""
        with open("file", "wb") as f:
            f.write(data)
        words = ("report", "--section", "all", "file")
        status = self.run(name, data, *words)
        if status:
            return
        self.read += 1
        if status == 0:
            self.check_output(name, data, words, "report")
        commands = [("list", "file"), ("diff", "--text", "file", "file"), ("diff", "-f", "json", "file", "good"),
                    ("merge", "-o", "merged.json", "file", "good", "file"), ("merge", "--ranks", "file", "file"),
                    ("viewer", "-m", "time/ms", "file"), ("report", "-m", "util,bound,time/ms", "-g", "process", "file"),
                    ("report", "--diff-profile", "good", "file"),
                    ("report", "-g", "device", "--tree", "file"), ("report", "--flat", "file")]
        for words in chance.sample(commands + [("export", "-f", form, "file") for form in FORMATS], others):
            if self.run(name, data, *words) == 0 and words[0] == "export":
                self.check_output(name, data, words, words[2])

    def screen(self, name, data):
        """Each panel of it."""
        drawn, status = hostile_text.on_terminal([self.proton, "view", "file"], hostile_text.KEYS)
        if status not in (0, 1) or b"Sanitizer" in drawn or b"runtime error" in drawn:
            self.fault(name, data, ["view"], "status %d: %r" % (status, drawn[-3000:]))


def sources(proton, tests, databases):
    """name, text of JSON or bytes of a database, how to write it."""
    for name, path in [("triton", "/hatchet/upstream-triton.json"), ("cuda", "/hatchet/upstream-cuda.json"),
                       ("frame", "/hatchet/upstream-frame.json"), ("samples", "/hatchet/h200-triton-samples.hatchet"),
                       ("torch", "/chrome/torch.json"), ("xla", "/chrome/xla.json"), ("nsys", "/chrome/nsys.json"),
                       ("proton", "/chrome/proton.chrome_trace"), ("cycles", "/chrome/cycles.chrome_trace")]:
        with open(tests + path, encoding="utf-8") as f:
            yield name, f.read(), lambda x: dump(x).encode()
    for path in ("/wire/overlap.tape", "/wire/copies.tape"):
        own = subprocess.run([proton, "export", "-f", "hatchet", tests + path], stdout=subprocess.PIPE, check=True).stdout
        yield "own-" + path[6:-5], own.decode(), lambda x: dump(x).encode()
    for name, path in [("packed", "/hatchet/upstream-triton.json"), ("packed-samples", "/hatchet/h200-triton-samples.hatchet")]:
        with open(tests + path, encoding="utf-8") as f:
            yield name, f.read(), pack
    for path in databases:
        with open(path, "rb") as f:
            yield os.path.basename(path), f.read(), None


def main(proton, tests, count, seed, *databases):
    sys.setrecursionlimit(10000)
    trial, found = Trial(proton), list(sources(proton, tests, databases))
    with open("good", "wb") as f, open(tests + "/hatchet/upstream-cuda.json", "rb") as g:
        f.write(g.read())
    for i in range(int(count)):
        chance = random.Random("%s %d" % (seed, i))
        name, whole, way = found[i % len(found)]
        data = way(mutant(whole, chance)) if way else mutant_rows(whole, chance)
        trial.file("%s-%s-%d" % (name, seed, i), data, chance, 1 if int(count) < 1000 else 3)
    print("%s files, %d of them read; %d commands, %d ended badly" % (count, trial.read, trial.n, trial.failed))
    return trial.failed


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))

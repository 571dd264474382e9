#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py PROTON TESTS DATABASE...: files that are cut, changed and made up, for every reader. Each
is read, or refused in one line with its name; a cut one is refused. The same files every time."""
import contextlib
import gzip
import json
import os
import random
import sqlite3
import struct
import subprocess
import sys

CUTS, CHANGES = 40, 25
LONG = 10 << 20  # bytes of a name that is too long for anybody
VALUES = [None, -1, 10**20, 999, "", [], {}, True, 1.5, "zz", 2**31, 2**32 - 1, 2**63, 2**64]


def changed(x, rate, chance):
    """A document with some of its keys gone, and some of its values others."""
    if isinstance(x, dict):
        return {k: changed(v, rate, chance) for k, v in x.items() if chance.random() > rate / 3}
    if isinstance(x, list):
        return [changed(v, rate, chance) for v in x]
    return chance.choice(VALUES) if chance.random() < rate else x


def changed_bytes(data, chance):
    data = bytearray(data)
    for _ in range(chance.choice([1, 3, 20])):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def changed_rows(data, chance):
    """A database with values of any type where none is expected, and a table less."""
    with open("changed.db", "wb") as f:
        f.write(data)
    db = sqlite3.connect("changed.db")
    for table, in db.execute("select name from sqlite_master where type = 'table'").fetchall():
        columns = [row[1] for row in db.execute('pragma table_info("%s")' % table)]
        for row, in db.execute('select rowid from "%s"' % table).fetchall():
            value = chance.choice([None, -1, 2**62, -2**62, "text", "", b"\xff\0", 1e300, 999, "x" * 9999])
            if chance.random() < .3:
                with contextlib.suppress(sqlite3.Error):  # not every column takes every value
                    db.execute('update or ignore "%s" set "%s" = ? where rowid = ?' %
                               (table, chance.choice(columns)), (value, row))
        if chance.random() < .05:
            db.execute('drop table "%s"' % table)
    db.commit()
    db.close()
    with open("changed.db", "rb") as f:
        return f.read()


def event(**keys):
    return {"ph": "X", "name": "n", "ts": 1, "dur": 1, "pid": 1, "tid": 1, **keys}


def kernel(**args):
    return event(cat="kernel", args=args)


def node(name="k", children=(), **metrics):
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}


def made_up():
    """name, bytes: what no program writes."""
    trees = [[], [None], [{}], [node(), None], [node(), {"CUDA": None}], [node(), {"CUDA": {"0": None}}],
             [node(), {"CUDA": {"999": {"arch": 90, "clock_rate": "x", "num_sms": -1}}}], [node(children=[None])],
             [{"frame": None, "metrics": None, "children": None}], [{"frame": {"name": 5}}], [{"metrics": []}],
             [node(count=True, bytes=None)], [node(count=10**40)], [node(x=[1, 2], y={"a": 1}, z="12")],
             [node(device_id=None, device_type=None, count=1)], [node(device_id=-1, device_type="CUDA", count=1)],
             [node(device_id=1e20, device_type=7, count=1)], [node("", [node("a"), node("a"), node("a")])],
             [node(**{"": 1})], [node()] * 3, [1], "x", 5, None, {}]
    for i, tree in enumerate(trees):
        yield "tree%d" % i, json.dumps(tree)
    for i, events in enumerate([
            [event(dur=-5), kernel(correlation=1)], [event(ts=4e15), event(ts=-4e15), event(ts="1e3")],
            [kernel(device=999, stream=2**63, context=-1, correlation="9" * 30), kernel(device=2**31)],
            [kernel(device=i) for i in range(5000)], [event(ph="B", tid=i % 3) for i in range(5000)],
            [event(ph="E")] * 100, [kernel(call_stack=["f%d" % i for i in range(5000)])] * 20,
            [kernel(call_stack=[None, 5, [], {}, "x"]), kernel(call_stack="x"), kernel(call_stack=[])],
            [event(cat="metric", args={"call_stack": ["a"], "metrics": {"x": None, "y": "nan", "z": "1e999"}})]]):
        yield "trace%d" % i, json.dumps({"traceEvents": events})
    yield "properties", json.dumps({"traceEvents": [kernel(device=0)], "deviceProperties": [
        None, 5, [], {"id": "x"}, {"id": 0, "arch": [], "type": 7, "computeMajor": 2**64, "clockRate": 1e30}]})
    yield "many-devices", json.dumps({"traceEvents": [], "deviceProperties": [{"id": i} for i in range(5000)]})
    yield "nan", '[{"frame":{"name":"k"},"metrics":{"time (ns)":NaN},"children":[]}]'
    yield "surrogate", '[{"frame":{"name":"\\ud800"},"metrics":{"a\\u0000b":1},"children":[]}]'
    yield "blanks", " " * 5000
    yield "brackets", "[" * 100000
    yield "deep", "[" + '{"children":[' * 50000 + "]}" * 50000 + "]"
    yield "deep-args", '{"traceEvents":[{"ph":"X","ts":1,"dur":1,"args":' + '{"a":' * 50000 + "1" + "}" * 50001 + "]}"
    yield "digits", '[{"metrics":{"count":' + "9" * 100000 + "}}]"
    yield "long-name", '[{"frame":{"name":"' + "x" * LONG + '"},"metrics":{"count":1},"children":[]}]'
    yield "long-event", '{"traceEvents":[{"ph":"X","ts":1,"dur":1,"name":"' + "x" * LONG + '"}]}'
    yield "long-frame", "a;" + "x" * LONG + " 5\n"
    yield "long-packed", (b"\x91\x83\xa5frame\x81\xa4name\xdb" + struct.pack(">I", LONG) + b"x" * LONG +
                          b"\xa7metrics\x80\xa8children\x90")
    for i, text in enumerate([b"a;;b 1\n;a 2\n; 3\n", b"a;b -5\n", b"a;b 1\0\n", b" 5\n", b"a ...\n", b"a 1.2.3\n",
                              b"a;b 1\n" * 2000 + b"a -1\n", b"a;" * 20000 + b"b 1\n"]):
        yield "stacks%d" % i, text
    for i, data in enumerate([b"\x90", b"\x91\xc0", b"\x91\x81\x01\x02", b"\xdd\xff\xff\xff\xff", b"\x91" * 100000,
                              b"\x91\x81\xa8children" * 20000, b"\x91\xc9\x80\0\0\0\x05abc", b"\x91\xdf\xff\xff\xff\xff"]):
        yield "packed%d" % i, data
    whole = gzip.compress(json.dumps([node(count=1)]).encode(), mtime=0)
    for i, data in enumerate([whole + b"\0" * 100, whole[:-8] + b"\0" * 8, gzip.compress(whole, mtime=0),
                              b"\x1f\x8b", b"\x1f\x8b\x07" + b"\0" * 7, gzip.compress(b" " * LONG, mtime=0)]):
        yield "gzip%d" % i, data


def read(path):
    with open(path, "rb") as f:
        return f.read()


def cases(proton, tests, databases):
    """name, bytes, must it be refused?"""
    chance = random.Random(1)
    own = subprocess.run([proton, "export", "-f", "hatchet", tests + "/wire/overlap.tape"],
                         stdout=subprocess.PIPE, check=True).stdout
    packed = subprocess.run([proton, "export", "-f", "hatchet_msgpack", tests + "/hatchet/upstream-cuda.json"],
                            stdout=subprocess.PIPE, check=True).stdout
    ours = subprocess.run([proton, "export", "-f", "json", tests + "/wire/overlap.tape"], stdout=subprocess.PIPE, check=True).stdout
    documents = {"own": own, "ours": ours, "evented": read(tests + "/stacks/evented.json"), "py-spy": read(tests + "/stacks/py-spy.json"), "hatchet": read(tests + "/hatchet/upstream-triton.json"),
                 "torch": read(tests + "/chrome/torch.json"), "proton": read(tests + "/chrome/proton.chrome_trace")}
    binaries = {"msgpack": packed, "gzip": gzip.compress(documents["torch"], mtime=0),
                "tape": read(tests + "/wire/copies.tape"), "pprof": read(tests + "/fuzz/corpus_import/pprof_go")}
    binaries.update((os.path.basename(path), read(path)) for path in databases)
    for name, data in {**documents, **binaries}.items():
        data = data.rstrip()
        for i in range(CUTS):
            yield "%s-cut%d" % (name, i), data[:len(data) * i // CUTS], name != "tape"
    for name, data in documents.items():
        for i in range(CHANGES):
            yield ("%s-changed%d" % (name, i),
                   json.dumps(changed(json.loads(data), chance.choice([.005, .05, .4]), chance)), False)
    for name, data in binaries.items():
        for i in range(CHANGES):
            yield "%s-bytes%d" % (name, i), changed_bytes(data, chance), False
    for path in databases:
        for i in range(CHANGES):
            yield "%s-rows%d" % (os.path.basename(path), i), changed_rows(read(path), chance), False
    for name, data in made_up():
        yield name, data, False


def main(proton, tests, *databases):
    n, failed = 0, 0
    for name, data, refused in cases(proton, tests, databases):
        with open(name, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        r = subprocess.run([proton, "report", "--section", "kernels", name], stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, timeout=60, check=False)
        os.remove(name)
        said = r.stderr.decode()
        ok = r.returncode == 1 and said.startswith("proton: %s: " % name) and said.count("\n") == 1
        ok = ok and said[:-1].isprintable()
        if not ok and (refused or r.returncode or said):
            failed += 1
            print("%s: exit status %d: %s" % (name, r.returncode, said[:500]))
        n += 1
    print("%d files, %d ended badly" % (n, failed))
    return failed


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""validate_totals.py PROTON FILE...: the time on the device that a file holds, added up without our
readers, against that of each export, added up without our writers. Formats whose parser is not
installed are named and left out."""
import csv
import decimal
import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import pprof

TIME = "time (ns)"
WORK = {"kernel", "gpu_memcpy", "memcpy", "gpu_memset", "memset"}
TABLES = ["CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
          "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"]


def own_time(tree, metadata=True):
    """Of a Hatchet tree, with or without launch metadata; without recursion, for it may be deep."""
    total, stack = 0, [tree]
    while stack:
        node = stack.pop()
        if not metadata and node["frame"]["name"] == "__proton_launch_metadata":
            continue
        total += node["metrics"].get(TIME, 0) or 0
        stack += node["children"]
    return total


def source_time(path, metadata):
    """Nanoseconds, or None: not for this script to say."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data.startswith(b"SQLite format 3"):
        db = sqlite3.connect(path)
        have = {name for name, in db.execute("select name from sqlite_master where type = 'table'")}
        sums = [db.execute('select sum("end" - "start") from ' + t).fetchone()[0] for t in TABLES if t in have]
        return sum(s or 0 for s in sums) if sums else None
    doc = json.loads(data, parse_float=decimal.Decimal)
    if isinstance(doc, list) and all("metrics" in x for x in doc[:1]):
        return sum(own_time(tree, metadata) for tree in doc if "children" in tree)
    events = doc["traceEvents"] if isinstance(doc, dict) else doc
    return sum(round(decimal.Decimal(e["dur"]) * 1000) for e in events
               if e.get("ph") == "X" and str(e.get("cat")).lower() in WORK)


def from_json(data):
    return sum(n["metrics"].get(TIME, 0) for n in json.loads(data)["nodes"])


def from_hatchet(data):
    return sum(own_time(tree) for tree in json.loads(data) if "children" in tree)


def from_msgpack(data):
    import msgpack
    return own_time(msgpack.unpackb(data)[0])


def from_csv(data):
    rows = csv.DictReader(io.StringIO(data.decode(), newline=""))
    return sum(int(row[TIME] or 0) for row in rows if TIME in row)


def from_markdown(data):
    head, _, *rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in data.decode().splitlines()]
    head = [cell.strip() for cell in head]
    return sum(int(row[head.index(TIME)].strip() or 0) for row in rows) if TIME in head else 0


def from_folded(data):
    return sum(int(line.rsplit(b" ", 1)[1]) for line in data.splitlines())


def from_speedscope(data):
    profile, = json.loads(data)["profiles"]
    assert sum(profile["weights"]) == profile["endValue"]
    return profile["endValue"]


def from_pprof(data):
    profile = pprof.parse(data)
    if ("time", "nanoseconds") not in profile["types"]:
        return 0
    i = profile["types"].index(("time", "nanoseconds"))
    return sum(values[i] for _, values, _ in profile["samples"])


def from_callgrind(data):
    """Own costs of all functions; callgrind_annotate must take the file and say the same."""
    from validate_exports import callgrind_file
    events, functions, calls = callgrind_file(data.decode())
    if "time" not in events:
        return 0
    total = sum(costs[events.index("time")] for costs in functions.values())
    if not shutil.which("callgrind_annotate"):
        raise ImportError(name="callgrind_annotate")
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        r = subprocess.run(["callgrind_annotate", "--show=time", f.name], check=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert not r.stderr, r.stderr
    said = re.search(rb"^\s*([\d,]+) (\([\d.]+%\)|)\s*PROGRAM TOTALS$", r.stdout, re.M)[1]
    assert int(said.replace(b",", b"")) == total, (said, total)
    return total


def from_flamegraph(data):
    box = xml.etree.ElementTree.fromstring(data).find("{http://www.w3.org/2000/svg}g")
    return 0 if box is None else int(re.search(r": (\d+) ns \(100", box[0].text)[1])


def from_dot(data):
    return int(re.search(rb"\tn0 \[label=\"ROOT\\n(\d+) ns", data)[1])


def from_chrome(data):
    """Of ranges of the host, it is not the device's time."""
    return sum(round(e["dur"] * 1000) for e in json.loads(data)["traceEvents"]
               if e["ph"] == "X" and e["cat"] in WORK)


def from_perfetto(data):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    trace, total, streams = perfetto_trace_pb2.Trace(), 0, set()
    trace.ParseFromString(data)
    for p in trace.packet:
        if p.HasField("track_descriptor") and (p.track_descriptor.name.startswith("stream ") or
                                                   p.track_descriptor.name == "no stream"):
            streams.add(p.track_descriptor.uuid)
        if p.HasField("track_event") and p.track_event.track_uuid in streams:
            begins = p.track_event.type == p.track_event.TYPE_SLICE_BEGIN
            total += -p.timestamp if begins else p.timestamp
    return total


STACKS = {"folded", "speedscope", "pprof", "callgrind", "flamegraph", "dot"}
FORMATS = {name[5:]: f for name, f in list(globals().items()) if name.startswith("from_")}
FORMATS["hatchet_msgpack"] = FORMATS.pop("msgpack")


def hatchet_time(path):
    """What llnl-hatchet adds up."""
    from find_hatchet import hatchet
    with open(path, encoding="utf-8") as f:
        trees = [x for x in json.load(f) if "children" in x]
    frame = hatchet.GraphFrame.from_literal(trees).dataframe
    return int(frame[TIME].fillna(0).sum()) if TIME in frame else 0


def main(proton, *paths):
    failed, checked, left_out = 0, 0, set()
    for path in paths:
        for name, parse in FORMATS.items():
            want = source_time(path, name not in STACKS)
            if want is None:
                break
            r = subprocess.run([proton, "export", "-f", name, path], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, check=False)
            if r.returncode:
                assert b"no trace" in r.stderr, r.stderr
                continue
            try:
                got = parse(r.stdout)
                if name == "hatchet":
                    with tempfile.NamedTemporaryFile() as f:
                        f.write(r.stdout)
                        f.flush()
                        assert hatchet_time(f.name) == got
            except ImportError as error:
                left_out.add("%s (no %s)" % (name, error.name))
                continue
            checked += 1
            if got != want:
                failed += 1
                print("%s as %s: %s ns, not %s" % (os.path.basename(path), name, got, want))
    for name in sorted(left_out):
        print("skipped:", name)
    print("%d totals are right" % (checked - failed))
    return failed or not checked


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))

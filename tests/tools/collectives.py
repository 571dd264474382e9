#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collectives.py FILE: of a trace in Chrome's format or Perfetto's, how many ranks have collectives of NCCL, how many each,
and how far apart, in ns, the i-th ones of all ranks end: on one clock they end at once."""
import collections
import json
import sys


def chrome(data):
    """A process of each rank -> when its collectives end, in ns."""
    ends = collections.defaultdict(list)
    for e in json.loads(data)["traceEvents"]:
        if e["ph"] == "X" and "ncclDevKernel" in e["name"]:
            ends[e["pid"]].append(round(1000 * (e["ts"] + e["dur"])))
    return ends


def fields(data):
    """Numbers and values of a message of protobuf: enough of it for what a trace has."""
    def varint():
        nonlocal at
        v = shift = 0
        while True:
            v |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                return v
    at = 0
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            yield key >> 3, data[at:at + size]
            at += size


def perfetto(data):
    """The same by track; numbers are those of trace_packet.proto and track_event.proto."""
    names, running, ends = {}, collections.defaultdict(list), collections.defaultdict(list)
    for _, packet in fields(data):
        p = dict(fields(packet))
        for number, interned in fields(p.get(12, b"")):
            if number == 2:
                entry = dict(fields(interned))
                names[entry[1]] = entry[2].decode()
        event = dict(fields(p.get(11, b"")))
        if event.get(9) == 1:
            running[event[11]].append(names[event[10]])
        elif event.get(9) == 2 and "ncclDevKernel" in running[event[11]].pop():
            ends[event[11]].append(p[8])
    return ends


def main(path):
    with open(path, "rb") as f:
        data = f.read()
    ends = list(map(sorted, (chrome if data[:1] in b"{[" else perfetto)(data).values()))
    apart = max((max(v) - min(v) for v in zip(*ends)), default=-1)
    print(len(ends), "ranks", *sorted(set(map(len, ends))), "collectives", apart, "ns")


main(sys.argv[1])

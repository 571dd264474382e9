#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Single scopes of warps, by hand: nothing of ours is needed.

check_warps.py make FILE                a .warps file: a kernel of 24 blocks with 4 warps on 4 multiprocessors, one slow block
check_warps.py traces CHROME PERFETTO   the same slices, as long, in the same ones, in a Chrome trace and in one for Perfetto"""
import collections
import json
import struct
import sys

PRIME, MASK = 0x100000001B3, (1 << 64) - 1
NONE = 0xFFFFFFFF
CYCLE_NS = 0.5
SLOW = 17
KINDS = {"scope": 0, "async": 1, "mark": 2, "value": 3}


def piece(kind, body):
    body += bytes(-len(body) % 8)
    h = 0xCBF29CE484222325
    for word in (struct.unpack("<I", kind)[0] | len(body) << 32, *(w for (w,) in struct.iter_unpack("<Q", body))):
        h = ((h ^ word) * PRIME) & MASK
        h ^= h >> 32
    return struct.pack("<4sIQ", kind, len(body), h) + body


def scope(enter, cycles, parent, name, event="scope", is_open=False):
    cycles = struct.unpack("<Q", struct.pack("<d", cycles))[0] if event == "value" else cycles
    return struct.pack("<QQII", enter, cycles, parent, name | KINDS[event] << 28 | is_open << 31)


def warp_of(block, warp):
    """Two waves of blocks, three at once on each of four multiprocessors; a clock begins anywhere."""
    sm, wave = block % 4, block // 12
    begin_ns, clock = 10**18 + 1000 + 5000 * wave, 10**6 * sm + 10000 * wave
    slow = 3 if block == SLOW else 1
    scopes = [scope(clock + 10, 4000, NONE, 1)]
    for i in range(3):
        scopes.append(scope(clock + 20 + 1000 * i, 100 * slow + block % 3, 0, 2))
        scopes.append(scope(clock + 400 + 1000 * i, 500, 0, 3))
    scopes.append(scope(clock + 3900, 300, 0, 4, "async"))
    scopes.append(scope(clock + 3950, 0, 0, 5, "mark"))
    scopes.append(scope(clock + 3960, block + 0.5, 0, 6, "value"))
    scopes.append(scope(clock + 4100, 0, NONE, 2, is_open=True))
    cycles = 9000
    return struct.pack("<II8Q", warp, sm, block, begin_ns, begin_ns + int(cycles * CYCLE_NS), 0, clock, clock + cycles, 1,
                       len(scopes)) + b"".join(scopes)


def make(path):
    names = ["tile", "load", "mma", "copy", "here", "k", "_Z6matmulPKfS0_Pf", "main\nstep"]
    names = struct.pack("<II", 1, len(names)) + b"".join(struct.pack("<I", len(n)) + n.encode() for n in names)
    launch = struct.pack("<IIQiIQQQQQ", 7, 8, 42, 0, 4, 0, 0, 24, 2, 96)
    warps = b"".join(warp_of(block, warp) for block in range(24) for warp in range(4))
    with open(path, "wb") as f:
        f.write(piece(b"WRPS", struct.pack("<II", 1, 0)) + piece(b"NAME", names) + piece(b"LNCH", launch) +
                piece(b"WARP", warps) + piece(b"LOST", struct.pack("<Q", 5)))


def from_chrome(path):
    """Of each warp its slices and instants: (name, start, end); ns."""
    with open(path, encoding="utf-8") as f:
        doc = json.load(f)
    assert list(doc) == ["displayTimeUnit", "traceEvents"] and doc["displayTimeUnit"] == "ns"
    out, lines = collections.defaultdict(list), collections.defaultdict(list)
    for e in doc["traceEvents"]:
        start, length = round(e["ts"] * 1000), round(e.get("dur", 0) * 1000)
        warp, line = e["tid"].split(" (")
        out[e["pid"], warp].append((e["name"], start, start + length))
        if e["ph"] == "X":
            lines[e["pid"], e["tid"]].append((start, start + length))
        else:
            assert e["ph"] == "i" and line == "line 0)"
        assert e["args"]["call_stack"][0] == "ROOT"
    for of in lines.values():
        of.sort()
        assert all(a[1] <= b[0] for a, b in zip(of, of[1:])), "what is on a line overlaps"
    return out


def fields(data):
    """Numbers, and what they say, of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            v |= (data[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return v

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, data[at:at + 8]
            at += 8
        else:
            assert key & 7 == 2, key
            n = varint()
            yield key >> 3, data[at:at + n]
            at += n


def from_perfetto(path):
    """The same: packets with tracks (60), interned names (12.2), events (11)."""
    with open(path, "rb") as f:
        data = f.read()
    tracks, names, open_on, out = {}, {}, collections.defaultdict(list), collections.defaultdict(list)
    latest = collections.defaultdict(int)
    for field, packet in fields(data):
        assert field == 1
        packet = dict(fields(packet))
        if 60 in packet:
            track = dict(fields(packet[60]))
            tracks[track[1]] = (track[2].decode(), track.get(5))
        for f2, entry in fields(packet.get(12, b"")):
            if f2 == 2:
                entry = dict(fields(entry))
                names[entry[1]] = entry[2].decode()
        if 11 not in packet:
            continue
        time, event = packet[8], dict(fields(packet[11]))
        track = event[11]
        assert time >= latest[track], "a track goes back in time"
        latest[track] = time
        if event[9] == 1:
            open_on[track].append((names[event[10]], time))
            continue
        name, start = open_on[track].pop() if event[9] == 2 else (names[event[10]], time)
        warp, block = tracks[track]
        out[tracks[block][0], warp.split(" (")[0]].append((name, start, time))
    assert not any(open_on.values()), "what never ended"
    return out


def traces(chrome, perfetto):
    a, b = from_chrome(chrome), from_perfetto(perfetto)
    first = min(start for of in b.values() for _, start, _ in of) - min(start for of in a.values() for _, start, _ in of)
    b = {key: sorted((n, s - first, e - first) for n, s, e in of) for key, of in b.items()}
    assert sorted(a) == sorted(b), (sorted(a)[:3], sorted(b)[:3])
    for key, of in a.items():
        assert len(of) == len(b[key])
        for x, y in zip(sorted(of), b[key]):
            assert x[0] == y[0] and abs(x[1] - y[1]) <= 1 and abs(x[2] - y[2]) <= 1, (key, x, y)
    print(len(a), sum(map(len, a.values())))


if __name__ == "__main__":
    {"make": make, "traces": traces}[sys.argv[1]](*sys.argv[2:])

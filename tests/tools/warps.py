#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""warps.py FILE: what a file of single warps has (src/intra/warp_file.h), a line each launch: kernel, path, number, record,
blocks x warps, those that are missing, and by scope how often and how long; then how many launches are left out."""
import struct
import sys

PRIME, MASK = 0x100000001B3, (1 << 64) - 1


def checksum(kind, body):
    h = 0xCBF29CE484222325
    for word in (kind | len(body) << 32, *(w for (w,) in struct.iter_unpack("<Q", body))):
        h = ((h ^ word) * PRIME) & MASK
        h ^= h >> 32
    return h


def pieces(data):
    at = 0
    while at < len(data):
        kind, size, seen = struct.unpack_from("<IIQ", data, at)
        body = data[at + 16 : at + 16 + size]
        if len(body) != size or seen != checksum(kind, body):
            sys.exit(f"not whole at byte {at}")
        yield struct.pack("<I", kind).decode(), body
        at += 16 + size


def names_of(body):
    n, at = struct.unpack_from("<I", body, 4)[0], 8
    for _ in range(n):
        size = struct.unpack_from("<I", body, at)[0]
        yield body[at + 4 : at + 4 + size].decode()
        at += 4 + size


def warps_of(body, names):
    """How often and how long each scope, below the one that it is in."""
    at = 0
    while at < len(body):
        warp = struct.unpack_from("<II8Q", body, at)
        at += 72
        paths, out = [], []
        for _ in range(warp[-1]):
            _, cycles, parent, name = struct.unpack_from("<QQII", body, at)
            at += 24
            above = paths[parent] + "/" if parent != 0xFFFFFFFF else ""
            paths.append(above + names[name & 0xFFFFFFF])
            out.append((paths[-1], 0 if name >> 31 else cycles))
        yield warp, out


def main():
    names, launches, left_out = [], [], 0
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    for kind, body in pieces(data):
        if kind == "WRPS":
            names = [""]
        elif kind == "NAME":
            names += names_of(body)
        elif kind == "LNCH":
            launches.append((struct.unpack_from("<IIQiI5Q", body), names, [], {}))
        elif kind == "WARP":
            for warp, scopes in warps_of(body, names):
                launches[-1][2].append(warp)
                for path, cycles in scopes:
                    n, sum_ = launches[-1][3].get(path, (0, 0))
                    launches[-1][3][path] = (n + 1, sum_ + cycles)
        elif kind == "LOST":
            left_out += struct.unpack("<Q", body)[0]
    for head, names, warps, scopes in launches:
        kernel, path, number, device, per_block, start, end, blocks, dropped, n = head
        if n != len(warps):
            sys.exit(f"{len(warps)} warps, not {n}")
        print(
            f"{names[kernel]} [{names[path].replace(chr(10), '/')}] {number} {end - start}ns "
            f"{blocks}x{per_block} {n}-{dropped}:",
            " ".join(f"{p} {a} {b}" for p, (a, b) in sorted(scopes.items())),
        )
    print(left_out, "left out")


main()

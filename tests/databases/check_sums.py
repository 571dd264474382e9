#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what proton reads from a database of nsys with what SQL says: for each kernel, and for
copies, sets and graphs, how many and how long; for copies of each direction and size, how many and how
many bytes, and the same from where to where. Usage: check_sums.py PROTON DATABASE"""
import json
import sqlite3
import subprocess
import sys

KINDS = {"copy": "MEMCPY", "set": "MEMSET"}
# CUPTI's numbers of directions, and nsys' own of pages that move.
DIRECTIONS = {1: "HtoD", 2: "DtoH", 8: "DtoD", 9: "HtoH", 10: "PtoP", 11: "HtoD", 12: "DtoH", 13: "DtoD"}
ENDS = {"HtoD": ("host", "device"), "DtoH": ("device", "host"), "HtoH": ("host", "host")}
ON_DEVICES = "device", "device"


def add(sums, key, count, amount):
    was = sums.get(key, (0, 0))
    sums[key] = was[0] + count, was[1] + amount


def size_of(n_bytes):
    """The metric that counts copies of so many bytes."""
    power = n_bytes.bit_length() - 1
    if power < 10:
        return "copies_below_1KiB"
    return "copies_from_1GiB" if power >= 30 else f"copies_of_{1 << power % 10}{'KM'[power // 10 - 1]}iB"


def by_sql(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = {name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    sums = {}
    for kind in "MEMCPY", "MEMSET", "GRAPH_TRACE":
        if f"CUPTI_ACTIVITY_KIND_{kind}" in tables:
            sums[kind] = db.execute(
                f"SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_{kind}").fetchone()
    for kind, n_bytes in db.execute("SELECT copyKind, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY"):
        direction = DIRECTIONS[kind]
        add(sums, (direction, size_of(n_bytes)), 1, n_bytes)
        add(sums, ENDS.get(direction, ON_DEVICES), 1, n_bytes)
    for name, count, ns in db.execute(
            "SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k "
            "JOIN StringIds AS s ON s.id = coalesce(k.mangledName, k.demangledName) GROUP BY value"):
        sums[name] = (count, ns)
    return sums


def by_proton(proton, path):
    text = subprocess.run([proton, "export", "-f", "json", path], check=True, capture_output=True).stdout
    profile, sums = json.loads(text), {}
    for pair in profile["traffic"]:
        add(sums, (pair["from"]["where"], pair["to"]["where"]), pair["count"], pair["bytes"])
    for node in profile["nodes"]:
        metrics = node["metrics"]
        if "time (ns)" not in metrics:
            continue
        graph = node["name"].startswith("<graph ")
        key = "GRAPH_TRACE" if graph else KINDS.get(node["kind"], node["name"])
        add(sums, key, metrics["count"], metrics["time (ns)"])
        for size in metrics:
            if size + "_bytes" in metrics:
                add(sums, (node["name"].split()[1], size), metrics[size], metrics[size + "_bytes"])
    return sums


want, got = by_sql(sys.argv[2]), by_proton(sys.argv[1], sys.argv[2])
for key in sorted(want.keys() | got.keys(), key=str):
    if want.get(key) != got.get(key):
        print(f"{key}: {want.get(key)} in the database, {got.get(key)} here")
sys.exit(want != got)

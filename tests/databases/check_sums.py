#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what proton reads from a database of nsys with what SQL says: for each kernel, and for
copies, sets and graphs, how many and how long. Usage: check_sums.py PROTON DATABASE"""
import json
import sqlite3
import subprocess
import sys

KINDS = {"copy": "MEMCPY", "set": "MEMSET"}


def by_sql(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = {name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    sums = {}
    for kind in "MEMCPY", "MEMSET", "GRAPH_TRACE":
        if f"CUPTI_ACTIVITY_KIND_{kind}" in tables:
            sums[kind] = db.execute(
                f"SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_{kind}").fetchone()
    for name, count, ns in db.execute(
            "SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k "
            "JOIN StringIds AS s ON s.id = coalesce(k.mangledName, k.demangledName) GROUP BY value"):
        sums[name] = (count, ns)
    return sums


def by_proton(proton, path):
    text = subprocess.run([proton, "export", "-f", "json", path], check=True, capture_output=True).stdout
    sums = {}
    for node in json.loads(text)["nodes"]:
        if "time (ns)" not in node["metrics"]:
            continue
        graph = node["name"].startswith("<graph ")
        key = "GRAPH_TRACE" if graph else KINDS.get(node["kind"], node["name"])
        count, ns = sums.get(key, (0, 0))
        sums[key] = (count + node["metrics"]["count"], ns + node["metrics"]["time (ns)"])
    return sums


want, got = by_sql(sys.argv[2]), by_proton(sys.argv[1], sys.argv[2])
for key in sorted(want.keys() | got.keys()):
    if want.get(key) != got.get(key):
        print(f"{key}: {want.get(key)} in the database, {got.get(key)} here")
sys.exit(want != got)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what proton says of the copies in a trace with what the operations in it add up to: for each
device how long it worked, copied, and did both, and for each stream and direction how many copies there
were, how long they ran and for how much of that something else did. Usage: check_copies.py PROTON FILE"""
import json
import re
import subprocess
import sys
from collections import defaultdict


def covered(spans):
    """Sorted pieces that do not touch."""
    pieces = []
    for start, end in sorted(spans):
        if pieces and start <= pieces[-1][1]:
            pieces[-1][1] = max(end, pieces[-1][1])
        elif end > start:
            pieces.append([start, end])
    return pieces


def length(pieces):
    return sum(end - start for start, end in pieces)


def both(a, b):
    """How long two sets of sorted pieces have in common: what each has less what either has."""
    return length(a) + length(b) - length(covered(a + b))


text = subprocess.run([sys.argv[1], "export", "-f", "json", sys.argv[2]], check=True, capture_output=True).stdout
profile = json.loads(text)
nodes = {n["id"]: n for n in profile["nodes"]}
copies, others = defaultdict(lambda: defaultdict(list)), defaultdict(list)
for i in profile["intervals"]:
    lane, node = profile["lanes"][i["lane"]], nodes[i["node"]]
    span = i["start_ns"], i["end_ns"]
    device = lane["process"], lane["device"]
    if lane["device"] is None:
        continue
    if node["kind"] != "copy":
        others[device].append(span)
        continue
    direction = re.search("HtoD|DtoH|DtoD|HtoH|PtoP|$", node["name"]).group()
    copies[device][lane["context"], lane["stream"], direction].append(span)

want, got = {}, {}
for device in copies.keys() | others.keys():
    work, all_copies = covered(others[device]), covered(sum(copies[device].values(), []))
    hidden = both(work, all_copies)
    want[device] = length(work) + length(all_copies) - hidden, length(all_copies), hidden
    for lane, spans in copies[device].items():
        want[device + lane] = len(spans), length(covered(spans)), both(work, covered(spans))
for use in profile["uses"]:
    got[use["process"], use["device"]] = use["busy_ns"], use["copies_ns"], use["hidden_ns"]
for lane in profile["copy_lanes"]:
    key = lane["process"], lane["device"], lane["context"], lane["stream"], lane["direction"]
    got[key] = lane["count"], lane["time_ns"], lane["hidden_ns"]
    if lane["channel_kind"] or lane["channel"] or lane["unsure_ns"]:
        print(f"{key}: {lane}")
for key in sorted(want.keys() | got.keys(), key=str):
    if want.get(key) != got.get(key):
        print(f"{key}: {want.get(key)} in the trace, {got.get(key)} here")
print(len(profile["copy_lanes"]), "streams,", sum(use["hidden_ns"] for use in profile["uses"]), "ns hidden")

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""validate_exports.py DIR: each DIR/NAME.FORMAT, parsed by others, against DIR/NAME.json."""
import csv
import io
import json
import math
import os
import re
import sys
import xml.etree.ElementTree

import pprof

TIME = "time (ns)"


def without_metadata(doc):
    """Ids of the nodes that stacks and pictures show: all but launch metadata of Triton."""
    shown = set()
    for node in doc["nodes"]:
        if (node["parent"] is None or node["parent"] in shown) and node["name"] != "__proton_launch_metadata":
            shown.add(node["id"])
    return shown


def weights(doc):
    """Own and inclusive time of all nodes, as stacks have it."""
    shown = without_metadata(doc)
    own = [node["metrics"].get(TIME, 0) if node["id"] in shown else 0 for node in doc["nodes"]]
    total = list(own)
    for node in reversed(doc["nodes"]):
        if node["parent"] is not None:
            total[node["parent"]] += total[node["id"]]
    return own, total


def names(doc, node):
    path = []
    while node["parent"] is not None:
        path.insert(0, node["name"] or "<unnamed>")
        node = doc["nodes"][node["parent"]]
    return path


def unescape(name):
    return re.sub("%(3B|0A|0D|25)", lambda m: chr(int(m.group(1), 16)), name)


def check_csv(path, doc):
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    assert text.count("\r\n") >= len(doc["nodes"]) + 1
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == len(doc["nodes"]), (len(rows), len(doc["nodes"]))
    total = [node["metrics"].get(TIME, 0) for node in doc["nodes"]]
    for node in reversed(doc["nodes"][1:]):
        total[node["parent"]] += total[node["id"]]
    for row, node in zip(rows, doc["nodes"]):
        assert None not in row and None not in row.values(), row
        assert int(row["id"]) == node["id"]
        assert row["parent"] == ("" if node["parent"] is None else str(node["parent"]))
        assert row["kind"] == node["kind"]
        assert row["name"] == (node["name"] or "<unnamed>"), (row["name"], node["name"])
        if node["parent"] is not None:
            assert list(map(unescape, row["path"].split(";"))) == names(doc, node)
            assert int(row["depth"]) == len(names(doc, node))
        for key in [k for k in row if k in {m["name"] for m in doc["metrics"]}]:
            want = node["metrics"].get(key)
            if isinstance(want, str):
                assert row[key] == want, (row[key], want)
            elif want is None:
                assert row[key] == "", (key, row[key])
            else:
                assert type(want)(row[key]) == want, (key, row[key], want)
        got = row.get(TIME + " [inclusive]", "")
        assert int(got or 0) == total[node["id"]], (got, total[node["id"]])


def check_markdown(path, doc):
    with open(path, encoding="utf-8", newline="") as f:
        lines = f.read().split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(doc["nodes"]) + 2
    cells = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines}
    assert len(cells) == 1, cells
    assert re.fullmatch(r"\|( :?-+:? \|)+", lines[1])


def check_folded(path, doc):
    own, _ = weights(doc)
    want = {}
    for node in doc["nodes"]:
        if own[node["id"]]:
            key = tuple(names(doc, node)) or ("ROOT",)
            want[key] = want.get(key, 0) + own[node["id"]]
    got = {}
    with open(path, encoding="utf-8", errors="replace", newline="\n") as f:
        for line in f:
            stack, value = re.fullmatch(r"(.*) (\d+)\n", line).groups()
            key = tuple(map(unescape, stack.split(";")))
            got[key] = got.get(key, 0) + int(value)
    assert got == want


def only(value, required, optional=()):
    """An object with these keys and no others (the schema of speedscope closes all objects)."""
    assert isinstance(value, dict)
    assert set(required) <= set(value) <= set(required) | set(optional), value.keys()


def check_speedscope(path, doc):
    with open(path, encoding="utf-8") as f:
        file = json.load(f)
    only(file, ["$schema", "profiles", "shared"], ["activeProfileIndex", "exporter", "name"])
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    only(file["shared"], ["frames"])
    frames = file["shared"]["frames"]
    for frame in frames:
        only(frame, ["name"], ["file", "line", "col"])
        assert isinstance(frame["name"], str) and isinstance(frame.get("line", 0), int)
    assert 0 <= file["activeProfileIndex"] < len(file["profiles"])
    own, _ = weights(doc)
    for profile in file["profiles"]:
        only(profile, ["type", "name", "unit", "startValue", "endValue", "samples", "weights"])
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["startValue"] == 0 and profile["endValue"] == sum(own)
        stacks = [tuple(frames[i]["name"] for i in sample) for sample in profile["samples"]]
        assert profile["weights"] == [v for v in own if v]
        assert stacks == [tuple(names(doc, n)) or ("ROOT",) for n in doc["nodes"] if own[n["id"]]]


def callgrind_file(text):
    """Events, own costs by function, and (caller, callee) with [calls, inclusive costs]."""
    lines = text.split("\n")
    assert lines[0] == "# callgrind format" and lines.pop() == ""
    names, functions, calls, events, caller, callee, n_calls = {}, {}, {}, [], None, None, None
    for line in lines[1:]:
        key, _, value = line.partition("=")
        if line.startswith("events:"):
            events = line.split()[1:]
            assert len(set(events)) == len(events) and all(map(str.isidentifier, events))
        elif line.startswith("summary:"):
            summary = [int(v) for v in line.split()[1:]]
        elif key in ("fn", "cfn"):
            number, name = re.fullmatch(r"\((\d+)\)(?: (.*))?", value).groups()
            if name is not None:
                assert names.setdefault(number, name) == name
            caller, callee = (names[number], None) if key == "fn" else (caller, names[number])
        elif key == "calls":
            n_calls = int(value.split()[0])
        elif line[:1].isdigit():
            costs = [int(v) for v in line.split()[1:]]
            assert len(costs) == len(events)
            if n_calls is None:
                functions[caller] = [a + b for a, b in zip(functions.get(caller, [0] * len(events)), costs)]
            else:
                old = calls.get((caller, callee), [0] * (len(events) + 1))
                calls[caller, callee] = [a + b for a, b in zip(old, [n_calls] + costs)]
            n_calls = None
        else:
            assert not line or key in ("fl", "cfi") or re.match("(version|creator|cmd|positions|event): ", line), line
    assert summary == [sum(costs[i] for costs in functions.values()) for i in range(len(events))]
    return events, functions, calls


def check_callgrind(path, doc):
    with open(path, encoding="utf-8", newline="\n") as f:
        events, functions, calls = callgrind_file(f.read())
    clean = re.compile("[\x00-\x1f]")
    own, total = weights(doc)
    shown = [clean.sub(" ", n["name"] or ("ROOT" if n["parent"] is None else "")).lstrip(" ") or "<unnamed>"
             for n in doc["nodes"]]
    want, below = {}, {}
    visible = without_metadata(doc)
    for node, name in zip(doc["nodes"], shown):
        if node["id"] not in visible:
            continue
        want[name] = want.get(name, 0) + own[node["id"]]
        if node["parent"] is not None:
            edge = shown[node["parent"]], name
            below[edge] = below.get(edge, 0) + total[node["id"]]
    time = events.index("time") if "time" in events else None
    assert set(functions) == set(want) and set(calls) == set(below)
    if time is not None:
        assert {name: costs[time] for name, costs in functions.items()} == want
        assert {edge: costs[1 + time] for edge, costs in calls.items()} == below


def check_flamegraph(path, doc):
    svg = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.tag == svg + "svg"
    _, total = weights(doc)
    boxes = root.findall(svg + "g")
    shown = [n for n in doc["nodes"] if total[n["id"]] > 0 and total[n["id"]] >= total[0] / 20000]
    assert len(boxes) == len(shown), (len(boxes), len(shown))
    assert bool(root.findall(svg + "script")) == bool(total[0])
    clean = re.compile("[\x00-\x1f\x7f\ufffe\uffff]")
    for box, node in zip(boxes, shown):
        assert math.isclose(float(box.get("data-w")), total[node["id"]] / total[0], rel_tol=1e-6)
        assert node["kind"] in box.get("class").split()
        want = clean.sub("\ufffd", (node["name"] or "<unnamed>").replace("\n", " ").replace("\t", " "))
        assert box.get("data-n") == want, (box.get("data-n"), want)
        assert box.find(svg + "title").text.startswith(want + ": %d ns" % total[node["id"]])
    for element in root.iter():  # nothing comes from elsewhere
        assert not any("href" in key or "src" == key for key in element.keys())


def check_dot(path, doc):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    try:
        import pydot
        graph = pydot.graph_from_dot_data(text)
        assert graph and len(graph) == 1
    except ImportError:
        print("pydot is not installed: dot looked at by its lines only")
    _, total = weights(doc)
    string = r'"(?:[^"\\]|\\.)*"'
    nodes = re.findall(r"^\tn(\d+) \[label=" + string, text, re.M)
    visible = without_metadata(doc)
    want = [n["id"] for n in doc["nodes"]
            if n["id"] in visible and (not n["id"] or total[n["id"]] >= 0.005 * total[0])]
    assert list(map(int, nodes)) == want
    edges = re.findall(r"^\tn(\d+) -> n(\d+) ", text, re.M)
    assert [(doc["nodes"][i]["parent"], i) for i in want if i] == [(int(a), int(b)) for a, b in edges]


def own_host_time(doc):
    """The host's time of each node less that of the nearest ones below it that have any."""
    time = [node["metrics"].get("cpu_time (ns)", 0) for node in doc["nodes"]]
    own = list(time)
    for node in doc["nodes"]:
        up = node["parent"]
        while up is not None and not time[up]:
            up = doc["nodes"][up]["parent"]
        if up is not None:
            own[up] -= time[node["id"]]
    return [max(v, 0) for v in own]


def check_pprof(path, doc):
    profile = pprof.parse(path)
    assert len(profile["comments"]) == 1 and profile["comments"][0].startswith("proton ")
    shown = without_metadata(doc)
    occur = {name for node in doc["nodes"] for row in node["rows"] for name in row["metrics"]}
    metrics = [m["name"] for m in doc["metrics"]
               if m["name"] in occur and m["type"] != "text" and m["add"] in ("sum", "gauge")] or [TIME]
    assert [name for name, _ in profile["types"]] == [m.split(" (ns)")[0] for m in metrics], profile["types"]
    assert profile["default"] in ("time", "cpu_time", "")
    host, want = own_host_time(doc), []
    for node in doc["nodes"]:
        values = [host[node["id"]] if m == "cpu_time (ns)" else node["metrics"].get(m) or 0 for m in metrics]
        values = [v if node["id"] in shown and v > 0 else 0 for v in values]
        want.append((tuple(names(doc, node)) or ("ROOT",), values))
    want = [(stack, values) for stack, values in want if any(values)]
    assert [tuple(name for name, raw in stack) for stack, _, _ in profile["samples"]] == [stack for stack, _ in want]
    for (stack, values, labels), (_, wanted) in zip(profile["samples"], want, strict=True):
        assert not labels and all(name == raw for name, raw in stack)
        for (_, unit), v, w in zip(profile["types"], values, wanted, strict=True):
            scaled = re.fullmatch("x1e-([0-9]+).*", unit)
            v = v / 10**int(scaled[1]) if scaled else v
            assert v == w or abs(v - w) <= 1e-9 * w or v == min(w, 2**63 - 1), (unit, v, w)


def plain(tree):
    """A Hatchet tree without what only our own readers look at."""
    tree.pop("proton", None)
    for child in tree["children"]:
        plain(child)
    return tree


def count(tree):
    return 1 + sum(map(count, tree["children"]))


def check_msgpack(path, doc):
    try:
        import msgpack
    except ImportError:
        print("skipped: MessagePack: msgpack is not installed")
        return
    with open(path, "rb") as f:
        tree, devices = msgpack.unpackb(f.read(), strict_map_key=True)
    assert list(tree) == ["frame", "metrics", "children"]
    assert count(tree) == len(doc["nodes"])
    with open(path.removesuffix("_msgpack"), encoding="utf-8") as f:
        want, want_devices = json.load(f)
    if count(want) != len(doc["nodes"]):  # siblings of equal name are one in Hatchet JSON
        return
    assert tree == plain(want)
    for kind, table in devices.items():
        for index, device in table.items():
            assert device.items() <= want_devices[kind][index].items()


def is_host(node, lane):
    return lane["device"] is None and node["kind"] not in ("kernel", "copy", "set", "graph")


def executions(doc):
    """(group, name, category, start, duration) of each interval, and its calling context."""
    kinds = {"copy": "gpu_memcpy", "set": "gpu_memset"}
    on_host = {"scope": "scope", "nvtx": "nvtx", "range": "nvtx", "python": "python_function", "sync": "cuda_runtime"}
    found = []
    for i in doc["intervals"]:
        node = doc["nodes"][i["node"]]
        lane = doc["lanes"][i["lane"]]
        found.append(((lane["process"], lane["device"]), node["name"] or "<unnamed>",
                      on_host.get(node["kind"], "cpu_op") if is_host(node, lane) else
                      kinds.get(node["kind"], "kernel"), i["start_ns"],
                      i["end_ns"] - i["start_ns"], tuple(names(doc, node))))
    return sorted(found, key=str)


def check_nothing_overlaps(tracks):
    for events in tracks.values():
        for (start, duration), (after, _) in zip(sorted(events), sorted(events)[1:]):
            assert start + duration <= after, (start, duration, after)


def check_all_nest(tracks):
    for events in tracks.values():
        around = []
        for start, duration in sorted(events, key=lambda e: (e[0], -e[1])):
            while around and around[-1] <= start:
                around.pop()
            assert not around or start + duration <= around[-1], (start, duration, around)
            around.append(start + duration)


def bytes_of(doc):
    """Bytes of what the trace shows: of nodes of which all executions are in it."""
    n = {}
    for i in doc["intervals"]:
        n[i["node"]] = n.get(i["node"], 0) + 1
    return sum(node["metrics"].get("bytes", 0) for node in doc["nodes"]
               if n.get(node["id"]) == node["metrics"].get("count"))


def launches(doc):
    """When each operation started that was launched within a range of the host, and how long after that."""
    ranges, found = {}, []
    for i in doc["intervals"]:
        lane = doc["lanes"][i["lane"]]
        if is_host(doc["nodes"][i["node"]], lane):
            ranges.setdefault((lane["process"], lane["thread"]), []).append((i["start_ns"], i["end_ns"]))
    for i in doc["intervals"]:
        lane = doc["lanes"][i["lane"]]
        at = i["start_ns"] - i["latency_ns"]
        if i["latency_ns"] and any(start <= at <= end for start, end in ranges.get((lane["process"], lane["thread"]), [])):
            found.append((i["start_ns"], i["latency_ns"]))
    return sorted(found)


def on_device(doc, lane):
    """Its process and device; None: a lane of the host, or of work that is on no device that is known."""
    return None if lane["device"] is None else (lane["process"], lane["device"])


def worked(doc):
    """By process and device: how long anything ran there, all lanes as one."""
    total, spans = {}, {}
    for i in doc["intervals"]:
        spans.setdefault(on_device(doc, doc["lanes"][i["lane"]]), []).append((i["start_ns"], i["end_ns"]))
    spans.pop(None, None)
    for key, of in spans.items():
        end = total[key] = 0
        for a, b in sorted(of):
            total[key] += max(b, end) - max(a, end)
            end = max(b, end)
    return total


def check_counters(counters, doc):
    """counters: by track the name, and (ns, value) in the order of time. Busy time is what the columns add up to,
    memory what the samples say from the first event on."""
    busy = [of for name, of in counters if name == "busy %"]
    area = sorted(sum((b[0] - a[0]) * a[1] / 100 for a, b in zip(of, of[1:])) for of in busy)
    want = sorted(worked(doc).values())
    assert all(0 <= v <= 100.000001 for of in busy for _, v in of) and all(of[-1][1] == 0 for of in busy)
    # Columns that are alike are one, and a time in microseconds may be a nanosecond off.
    assert len(area) >= len(want) and all(abs(a - b) <= 1e-6 * b + 1000 for a, b in zip(area[-len(want):], want))
    zero, held = min(i["start_ns"] for i in doc["intervals"]), {}
    for s in sorted(doc["samples"], key=lambda s: s["time_ns"]):
        if s["metric"] == "live_bytes" and (s["process"], s["device"]) in worked(doc):
            of = held.setdefault((s["process"], s["device"]), [])
            if s["time_ns"] <= zero:
                of.clear()
            of.append((max(s["time_ns"], zero), s["value"]))
    assert sorted(of for name, of in counters if name == "memory") == sorted(held.values())
    check_hardware(counters, doc)


# Hardware counters: what their tracks are called, and their keys in a profile.
HARDWARE = {
    "thread blocks (per second)": "blocks_per_second", "DRAM read %": "dram_read_percent",
    "DRAM write %": "dram_write_percent", "FMA issue %": "fma_issue_percent", "GPC clock (Hz)": "gpc_clock_hz",
    "GR active %": "gr_active_percent", "L2 hits %": "l2_hit_percent",
    "NVLink rx (bytes/s)": "nvlink_rx_bytes_per_second", "NVLink tx (bytes/s)": "nvlink_tx_bytes_per_second",
    "PCIe read (bytes/s)": "pcie_read_bytes_per_second", "PCIe write (bytes/s)": "pcie_write_bytes_per_second",
    "SM active %": "sm_active_percent", "SM issue %": "sm_issue_percent", "SYS clock (Hz)": "sys_clock_hz",
    "tensor active %": "tensor_active_percent", "warps active %": "warps_active_percent"}


def check_hardware(counters, doc):
    """They are of the time of day in a profile, and on the clock of the operations beside these, from the first on."""
    zero, want = min(i["start_ns"] for i in doc["intervals"]), []
    offsets = {c["clock_ns"] - c["monotonic_ns"] for c in doc["clocks"] if c["name"] == "realtime"}
    assert len(offsets) <= 1
    for offset in offsets:
        for device in {r["device"] for r in doc["counters"]}:
            for name, key in HARDWARE.items():
                values = []
                for r in sorted((r for r in doc["counters"] if r["device"] == device), key=lambda r: r["start_ns"]):
                    if r[key] is not None and r["end_ns"] - offset > zero and r[key] != (values or [(0, None)])[-1][1]:
                        values.append((max(r["start_ns"] - offset, zero), r[key]))
                if values:
                    want.append((name, values))
    assert sorted((name, of) for name, of in counters if name in HARDWARE) == sorted(want)


def check_chrome(path, doc):
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    zero = min(i["start_ns"] for i in doc["intervals"])
    groups, found, tracks, arrows, counters = {}, [], {}, {"s": {}, "f": {}}, {}
    for e in trace["traceEvents"]:
        if e["ph"] == "M":
            if e["name"] == "process_name":
                groups[e["pid"]] = e["args"]["name"]
            continue
        if e["ph"] in arrows:
            assert e["id"] not in arrows[e["ph"]] and (e["ph"] == "s" or e["bp"] == "e")
            arrows[e["ph"]][e["id"]] = (e["pid"], e["tid"]), round(e["ts"] * 1000) + zero
            continue
        if e["ph"] == "C":
            (value,) = e["args"].values()
            counters.setdefault((e["name"], e["pid"]), []).append((round(e["ts"] * 1000) + zero, value))
            continue
        assert e["ph"] == "X", e
        start, duration = round(e["ts"] * 1000) + zero, round(e["dur"] * 1000)
        assert e["args"]["call_stack"][0] == "ROOT"
        found.append((e["name"], e["cat"], start, duration, tuple(e["args"]["call_stack"][1:])))
        tracks.setdefault(("stream" in e["args"], e["pid"], e["tid"]), []).append((start, duration))
    assert sorted(found, key=str) == sorted((x[1:] for x in executions(doc)), key=str)
    check_counters([(name, of) for (name, _), of in counters.items()], doc)
    assert sum(e["args"].get("bytes", 0) for e in trace["traceEvents"] if e["ph"] == "X") >= bytes_of(doc)
    assert len({pid for _, pid, _ in tracks}) == len({x[0] for x in executions(doc)})
    assert len(set(groups.values())) == len(groups)
    check_nothing_overlaps({k: v for k, v in tracks.items() if k[0]})
    check_all_nest(tracks)
    assert arrows["s"].keys() == arrows["f"].keys()
    for end, on_stream in ("s", False), ("f", True):
        for track, at in arrows[end].values():
            assert any(start <= at <= start + duration for start, duration in tracks[(on_stream, *track)]), (end, at)
    assert sorted((arrows["f"][i][1], arrows["f"][i][1] - at) for i, (_, at) in arrows["s"].items()) == launches(doc)
    devices = [(d["id"], d["name"], d.get("arch", "")) for d in trace["deviceProperties"]]
    assert devices == [(d["index"], d["name"], d["arch"]) for d in doc["devices"]]
    for d in trace["deviceProperties"]:
        assert "computeMajor" not in d or "%(computeMajor)d%(computeMinor)d" % d == d["arch"]


def check_perfetto(path, doc):
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError:
        print("not checked: Perfetto's definitions are not installed (pip install perfetto)")
        return
    trace = perfetto_trace_pb2.Trace()
    with open(path, "rb") as f:
        trace.ParseFromString(f.read())
    names_of, contexts, categories, parents, is_thread = {}, {}, {}, {}, {}
    found, open_slices, tracks, at, begun, ended = [], {}, {}, {}, [], {}
    names, counters = {}, {}
    for p in trace.packet:
        assert not p.HasField("interned_data") or p.trusted_packet_sequence_id == 1
        names_of.update((n.iid, n.name) for n in p.interned_data.event_names)
        categories.update((n.iid, n.name) for n in p.interned_data.event_categories)
        contexts.update((n.iid, n.str.decode()) for n in p.interned_data.debug_annotation_string_values)
        if p.HasField("track_descriptor"):
            d = p.track_descriptor
            assert d.name and d.uuid not in parents
            parents[d.uuid] = d.parent_uuid
            names[d.uuid] = d.name
            is_thread[d.uuid] = d.name.startswith("thread ")
        if not p.HasField("track_event"):
            continue
        e = p.track_event
        assert p.timestamp >= at.get(e.track_uuid, 0)
        at[e.track_uuid] = p.timestamp
        if e.type == e.TYPE_SLICE_BEGIN:
            context = contexts[e.debug_annotations[0].string_value_iid]
            assert parents[parents[e.track_uuid]] == 0
            begun += e.flow_ids
            ended.update((i, p.timestamp) for i in e.terminating_flow_ids)
            assert not open_slices.get(e.track_uuid) or is_thread[e.track_uuid]
            open_slices.setdefault(e.track_uuid, []).append((names_of[e.name_iid], categories[e.category_iids[0]],
                                                             p.timestamp, context))
        elif e.type == e.TYPE_COUNTER:
            assert names[e.track_uuid] in ("busy %", "memory", *HARDWARE) and parents[parents[e.track_uuid]] == 0
            counters.setdefault(e.track_uuid, []).append((p.timestamp, e.double_counter_value))
        else:
            assert e.type == e.TYPE_SLICE_END
            name, category, start, context = open_slices[e.track_uuid].pop()
            found.append((name, category, start, p.timestamp - start, context))
            tracks.setdefault(e.track_uuid, []).append((start, p.timestamp - start))
    assert not any(open_slices.values())
    check_counters([(names[uuid], of) for uuid, of in counters.items()], doc)
    assert sorted(begun) == sorted(ended) and sorted(ended.values()) == [start for start, _ in launches(doc)]
    want = [(n, c, s, d, " > ".join(path[:-1])) for _, n, c, s, d, path in executions(doc)]
    assert sorted(found) == sorted(want)
    check_nothing_overlaps({k: v for k, v in tracks.items() if not is_thread[k]})
    check_all_nest(tracks)


CHECKS = {
    "chrome": check_chrome,
    "perfetto": check_perfetto,
    "pprof": check_pprof,
    "callgrind": check_callgrind,
    "hatchet_msgpack": check_msgpack,
    "csv": check_csv,
    "markdown": check_markdown,
    "folded": check_folded,
    "speedscope": check_speedscope,
    "flamegraph": check_flamegraph,
    "dot": check_dot,
}


def main(folder):
    done = 0
    for name in sorted(os.listdir(folder)):
        stem, _, kind = name.rpartition(".")
        if kind in CHECKS and os.path.exists(os.path.join(folder, stem + ".json")):
            with open(os.path.join(folder, stem + ".json"), encoding="utf-8") as f:
                doc = json.load(f)
            try:
                CHECKS[kind](os.path.join(folder, name), doc)
            except Exception:
                print(f"in {name}:", file=sys.stderr)
                raise
            done += 1
    assert done
    print(f"{done} files are right")


def check_again(folder):
    """What our reader makes of a trace that we wrote: the same sums by name and kind."""
    sums = []
    for name in ("overlap.json", "chrome-again"):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            nodes = json.load(f)["nodes"]
        sums.append(sorted((n["kind"], n["metrics"].get("count", 0), n["metrics"].get(TIME, 0))
                           for n in nodes))
    assert sums[0] == sums[1], sums


if __name__ == "__main__":
    main(sys.argv[1])
    check_again(sys.argv[1])


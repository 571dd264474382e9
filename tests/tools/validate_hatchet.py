#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""validate_hatchet.py FILE.hatchet...: what other programs make of our Hatchet files.

Beside each file lies FILE.json, the same profile as our JSON export.

The inclusive values that Hatchet (llnl-hatchet) and Triton's proton-viewer compute are compared
with what our JSON export says. Exit status 77, with the reason, where Hatchet is missing; where
only Triton is missing the viewer is left out. PROTON_TRITON_DIR may name a folder that holds
triton/profiler/viewer.py: no more of Triton is needed."""
import collections
import contextlib
import importlib.util
import io
import json
import math
import os
import sys
import types

try:
    from find_hatchet import hatchet
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def load_file(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_viewer():
    """Triton's viewer, with stand-ins for the two things that it takes from the rest of Triton."""
    base = os.environ.get("PROTON_TRITON_DIR")
    if not base:
        spec = importlib.util.find_spec("triton")
        if not spec or not spec.submodule_search_locations:
            return None
        base = os.path.dirname(list(spec.submodule_search_locations)[0])
    folder = os.path.join(base, "triton", "profiler")
    if not os.path.exists(os.path.join(folder, "viewer.py")):
        return None
    for name in ("triton", "triton.profiler", "triton.profiler.hooks"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = []
    launch = types.ModuleType("triton.profiler.hooks.launch")
    launch.COMPUTE_METADATA_SCOPE_NAME = "__proton_launch_metadata"
    launch.LaunchHook = type("LaunchHook", (), {"flops_width": [8, 16, 32, 64]})
    sys.modules["triton.profiler.hooks.launch"] = launch
    specs = load_file("triton.profiler.specs", os.path.join(folder, "specs.py"))
    sys.modules["triton.profiler"].specs = specs
    return load_file("triton.profiler.viewer", os.path.join(folder, "viewer.py"))


def expected_values(path):
    """{(path of names, metric): inclusive value}, siblings of one name folded."""
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    summed = {
        m["name"]
        for m in document["metrics"]
        if m["scope"] == "inclusive" and m["add"] == "sum" and m["type"] != "text"
    }
    values = collections.defaultdict(float)
    paths = []
    for node in document["nodes"]:
        parent = () if node["parent"] is None else paths[node["parent"]]
        paths.append(parent + (node["name"] or "<unnamed>",))
        for metric, value in node["metrics"].items():
            if metric not in summed:
                continue
            for depth in range(1, len(paths[-1]) + 1):
                values[paths[-1][:depth], metric] += value
    return values, summed


def frame_values(graph_frame, summed):
    """The same of a Hatchet graph frame."""
    values = collections.defaultdict(float)
    frame = graph_frame.dataframe
    for node in graph_frame.graph.traverse():
        for path in node.paths():
            names = tuple(step.frame["name"] for step in path)
            for metric in summed & {column.removesuffix(" (inc)") for column in frame.columns}:
                value = frame.loc[node, metric + " (inc)"]
                if not math.isnan(value):
                    values[names, metric] += value
    return values


def compare(what, got, expected, complete):
    failed = 0
    for key, value in got.items():
        if not math.isclose(value, expected.get(key, 0), rel_tol=1e-12):
            print(f"{what}: {key}: {value}, not {expected.get(key)}")
            failed = 1
    for key in expected if complete else ():
        if expected[key] and key not in got:
            print(f"{what}: {key} is missing")
            failed = 1
    print(f"{what}: {len(got)} values compared")
    return failed or not got


def check_hatchet(path, expected, summed):
    with open(path, encoding="utf-8") as f:
        root = json.load(f)[:1]
    graph_frame = hatchet.GraphFrame.from_literal(root)
    graph_frame.update_inclusive_columns()
    return compare("hatchet", frame_values(graph_frame, summed), expected, True)


def check_viewer(viewer, path, expected, summed):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        graph_frame, _, _, _ = viewer.read(path)
        viewer.show_metrics(path)
        metrics = ["time/ns", "time/%"]
        tree, metrics = viewer.parse(metrics, path)
        viewer.print_tree(tree, metrics, print_sorted=True)
    for word in ("Available inclusive metrics", "- time", "- count", "ROOT"):
        if word not in output.getvalue():
            print(f"viewer: no '{word}' in its output")
            return 1
    return compare("viewer", frame_values(graph_frame, summed), expected, False)


def check_file(viewer, path):
    print(f"{os.path.basename(path)}:")
    expected, summed = expected_values(os.path.splitext(path)[0] + ".json")
    failed = check_hatchet(path, expected, summed)
    if viewer:
        failed |= check_viewer(viewer, path, expected, summed)
    return bool(failed)


def main(*paths):
    viewer = load_viewer()
    if not viewer:
        print("skipped: viewer: there is no triton.profiler")
    return int(any([check_file(viewer, path) for path in paths]) or not paths)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

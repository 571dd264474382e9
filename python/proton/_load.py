# SPDX-License-Identifier: MIT
"""Profiles as tables of pandas."""
import json
import os

from . import _command

_ADD = {"sum": sum, "min": min, "max": max, "gauge": sum, "peak": max}


def read(file):
    """A profile as the document of `proton export -f json`. Any format that the command reads.

    errors  OSError: the file cannot be opened; proton.Error: it is no profile; proton.Missing
    thread  any
    """
    with open(file, "rb"):  # so that a file that is not there is the usual exception
        pass
    return json.loads(_command.output("export", "-f", "json", "--", os.fspath(file)).decode())


def _inclusive(nodes, children, metric):
    """Values of a metric that adds up over children: id -> own and descendants'."""
    add = _ADD.get(metric["add"])
    values = {}
    if add is None:
        return values
    for node in reversed(nodes):  # parents come before their children
        parts = [values[child] for child in children[node["id"]] if child in values]
        if metric["name"] in node["metrics"]:
            parts.append(node["metrics"][metric["name"]])
        if parts:
            values[node["id"]] = add(parts)
    return values


def _columns(document):
    """The table as a dictionary of columns, a row a node in the order of the file."""
    nodes = document["nodes"]
    children = {node["id"]: [] for node in nodes}
    by_id, depth, path = {}, {}, {}
    for node in nodes:
        parent = node["parent"]
        by_id[node["id"]] = node
        if parent is None:
            depth[node["id"]], path[node["id"]] = 0, ()
        else:
            children[parent].append(node["id"])
            depth[node["id"]] = depth[parent] + 1
            path[node["id"]] = path[parent] + (node["name"],)
    columns = {
        "name": [node["name"] for node in nodes],
        "kind": [node["kind"] for node in nodes],
        "parent": [-1 if node["parent"] is None else node["parent"] for node in nodes],
        "depth": [depth[node["id"]] for node in nodes],
        "path": [path[node["id"]] for node in nodes],
    }
    for metric in document["metrics"]:
        name = metric["name"]
        own = [node["metrics"].get(name) for node in nodes]
        if all(value is None for value in own):
            continue
        columns[name] = own
        if metric["scope"] == "inclusive":
            values = _inclusive(nodes, children, metric)
            columns[name + " (inc)"] = [values.get(node["id"]) for node in nodes]
    return columns, [node["id"] for node in nodes]


def load(file, graphframe=False):
    """A profile as a pandas DataFrame, of any format that the command `proton` reads.

    A row is a node of the tree, its index the node's number: `name`, `kind` ("scope", "kernel", ...),
    `parent` (-1: none), `depth` (0: the root), `path` (names from the root's children on), a column for
    each metric that there is with the node's own value, and "METRIC (inc)" with that of its subtree where
    the metric adds up. Units are in the names ("time (ns)"). What is absent is missing, not 0. The
    document's other parts (devices, losses, ...) are in `attrs` of the table.

    graphframe  give a GraphFrame of llnl-hatchet in its place
    errors      ImportError: pandas or llnl-hatchet is not installed; OSError: the file cannot be
                opened; proton.Error: it is no profile; proton.Missing: there is no command `proton`
    thread      any
    """
    if graphframe:
        return _graphframe(file)
    try:
        import pandas
    except ImportError as error:
        raise ImportError("proton.load() needs pandas: pip install pandas") from error
    document = read(file)
    columns, index = _columns(document)
    frame = pandas.DataFrame(columns, index=pandas.Index(index, name="node"))
    frame.attrs = {
        name: value for name, value in document.items() if name not in ("nodes", "metrics")
    }
    return frame


def _graphframe(file):
    try:
        from hatchet import GraphFrame
    except ImportError as error:
        raise ImportError(
            "a GraphFrame needs llnl-hatchet (not the package named hatchet): pip install llnl-hatchet"
        ) from error
    with open(file, "rb"):
        pass
    tree = json.loads(_command.output("export", "-f", "hatchet", "--", os.fspath(file)).decode())
    return GraphFrame.from_literal(tree[:1])

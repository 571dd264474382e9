# SPDX-License-Identifier: MIT
"""Profiles as tables with the metrics of Triton's viewer, for scripts that compute with them.

    frames, metrics = viewer.parse(["time/ms", "util"], "run.hatchet")
    frames.dataframe[metrics]
    viewer.print_tree(frames, metrics)

The text is that of `proton viewer`, which is that of Triton's viewer; files are whatever the command reads. Tables
are of pandas, a row a node in the order in which the text has them, ROOT first: `name`, `path` (names from the
root's children on), `depth`, a column for each metric with the node's own value, and "METRIC (inc)" with that of
its subtree. What is absent is NaN. llnl-hatchet is not needed.

Errors: ImportError: pandas is not installed; OSError: a file cannot be opened; ValueError: no such metric;
proton.Error: it is no profile. Any thread.
"""
import json
import math
import os
import re
import sys

from . import _command, specs
from .state import COMPUTE_METADATA_SCOPE_NAME

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_TIMES = re.compile(r"(avg_)?(cpu_)?time/(s|ms|us|ns)$")
_RATES = re.compile(r"([gt]?)(flop(?:8|16|32|64)?|byte)/s$")
_FACTORS = {"": 1.0, "g": 1e9, "t": 1e12}
_WIDTHS = (8, 16, 32, 64)


class Frames:
    """Nodes of a profile. dataframe: the table; inc_metrics and exc_metrics: its columns of metrics, those of
    subtrees and the others; file, and what was filtered, for the command that prints them."""

    def __init__(self, file, dataframe, inc_metrics, exc_metrics, **options):
        self.file = file
        self.dataframe = dataframe
        self.inc_metrics, self.exc_metrics = inc_metrics, exc_metrics
        self.options = options

    def _with(self, dataframe, **options):
        options = dict(self.options, **options)
        return Frames(self.file, dataframe, self.inc_metrics, self.exc_metrics, **options)


def _pandas():
    try:
        import pandas
    except ImportError as error:
        raise ImportError("proton.viewer needs pandas: pip install pandas") from error
    return pandas


def _rows(node, path, rows):
    """Rows of a node and of what is below it, siblings by name. Returns its own."""
    row = {"name": node["frame"]["name"], "path": path, "depth": len(path)}
    row.update(node["metrics"])
    rows.append(row)
    below = []
    for child in sorted(node["children"], key=lambda c: c["frame"]["name"]):
        if not child["frame"]["name"].startswith(COMPUTE_METADATA_SCOPE_NAME):
            below.append(_rows(child, path + (child["frame"]["name"],), rows))
    return row, below


def _roll_up(tree, metrics):
    """Values of subtrees: those that add up are the keys of the root's metrics."""
    row, below = tree
    for child in below:
        _roll_up(child, metrics)
    for metric in metrics:
        parts = [child[0].get(metric + " (inc)") for child in below] + [row.get(metric)]
        parts = [part for part in parts if isinstance(part, (int, float))]
        if parts:
            row[metric + " (inc)"] = sum(parts)


def read(filename):
    """A profile: (Frames, names of metrics that add up, names of the others, what is known of devices).
    The last is {"CUDA": {"0": {"arch": "90", "num_sms": 132, "clock_rate": kHz, ...}}}."""
    _pandas()
    with open(filename, "rb"):
        pass
    return _frames(
        json.loads(_command.output("export", "-f", "hatchet", "--", os.fspath(filename)).decode()), filename
    )


def get_raw_metrics(database):
    """The same of what proton.data.get() returned."""
    return _frames(database, None)


def _frames(document, filename):
    pandas = _pandas()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20000))
    try:
        rows = []
        tree = _rows(document[0], (), rows)
        inclusive = sorted(document[0]["metrics"])
        _roll_up(tree, inclusive)
    finally:
        sys.setrecursionlimit(limit)
    dataframe = pandas.DataFrame(rows)
    known = {"name", "path", "depth"} | {name + " (inc)" for name in inclusive}
    exclusive = sorted(set(dataframe.columns) - known - set(inclusive))
    gf = Frames(filename, dataframe, [name + " (inc)" for name in inclusive], list(exclusive))
    return gf, inclusive, exclusive, document[1] if document[1:] else {}


# ---- metrics that are made of others ----


def _bare(metric):
    return metric.split("(")[0].strip().lower()


def _match(name, inclusive, exclusive):
    """The column of a raw metric, whose unit and case do not matter."""
    for suffix, metrics in ((" (inc)", inclusive), ("", exclusive)):
        for metric in metrics:
            if name.lower() in (metric.lower(), _bare(metric)):
                return metric + suffix
    raise ValueError("there is no metric %r in the profile" % name)


def _sum_of_devices(df, devices, of):
    """A column: of(row's group, type, what is known of the device), NaN-free, 0 where there is no device."""
    pandas = _pandas()
    result = pandas.DataFrame(0.0, index=df.index, columns=["min_time"])
    for kind, numbers in devices.items():
        for number, about in numbers.items():
            if "device_id" in df and "device_type" in df:
                here = (df["device_id"].astype(str) == str(number)) & (df["device_type"] == kind)
                result.loc[here, "min_time"] += of(df[here], kind, about)
    return result


def get_min_time_flops(df, device_info):
    """The least time in which devices do a node's own operations of 8 to 64 bits: a table with a column "min_time",
    in seconds. Raises ValueError for a device whose peak is not known."""

    def of(rows, kind, about):
        total = 0.0
        for width in _WIDTHS:
            if "flops%d" % width in rows:
                peak = specs.max_flops(
                    kind, about["arch"], width, about["num_sms"], about["clock_rate"]
                )
                total = total + rows["flops%d" % width].fillna(0) / peak
        return total

    return _sum_of_devices(df, device_info, of)


def get_min_time_bytes(df, device_info):
    """The same for the bytes that it moves."""

    def of(rows, kind, about):
        if "bytes" not in rows:
            return 0.0
        peak = specs.max_bps(kind, about["arch"], about["bus_width"], about["memory_clock_rate"])
        return rows["bytes"].fillna(0) / peak

    return _sum_of_devices(df, device_info, of)


def _util(df, time, devices):
    least = get_min_time_flops(df, devices)["min_time"].combine(
        get_min_time_bytes(df, devices)["min_time"], max
    )
    on_device = df["device_id"].notna() if "device_id" in df else False
    return (least / (df[time] * 1e-9)).where(on_device)


def derive_metrics(gf, metrics, inclusive_metrics, exclusive_metrics, device_info):
    """Add columns for these metrics to the table, as proton-metrics(7) names them. Returns the columns' names:
    raw ones, "time/ms (inc)", "util", "time/% (inc)"."""
    df, columns = gf.dataframe, []

    def raw(name):
        return _match(name, inclusive_metrics, exclusive_metrics)

    for metric in metrics:
        times, rates = _TIMES.match(metric), _RATES.match(metric)
        if metric == "util":
            df["util"] = _util(df, raw("time"), device_info)
            columns.append("util")
            continue
        if metric.endswith("/%"):
            column = raw(metric[:-2])
            whole = df[column].iloc[0] if column.endswith("(inc)") else df[column].sum()
            made = metric + (" (inc)" if column.endswith("(inc)") else "")
            df[made] = df[column] / whole * 100
        elif times:
            average, cpu, unit = times.groups()
            made = metric + " (inc)"
            df[made] = df[raw("cpu_time" if cpu else "time")] * (1e-9 / _SECONDS[unit])
            if average:
                df[made] = df[made] / df[raw("count")]
        elif rates:
            factor, what = rates.groups()
            what = "bytes" if what == "byte" else what.replace("flop", "flops")
            made = metric + " (inc)"
            df[made] = df[raw(what)] / (df[raw("time")] * 1e-9) / _FACTORS[factor]
        else:
            made = raw(metric)
        columns.append(made)
    for column in columns:
        of = gf.inc_metrics if column.endswith(" (inc)") else gf.exc_metrics
        if column not in of:
            of.append(column)
    return columns


# ---- which nodes, and how they are called ----


def _keep(df, wanted):
    return df[wanted].reset_index(drop=True)


def filter_frames(gf, include=None, exclude=None, threshold=None, metric=None):
    """Frames of some nodes.

    include    a regular expression: those on paths through a name that it matches from its beginning
    exclude    the same: without those and what is below them. Not both: ValueError
    threshold  those whose `metric`, a column, is at least this, and what is above them
    """
    if include and exclude:
        raise ValueError("either include or exclude, not both")
    df, options = gf.dataframe, {}
    if include:
        pattern, options["include"] = re.compile(include), include
        marked = {p for n, p in zip(df["name"], df["path"]) if pattern.match(n)}
        wanted = [
            any(p[: len(m)] == m or m[: len(p)] == p for m in marked) for p in df["path"]
        ]
        df = _keep(df, wanted)
    if exclude:
        pattern, options["exclude"] = re.compile(exclude), exclude
        wanted = [not any(pattern.match(n) for n in p) for p in df["path"]]
        df = _keep(df, wanted)
    if threshold:
        options["threshold"] = threshold
        above = {p[:i] for v, p in zip(df[metric], df["path"]) if v >= threshold for i in range(len(p) + 1)}
        df = _keep(df, [p in above for p in df["path"]])
    return gf._with(df, **options)


_FORMATS = {
    "full": lambda name: name,
    "file_function_line": lambda name: name.split("/")[-1],
    "function_line": lambda name: name.split(":")[-1],
    "file_function": lambda name: name.split("/")[-1].split("@")[0],
}


def _format_name(name, form):
    if form == "file_function" and "@" in name:  # file:line@function
        head, function = name.split("/")[-1].rsplit("@", 1)
        return "%s@%s" % (head.split(":")[0], function)
    return _FORMATS[form](name)


def format_frames(gf, format):
    """Frames with names as `format` says: "full" (also None), "file_function_line", "function_line",
    "file_function"."""
    format = format or "full"
    if format not in _FORMATS:
        raise ValueError("no such format: %r" % (format,))
    df = gf.dataframe.copy()
    df["name"] = [_format_name(name, format) for name in df["name"]]
    return gf._with(df, format=format)


def parse(metrics, filename, include=None, exclude=None, threshold=None):
    """read(), derive_metrics() and filter_frames(), by the first metric: (Frames, names of columns)."""
    gf, inclusive, exclusive, devices = read(filename)
    columns = derive_metrics(gf, metrics, inclusive, exclusive, devices)
    return filter_frames(gf, include, exclude, threshold, columns[0] if columns else None), columns


def apply_diff_profile(
    gf, derived_metrics, diff_file, metrics, include=None, exclude=None, threshold=None
):
    """Frames of what is in these and not in another profile: differences of columns, by path. A node that only
    these have keeps its values; of one that only the other has they are NaN."""
    pandas = _pandas()
    other, _ = parse(metrics, diff_file, include, exclude, threshold)
    mine = gf.dataframe.drop_duplicates("path").set_index("path")
    theirs = other.dataframe.drop_duplicates("path").set_index("path")
    table = pandas.concat([mine, theirs[~theirs.index.isin(mine.index)].assign(**{m: math.nan for m in derived_metrics})])
    for metric in derived_metrics:
        common = mine.index.intersection(theirs.index)
        table.loc[common, metric] = mine.loc[common, metric] - theirs.loc[common, metric]
    return gf._with(table.reset_index(), diff=diff_file)


# ---- as text ----


def _word(column):
    """The word of the command for a column."""
    name = column[: -len(" (inc)")] if column.endswith(" (inc)") else column
    return name if "/" in name else _bare(name)


def text(gf, metrics, depth=100, format=None, print_sorted=False):
    """What print_tree() prints."""
    arguments = ["viewer", "-m", ",".join(map(_word, metrics)), "-d", str(depth)]
    for option, value in (
        ("-i", gf.options.get("include")),
        ("-e", gf.options.get("exclude")),
        ("-t", gf.options.get("threshold")),
        ("-f", format or gf.options.get("format")),
        ("--diff-profile", gf.options.get("diff")),
    ):
        if value is not None:
            arguments += [option, str(value) if not isinstance(value, os.PathLike) else value]
    if print_sorted:
        arguments.append("--print-sorted")
    return _command.output(*(arguments + ["--", gf.file])).decode("utf-8", "replace")


def print_tree(gf, metrics, depth=100, format=None, print_sorted=False):
    """Print the tree as `proton viewer` does: at most two metrics; depth: levels; format: see format_frames();
    print_sorted: a list by the first metric, too."""
    sys.stdout.write(text(gf, metrics, depth, format, print_sorted))


def show_metrics(file_name):
    """Print which metrics a profile has."""
    sys.stdout.write(_command.output("viewer", "-l", "--", file_name).decode("utf-8", "replace"))


def main():
    """`proton viewer` with the arguments of this process."""
    os.execv(_command.path(), ["proton", "viewer"] + sys.argv[1:])


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""The cell magic %%proton of IPython and Jupyter: what ran on the GPU in a cell, as a tree."""
import argparse
import html
import os
import tempfile

from . import _command, _load, _native
from .profile import finalize, is_live, start

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"))


def _parser():
    parser = argparse.ArgumentParser(prog="%%proton", add_help=False)
    parser.add_argument("-n", "--name", help="keep the profile as NAME.hatchet")
    parser.add_argument("-c", "--context", default="shadow", help="shadow or python")
    parser.add_argument("-k", "--hook", help="triton")
    parser.add_argument("-d", "--depth", type=int, default=100, help="levels of the tree")

    def error(message):
        from IPython.core.error import UsageError

        raise UsageError("%%%%proton: %s\n%s" % (message, parser.format_usage()))

    parser.error = error
    return parser


def _time(ns):
    for factor, unit in _UNITS:
        if ns >= factor:
            return "%.2f%s" % (ns / factor, unit)
    return "%dns" % ns


class Tree:
    """The tree of a profile: `text` for terminals, HTML for notebooks."""

    def __init__(self, file, depth=100):
        self.text = _command.output("report", "-d", str(depth), "--", file).decode("utf-8", "replace")
        self.columns, self.numbers = _load._columns(_load.read(file))
        self.depth = depth

    def __repr__(self):
        return self.text

    def _row(self, i, whole):
        columns = self.columns
        time = columns["time (ns) (inc)"][i]
        count = columns["count (inc)"][i] or 0
        share = 100.0 * time / whole if whole else 0.0
        cells = (_time(time), "%.1f" % share, "%d" % count, _time(time / count) if count else "-")
        name = "<td style='text-align:left;white-space:pre;padding-left:%.1fem'>%s</td>" % (
            0.5 + 1.2 * columns["depth"][i],
            html.escape(columns["name"][i]),
        )
        return "<tr>%s%s</tr>" % ("".join("<td>%s</td>" % c for c in cells), name)

    def _order(self, times):
        """Rows as they are shown: what has time, below its parent, the longest first."""
        row = {number: i for i, number in enumerate(self.numbers)}
        below = {}
        for i, parent in enumerate(self.columns["parent"]):
            if times[i] is not None and self.columns["depth"][i] < self.depth:
                below.setdefault(row.get(parent), []).append(i)
        shown, rest = [], below.get(None, [])
        while rest:
            i = rest.pop()
            shown.append(i)
            rest += sorted(below.get(i, []), key=lambda child: times[child])
        return shown

    def _repr_html_(self):
        times = self.columns.get("time (ns) (inc)")
        if not times or times[0] is None:
            return "<p>proton: no GPU work in this cell</p>"
        heads = "".join("<th>%s</th>" % h for h in ("time", "%", "calls", "average"))
        return "<table><tr>%s<th style='text-align:left'>name</th></tr>%s</table>" % (
            heads,
            "".join(self._row(i, times[0]) for i in self._order(times)),
        )


def _written(folder):
    """The file of the cell's session: that of all phases, where the cell had several. None: there is none."""
    files = sorted(os.path.join(folder, file) for file in os.listdir(folder))
    if len(files) < 2:
        return files[0] if files else None
    whole = os.path.join(folder, "whole.hatchet")
    _command.output("merge", "-o", whole, "--", *files)
    return whole


def _run(shell, cell, options, folder):
    """Run the cell in a session of its own, which it may end itself. Returns the profile's file, or None."""
    session = start(os.path.join(folder, "cell"), context=options.context, hook=options.hook)
    if session is None:
        return None
    try:
        # It shows what the cell raises, and returns.
        shell.run_cell(cell, store_history=False)
    finally:
        if is_live(session):
            finalize(session)
    return _written(folder)


def cell_magic(shell, line, cell):
    """%%proton [-n NAME] [-c shadow|python] [-k triton] [-d LEVELS]: run the cell, and show the tree of what it
    ran on the GPU."""
    import shutil

    from IPython.display import display

    options = _parser().parse_args(line.split())
    with tempfile.TemporaryDirectory(prefix="proton-cell-") as folder:
        try:
            file = _run(shell, cell, options, folder)
        except _native.Error as error:
            print("proton: %s" % error)
            return
        if file is None:
            print("proton: nothing is profiled, or not written")
            return
        display(Tree(file, options.depth))
        if options.name:
            shutil.copyfile(file, options.name + ".hatchet")


def load(shell):
    """%load_ext proton."""

    def magic(line, cell):
        return cell_magic(shell, line, cell)

    magic.__doc__ = cell_magic.__doc__
    shell.register_magic_function(magic, magic_kind="cell", magic_name="proton")

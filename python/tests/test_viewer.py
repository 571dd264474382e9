# SPDX-License-Identifier: MIT
"""The numbers are those of Triton's viewer for its own sample."""
import builtins
import contextlib
import io
import math
import os
import subprocess
import unittest
from unittest import mock

from .support import COMMAND, proton
from proton import viewer

PROFILES = os.environ.get("PROTON_TEST_PROFILES")

try:
    import pandas
except ImportError:
    pandas = None


@unittest.skipUnless(COMMAND and PROFILES, "needs the command and tests/hatchet")
class Viewer(unittest.TestCase):
    def setUp(self):
        if pandas is None:
            self.skipTest("pandas is not installed")
        commands = mock.patch.dict(os.environ, {"PROTON_COMMAND": COMMAND})
        commands.start()
        self.addCleanup(commands.stop)
        self.file = os.path.join(PROFILES, "upstream-cuda.json")

    def column(self, metric, wanted, **filters):
        gf, columns = viewer.parse([metric], self.file, **filters)
        got = list(gf.dataframe[columns[0]])
        self.assertEqual(len(got), len(wanted))
        for g, w in zip(got, wanted):
            self.assertTrue(math.isnan(g) if w is None else abs(g / w - 1) < 1e-5, (got, wanted))
        return columns[0]

    def test_metrics(self):
        self.assertEqual(self.column("util", [None, 0.247044, 0.147830, 0.118451]), "util")
        self.column("byte/s", [1.953125e11, 4.8828125e11, 4.8828125e10, 4.8828125e10])
        self.assertEqual(
            self.column("tflop8/s", [341.797, 488.281, 48.828, 488.281]), "tflop8/s (inc)"
        )
        self.column("avg_time/us", [51.2, 20.48, 204.8, 204.8])
        self.assertEqual(self.column("time", [614400.0, 204800.0, 204800.0, 204800.0]), "time (ns) (inc)")
        self.assertEqual(self.column("time/%", [100, 100 / 3, 100 / 3, 100 / 3]), "time/% (inc)")

    def test_of_data(self):
        """What data.get() gives: lists, texts among numbers."""
        leaf = {"frame": {"name": "s"}, "children": [], "metrics": {"n": "text", "v": [1, 2]}}
        gf, inclusive, exclusive, devices = viewer.get_raw_metrics(
            [{"frame": {"name": "ROOT"}, "children": [leaf], "metrics": {"n": 1}}, {}]
        )
        self.assertEqual((inclusive, exclusive, devices), (["n"], ["v"], {}))
        self.assertEqual(list(gf.dataframe["n (inc)"])[0], 1)

    def test_least_times(self):
        gf, inclusive, exclusive, devices = viewer.read(self.file)
        flops = viewer.get_min_time_flops(gf.dataframe, devices)["min_time"]
        moved = viewer.get_min_time_bytes(gf.dataframe, devices)["min_time"]
        first = gf.dataframe["device_id"] == "0"
        self.assertAlmostEqual(flops[first].iloc[0], 1e10 / 330.3e12, places=12)
        self.assertAlmostEqual(moved[first].iloc[0], 9.91969e-06, places=10)
        self.assertIn("time (ns)", inclusive)
        self.assertIn("device_id", exclusive)

    def test_filters(self):
        gf, _ = viewer.parse(["time/ms"], self.file, include="foo0")
        self.assertEqual(list(gf.dataframe["name"]), ["ROOT", "foo0"])
        gf, _ = viewer.parse(["time/ms"], self.file, exclude="foo0")
        self.assertNotIn("foo0", list(gf.dataframe["name"]))
        gf, columns = viewer.parse(["time/ms"], self.file, threshold=0.5)
        self.assertEqual(list(gf.dataframe["name"]), ["ROOT"])
        with self.assertRaises(ValueError):
            viewer.parse(["time/ms"], self.file, include="a", exclude="b")

    def test_formats(self):
        gf = viewer.read(os.path.join(PROFILES, "upstream-frame.json"))[0]
        whole = "/home/user/projects/example.py/test.py:1@foo"
        for form, wanted in (
            ("full", whole),
            ("file_function_line", "test.py:1@foo"),
            ("function_line", "1@foo"),
            ("file_function", "test.py@foo"),
        ):
            names = list(viewer.format_frames(gf, form).dataframe["name"])
            self.assertIn(wanted, names, form)
        with self.assertRaises(ValueError):
            viewer.format_frames(gf, "nonsense")

    def test_text(self):
        """Is that of the command."""
        said = subprocess.check_output(
            [COMMAND, "viewer", "-m", "time/ms,util", "-i", "foo0", self.file]
        ).decode()
        gf, columns = viewer.parse(["time/ms", "util"], self.file, include="foo0")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            viewer.print_tree(gf, columns)
            viewer.show_metrics(self.file)
        self.assertTrue(out.getvalue().startswith(said), (said, out.getvalue()))
        self.assertIn("- time", out.getvalue())

    def test_difference(self):
        gf, columns = viewer.parse(["time/ms"], self.file)
        same = viewer.apply_diff_profile(gf, columns, self.file, ["time/ms"])
        self.assertEqual(set(same.dataframe[columns[0]]), {0.0})
        self.assertIn("foo0", viewer.text(same, columns))

    def test_unknown(self):
        with self.assertRaisesRegex(ValueError, "nonsense"):
            viewer.parse(["nonsense"], self.file)
        with self.assertRaises(FileNotFoundError):
            viewer.read("nowhere")


class NoPandas(unittest.TestCase):
    def test_sentence(self):
        real = builtins.__import__

        def refuse(name, *arguments, **more):
            if name == "pandas":
                raise ImportError(name)
            return real(name, *arguments, **more)

        with mock.patch("builtins.__import__", refuse):
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                viewer.read("x")


if __name__ == "__main__":
    unittest.main()

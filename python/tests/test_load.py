# SPDX-License-Identifier: MIT
import builtins
import os
import unittest
from unittest import mock

from .support import COMMAND, Case, RecordedCase, launch, proton
from proton import _load

try:
    import pandas
except ImportError:
    pandas = None


@unittest.skipUnless(COMMAND, "needs the command")
class Load(RecordedCase):
    def setUp(self):
        super().setUp()
        commands = mock.patch.dict(os.environ, {"PROTON_COMMAND": COMMAND})
        commands.start()
        self.addCleanup(commands.stop)
        proton.start("a")
        with proton.scope("s", {"flops": 10}):
            launch("add", 3)
            with proton.scope("t", {"flops": 1}):
                launch("mul", 2)
        proton.finalize()

    def test_columns(self):
        columns, index = _load._columns(_load.read("a.hatchet"))
        rows = {p: i for i, p in enumerate(columns["path"])}
        self.assertEqual(columns["count (inc)"][rows[()]], 5)
        self.assertEqual(columns["count (inc)"][rows[("s",)]], 5)
        self.assertEqual(columns["count"][rows[("s", "add")]], 3)
        self.assertEqual(columns["flops (inc)"][rows[("s",)]], 11.0)
        self.assertEqual(columns["time_max (ns) (inc)"][rows[()]], 1000)
        self.assertIsNone(columns["count"][rows[("s",)]])
        self.assertEqual(columns["depth"][rows[("s", "t", "mul")]], 3)
        self.assertEqual(columns["kind"][rows[("s", "t", "mul")]], "kernel")
        self.assertEqual(len(index), len(columns["name"]))

    def test_frame(self):
        if pandas is None:
            self.skipTest("pandas is not installed")
        frame = proton.load("a.hatchet")
        row = frame[frame["name"] == "add"].iloc[0]
        self.assertEqual(row["count"], 3)
        self.assertEqual(frame.loc[row["parent"], "name"], "s")
        self.assertIn("devices", frame.attrs)

    def test_graphframe(self):
        try:
            import hatchet
        except ImportError:
            self.skipTest("llnl-hatchet is not installed")
        frame = proton.load("a.hatchet", graphframe=True)
        self.assertIsInstance(frame, hatchet.GraphFrame)
        self.assertIn("add", list(frame.dataframe["name"]))

    def test_no_pandas(self):
        real = builtins.__import__

        def refuse(name, *arguments, **more):
            if name in ("pandas", "hatchet"):
                raise ImportError(name)
            return real(name, *arguments, **more)

        with mock.patch("builtins.__import__", refuse):
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                proton.load("a.hatchet")
            with self.assertRaisesRegex(ImportError, "pip install llnl-hatchet"):
                proton.load("a.hatchet", graphframe=True)

    def test_no_profile(self):
        with self.assertRaises(FileNotFoundError):
            _load.read("nowhere")
        with open("text", "w") as f:
            f.write("no profile\n")
        with self.assertRaisesRegex(proton.Error, "text"):
            _load.read("text")


class NoCommand(Case):
    def test_missing(self):
        with open("a.hatchet", "w"):
            pass
        with mock.patch("proton._find.find_command", return_value=None):
            with self.assertRaisesRegex(proton.Missing, "PROTON_COMMAND"):
                _load.read("a.hatchet")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
import contextlib
import io
import os
import unittest
from unittest import mock

from .support import COMMAND, RecordedCase, launch, proton
from proton import _ipython

try:
    from IPython.core.interactiveshell import InteractiveShell
except ImportError:
    InteractiveShell = None


class Shell:
    """As much of IPython's as the magic uses."""

    def run_cell(self, cell, store_history):
        exec(cell, {"launch": launch, "proton": proton})


@unittest.skipUnless(COMMAND, "needs the command")
class Trees(RecordedCase):
    def setUp(self):
        super().setUp()
        commands = mock.patch.dict(os.environ, {"PROTON_COMMAND": COMMAND})
        commands.start()
        self.addCleanup(commands.stop)

    def profile(self, code):
        folder = os.path.join(os.getcwd(), "cell folder")
        os.mkdir(folder)
        options = _ipython._parser().parse_args([])
        return _ipython._run(Shell(), code, options, folder)

    def test_tree(self):
        file = self.profile(
            "with proton.scope('<step> & co'):\n launch('add', 3)\n"
            "with proton.scope('short'):\n launch('mul')"
        )
        tree = _ipython.Tree(file)
        self.assertIn("<step> & co", repr(tree))
        page = tree._repr_html_()
        self.assertIn("&lt;step&gt; &amp; co", page)
        names = (">ROOT<", "step", ">add<", ">short<", ">mul<")
        places = [page.index(name) for name in names]
        self.assertEqual(places, sorted(places))
        self.assertIn("<td>3.00us</td><td>75.0</td><td>3</td><td>1.00us</td>", page)
        self.assertNotIn(">add<", _ipython.Tree(file, depth=2)._repr_html_())

    def test_no_work(self):
        self.assertIn("no GPU work", _ipython.Tree(self.profile("1"))._repr_html_())

    @unittest.skipIf(InteractiveShell is None, "IPython is not installed")
    def test_magic(self):
        shell = InteractiveShell()
        shell.run_line_magic("load_ext", "proton")
        shell.push({"launch": launch})
        with contextlib.redirect_stdout(io.StringIO()) as out:
            shell.run_cell_magic("proton", "-n kept", "launch('add', 2)\nseen = 7\n1 / 0")
        self.assertIn("ZeroDivisionError", out.getvalue())
        self.assertIn("add", out.getvalue().split("ZeroDivisionError")[-1])
        self.assertEqual(shell.user_ns["seen"], 7)
        self.assertTrue(os.path.exists("kept.hatchet"))
        from IPython.core.error import UsageError

        with self.assertRaises(UsageError):
            shell.run_cell_magic("proton", "--nonsense", "1")


if __name__ == "__main__":
    unittest.main()

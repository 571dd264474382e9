# SPDX-License-Identifier: MIT
import contextlib
import glob
import io
import os
import tempfile
import unittest
from unittest import mock

from .support import COMMAND, RecordedCase, launch, proton
from proton import _ipython

try:
    from IPython.core.interactiveshell import InteractiveShell
except ImportError:
    InteractiveShell = None


def files():
    """Of cells that are under way."""
    return glob.glob(os.path.join(tempfile.gettempdir(), "proton-cell-*", "cell.hatchet"))


class Shell:
    """As much of IPython's as the magic uses."""

    def run_cell(self, cell, store_history):
        exec(cell, {"launch": launch, "proton": proton, "files": files})


@unittest.skipUnless(COMMAND, "needs the command")
class Trees(RecordedCase):
    def setUp(self):
        super().setUp()
        commands = mock.patch.dict(os.environ, {"PROTON_COMMAND": COMMAND})
        commands.start()
        self.addCleanup(commands.stop)

    def profile(self, code):
        folder = tempfile.mkdtemp(prefix="cell ", dir=os.getcwd())
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

    def test_cell_ends_its_session(self):
        for code, n in (
            ("launch('add')\nproton.finalize()\nlaunch('add')", 1),
            ("launch('add')\nproton.finalize(output_format='hatchet_msgpack')", 1),
            ("s = proton.start('mine')\nlaunch('add')\nproton.finalize(s)", 1),
            ("launch('add')\nproton.data.advance_phase(session)\nlaunch('add')\nproton.finalize()", 2),
            ("launch('add', 2)\nproton.finalize()\nproton.start('again')", 2),
        ):
            with self.subTest(code):
                if "session" in code:
                    code = "session, = proton.profile.__globals__['_live']\n" + code
                tree = _ipython.Tree(self.profile(code))
                self.assertIn("<td>%d</td>" % n, tree._repr_html_().split(">ROOT<")[0])
                proton.finalize()

    def test_cell_without_a_file(self):
        with contextlib.redirect_stdout(io.StringIO()) as out, mock.patch.dict(
            "sys.modules", {"IPython": mock.Mock(), "IPython.display": mock.Mock()}
        ):
            _ipython.cell_magic(Shell(), "", "import os\nproton.finalize()\nos.unlink(files()[0])")
        self.assertEqual(out.getvalue(), "proton: nothing is profiled, or not written\n")

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

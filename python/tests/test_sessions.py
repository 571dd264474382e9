# SPDX-License-Identifier: MIT
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

from .support import (
    COMMAND,
    Case,
    RecordedCase,
    flags,
    is_recorded,
    kernels,
    launch,
    proton,
    read,
    run,
)


class Sessions(RecordedCase):
    def test_one(self):
        session = proton.start("one")
        self.assertGreaterEqual(session, 0)
        launch("add", 3)
        proton.finalize()
        self.assertEqual(kernels("one.hatchet"), {"add": 3})

    def test_default_name(self):
        proton.start()
        proton.finalize()
        self.assertTrue(os.path.exists(proton.DEFAULT_PROFILE_NAME + ".hatchet"))

    def test_path(self):
        os.mkdir("sub")
        proton.start(pathlib.Path("sub") / "x")
        proton.finalize()
        self.assertTrue(os.path.exists("sub/x.hatchet"))

    def test_numbers_count_up(self):
        first = proton.start("a")
        second = proton.start("b")
        self.assertEqual(second, first + 1)

    def test_same_name_activates(self):
        first = proton.start("a")
        proton.deactivate(first)
        self.assertEqual(proton.start("a"), first)
        launch("add")
        proton.finalize()
        self.assertEqual(kernels("a.hatchet"), {"add": 1})

    def test_deactivate_and_activate(self):
        session = proton.start("a")
        launch("add")
        proton.deactivate(session, flushing=True)
        launch("mul", 2)
        proton.activate(session)
        launch("sub", 3)
        proton.finalize(session)
        self.assertEqual(kernels("a.hatchet"), {"add": 1, "sub": 3})

    def test_all_at_once(self):
        proton.start("a")
        proton.start("b")
        proton.deactivate()
        launch("mul")
        proton.activate()
        launch("add")
        proton.finalize()
        self.assertEqual(kernels("a.hatchet"), {"add": 1})
        self.assertEqual(kernels("b.hatchet"), {"add": 1})

    def test_session_id(self):
        session = proton.start("a")
        proton.deactivate(session_id=session)
        launch("add")
        proton.activate(session_id=session)
        proton.finalize(session_id=session)
        self.assertEqual(kernels("a.hatchet"), {})

    def test_twice(self):
        session = proton.start("a")
        for _ in range(2):
            proton.activate(session)
        for _ in range(2):
            proton.deactivate(session)
        proton.finalize(session)
        with self.assertRaises(proton.Unknown):
            proton.finalize(session)
        proton.finalize()

    def test_unknown(self):
        session = proton.start("a")
        for function in (proton.activate, proton.deactivate, proton.finalize):
            with self.assertRaisesRegex(
                ValueError, "Session has not been initialized: %d" % (session + 1)
            ):
                function(session + 1)
            with self.assertRaises(ValueError):
                function(-7)
            with self.assertRaises(TypeError):
                function("a")

    def test_formats(self):
        session = proton.start("a")
        with self.assertRaises(proton.Invalid):
            proton.finalize(session, "nonsense")
        launch("add")
        proton.finalize(session, output_format="hatchet_msgpack")
        self.assertTrue(os.path.getsize("a.hatchet_msgpack"))

    def test_bad_arguments(self):
        for arguments in (
            {"context": "nonsense"},
            {"data": "nonsense"},
            {"backend": "nonsense"},
            {"mode": "nonsense"},
            {"hook": "nonsense"},
            {"name": "nul\0"},
            {"name": "-"},
        ):
            with self.assertRaises(ValueError, msg=str(arguments)):
                proton.start(**arguments)
        with self.assertRaises(TypeError):
            proton.start(7)
        with mock.patch.dict(sys.modules, {"triton": None}):
            with self.assertRaisesRegex(RuntimeError, "backend 'instrumentation' is Triton's, which is not there"):
                proton.start(backend="instrumentation")
        with self.assertRaisesRegex(ValueError, "Unknown buffer_type: nonsense"):
            proton.start(backend="instrumentation", mode="default:buffer_type=nonsense")
        self.assertEqual(os.listdir("."), [])

    def test_warps_of_modes(self):
        Default, without_ranges = proton.mode.Default, proton.mode.without_ranges
        mode = str(Default(sampling_strategy="selective", sampling_options="0-2, 5"))
        self.assertIn(":sampling_options=0,1,2,5:", without_ranges(mode))
        listed = str(Default(sampling_strategy="selective", sampling_options="0, 2"))
        self.assertEqual(without_ranges(listed), listed)
        for wrong in ("2-1", "-1", "1-", "0-32", "32", "1-2-3", "\u00b2"):
            with self.assertRaisesRegex(ValueError, "is no warp of a block", msg=wrong):
                Default(sampling_options=wrong)

    def test_names(self):
        for name in ("line\nfeed", "caf\u00e9", "\udcff", "a b%p"):
            proton.start(name)
            launch("add")
            proton.finalize()
            self.assertEqual(kernels(name + ".hatchet"), {"add": 1})
        with self.assertRaises(ValueError):
            proton.start("x" * (1 << 20))

    def test_unwritten(self):
        session = proton.start("nowhere/x")
        with self.assertRaisesRegex(proton.Error, "No such file"):
            proton.finalize(session)
        with self.assertRaises(proton.Unknown):
            proton.finalize(session)

    def test_python_context(self):
        proton.start("a", context="python")
        with proton.scope("hidden"):
            launch("add")
        proton.finalize()
        self.assertEqual(sum(kernels("a.hatchet").values()), 1)
        self.assertNotIn("hidden", "".join(kernels("a.hatchet")))

    def test_threads(self):
        def work(i):
            session = proton.start("t%d" % i)
            with proton.scope("scope%d" % i):
                launch("add", 10)
            proton.finalize(session)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for i in range(8):
            self.assertEqual(kernels("t%d.hatchet" % i)["scope%d/add" % i], 10)


class Folders(RecordedCase):
    """Where the file of a session cannot be is said when it starts."""

    def test_deleted(self):
        os.mkdir("gone")
        os.chdir("gone")
        os.rmdir(os.path.join(self.home, "gone"))
        for name in (None, "a", "../a"):
            with self.assertRaisesRegex(proton.Invalid, "the current folder was deleted"):
                proton.start(name)
        self.named()

    def test_closed(self):
        os.makedirs("closed/within")
        os.chmod(self.home, 0o777)
        os.chmod("closed/within", 0o777)
        os.chdir("closed/within")
        os.chmod("..", 0)
        self.addCleanup(os.chmod, os.path.join(self.home, "closed"), 0o700)
        if os.geteuid() == 0:
            os.seteuid(65534)
            self.addCleanup(os.seteuid, 0)
        with self.assertRaisesRegex(proton.Invalid, "the current folder cannot be reached by its path"):
            proton.start("a")

    def setUp(self):
        super().setUp()
        self.home = os.getcwd()

    def named(self):
        session = proton.start(os.path.join(self.home, "b"))
        launch("add")
        proton.finalize(session)
        self.assertEqual(read(os.path.join(self.home, "b.hatchet"))["add"]["count"], 1)


class Decorator(RecordedCase):
    def test_with_arguments(self):
        @proton.profile(name="f", context="shadow")
        def f(a, b=1):
            launch("add")
            return a + b

        self.assertEqual(f(1, b=2), 3)
        launch("mul")
        proton.finalize()
        self.assertEqual(f.__name__, "f")
        self.assertEqual(kernels("f.hatchet"), {"add": 1})

    def test_without(self):
        @proton.profile
        def f():
            launch("add")

        f()
        f()
        proton.finalize()
        self.assertEqual(kernels("proton.hatchet"), {"add": 2})

    def test_as_a_function(self):
        self.assertEqual(proton.profile(abs, name="g")(-3), 3)
        proton.finalize()
        self.assertTrue(os.path.exists("g.hatchet"))

    def test_raises(self):
        @proton.profile(name="f")
        def f():
            launch("add")
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            f()
        launch("mul")
        proton.finalize()
        self.assertEqual(kernels("f.hatchet"), {"add": 1})

    def test_finalizes_itself(self):
        @proton.profile(name="f")
        def f():
            proton.finalize()

        f()
        self.assertTrue(os.path.exists("f.hatchet"))


class CommandLine(RecordedCase):
    """The mode of one session."""

    def setUp(self):
        super().setUp()
        self.session = proton.start("line")
        self.addCleanup(setattr, flags, "command_line", False)
        flags.command_line = True

    def test_start_and_finalize_do_nothing(self):
        self.assertIsNone(proton.start("mine"))
        proton.finalize()
        launch("add")
        flags.command_line = False
        proton.finalize()
        self.assertEqual(os.listdir("."), ["line.hatchet"])
        self.assertEqual(kernels("line.hatchet"), {"add": 1})

    def test_another_session(self):
        for function in (proton.activate, proton.deactivate, proton.finalize, proton.data.get):
            with self.assertRaisesRegex(ValueError, "one session"):
                function(1)


class Data(RecordedCase):
    def test_none(self):
        for function in (proton.data.get, proton.data.get_msgpack, proton.data.advance_phase):
            self.assertIsNone(function(None))
        self.assertFalse(proton.data.is_phase_complete(None))

    def test_get(self):
        session = proton.start("a")
        with proton.scope("s", {"n": 3}):
            launch("add", 2)
        proton.deactivate(session, flushing=True)
        tree = proton.data.get(session)
        self.assertEqual(tree[0]["frame"]["name"], "ROOT")
        names = [child["frame"]["name"] for child in tree[0]["children"]]
        self.assertIn("s", names)
        self.assertIsInstance(proton.data.get_msgpack(session), bytes)

    def test_phases(self):
        session = proton.start("a")
        launch("add")
        self.assertEqual(proton.data.advance_phase(session), 1)
        launch("mul")
        proton.deactivate(session, flushing=True)
        self.assertTrue(proton.data.is_phase_complete(session, 0))
        self.assertIn("add", str(proton.data.get(session, 0)))
        self.assertIn("mul", str(proton.data.get(session, 1)))
        proton.data.clear(session, 0)

    def test_names_that_count_up(self):
        """In a run they are one row; what is asked for by a session is as it was named."""
        proton.start("a")
        for i in range(300):
            with proton.scope("step_%d" % i):
                pass
        proton.finalize()
        self.assertEqual(len(read("a.hatchet")), 1 + 300)

    def test_periodic_flushing(self):
        session = proton.start("p", mode=proton.mode.PeriodicFlushing("hatchet"))
        for phase in range(3):
            with proton.scope("s"):
                launch("add", phase + 1)
            self.assertEqual(proton.data.advance_phase(session), phase + 1)
        proton.finalize(session)
        for phase in range(3):
            self.assertEqual(kernels("p.part_%d.hatchet" % phase), {"s/add": phase + 1})

    def test_unknown(self):
        with self.assertRaises(ValueError):
            proton.data.get(4000)


class Forks(RecordedCase):
    def test_child_has_no_sessions(self):
        session = proton.start("parent")
        out, into = os.pipe()
        pid = os.fork()
        if pid == 0:
            said = b"fine"
            try:
                try:
                    proton.deactivate(session)
                    said = b"deactivated the parent's"
                except proton.Unknown:
                    pass
                proton.finalize()
                with proton.scope("child", {"child's": 1}):
                    pass
            except BaseException as error:
                said = repr(error).encode()
            os.write(into, said)
            os._exit(0)
        os.close(into)
        with os.fdopen(out, "rb") as f:
            self.assertEqual(f.read(), b"fine")
        os.waitpid(pid, 0)
        launch("add")
        proton.finalize(session)
        self.assertEqual(kernels("parent.hatchet"), {"add": 1})

    def test_multiprocessing(self):
        import multiprocessing

        proton.start("parent")
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(abs, [-1, -2, -3]), [1, 2, 3])
        proton.finalize()
        self.assertTrue(os.path.exists("parent.hatchet"))


NOBODY = """
import warnings
warnings.simplefilter("always")
import proton._find
proton._find.find_library = lambda: None
import proton, sys

def use(name):
    session = proton.start(name, hook="triton")
    with proton.scope("s", {"a": object()}):
        with proton.cpu_timed_scope("t"), proton.state("u"), proton.metadata_state():
            proton.enter_scope("v", metrics={"b": object()})
            proton.exit_scope("wrong")
            proton.enter_state("w")
            proton.exit_state()
    proton.activate(session)
    proton.deactivate(session)
    proton.finalize(session)
    proton.finalize()
    assert proton.profile(abs)(-1) == 1
    return session, proton.context.depth(), proton.data.get(session), proton.data.advance_phase(session)

print(use("a"), use("b"))
"""


class Numbers(RecordedCase):
    def test_numbers_are_not_cut(self):
        session = proton.start("a")
        with self.assertRaisesRegex(proton.Unknown, "not been initialized: 42949"):
            proton.finalize((1 << 32) + session)
        for phase in (1 << 32, -1):
            with self.assertRaises(ValueError):
                proton.data.get(session, phase)
        for phase in ("x", None, 1.5, True):
            with self.assertRaises(TypeError):
                proton.data.clear(session, phase)
        self.assertEqual(len(proton.data.get(session, 0)), 2)

    def test_finalize_from_threads(self):
        failed = []

        def end():
            try:
                proton.finalize()
            except Exception as error:
                failed.append(error)

        for _ in range(5):
            for name in "abc":
                proton.start(name)
            threads = [threading.Thread(target=end) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(failed, [])
        self.assertTrue(all(os.path.exists(name + ".hatchet") for name in "abc"))


# Sessions that name one file: live at the same time, in a child, and one after another.
ONE_FILE = """
import os, sys, proton
def record(*names):
    sessions = [proton.start(name) for name in names]
    for session, name in zip(sessions, names):
        proton.deactivate(session)
    for session, name in zip(sessions, names):
        proton.activate(session)
        with proton.scope(name): pass
        proton.deactivate(session)
    for session in sessions: proton.finalize(session)
os.symlink(".", "link")
os.symlink("target.hatchet", "pointer.hatchet")
record("run", "a", "./a", "link/a", "target", "pointer")
if os.fork() == 0:
    record("a")
    os._exit(0)
os.wait()
record("again")
record("again")
"""

FIND_RECEIVER = """
import glob, os, signal, sys, time, proton
session = proton.start("a")
mine = b"receive\\0--for\\0%d\\0" % os.getpid()
receivers = []
for file in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        with open(file, "rb") as f:
            if f.read().endswith(mine):
                receivers.append(int(file.split("/")[2]))
    except OSError:
        pass
pid, = receivers
"""

# Of two sessions the wait for the first is interrupted: it is over, the other is not, and both have files.
STOPPED = FIND_RECEIVER + """
def handler(number, frame):
    raise KeyError("raised") if "raise" in sys.argv else KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
other = proton.start("b")
os.kill(pid, signal.SIGSTOP)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    proton.finalize()
except (KeyboardInterrupt, KeyError) as error:
    print(repr(error))
finally:
    os.kill(pid, signal.SIGCONT)
try:
    proton.finalize(session)
except proton.Unknown as error:
    print(error)
proton.finalize(other)
deadline = time.monotonic() + 60
while not os.path.exists("a.hatchet") and time.monotonic() < deadline:
    time.sleep(0.01)
print(sorted(os.listdir(".")))
"""

ORPHAN = FIND_RECEIVER + """
def is_gone():
    # A zombie has closed its files.
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True

os.kill(pid, signal.SIGKILL)
deadline = time.monotonic() + 60
while not is_gone() and time.monotonic() < deadline:
    time.sleep(0.01)
for _ in range(3):
    proton.deactivate(session)
    proton.activate()
try:
    proton.finalize()
except proton.Error as error:
    print("not written")
"""


class AtExit(Case):
    @unittest.skipUnless(COMMAND, "needs a command")
    def test_profiler_is_gone(self):
        """… which need not end the program: a warning says so once, and the file's absence is an error."""
        out, err = run(ORPHAN, PROTON_COMMAND=COMMAND)
        self.assertEqual(out, "not written\n", err)
        self.assertEqual(err.count("nothing is profiled any more"), 1, err)

    @unittest.skipUnless(COMMAND, "needs a command")
    def test_two_programs_of_one_name(self):
        """They profile themselves at the same time, as ranks do: none writes over the other's file. One that comes
        after that does, as it would without the other."""
        code = (
            "import subprocess, sys, proton\n"
            "session = proton.start('a')\n"
            "with proton.scope(sys.argv[1], {'n': 1}): pass\n"
            "if sys.argv[2:]: subprocess.check_call([sys.executable, '-c', sys.argv[2], 'inner'])\n"
            "proton.finalize(session)\n"
        )
        run(code, "outer", code, PROTON_COMMAND=COMMAND)
        self.assertEqual(sorted(os.listdir(".")), ["a.2.hatchet", "a.hatchet"])
        self.assertIn("inner", read("a.hatchet"))
        self.assertIn("outer", read("a.2.hatchet"))
        run(code, "later", PROTON_COMMAND=COMMAND)
        self.assertEqual(sorted(os.listdir(".")), ["a.2.hatchet", "a.hatchet"])
        self.assertIn("later", read("a.hatchet"))

    @unittest.skipUnless(COMMAND, "needs a command")
    def test_wait_is_interrupted(self):
        for how, said in (("", "KeyboardInterrupt()"), ("raise", "KeyError('raised'")):
            begun = time.monotonic()
            out, err = run(STOPPED, how, PROTON_COMMAND=COMMAND)
            self.assertLess(time.monotonic() - begun, 50)
            lines = out.splitlines()
            self.assertTrue(lines[0].startswith(said), out + err)
            self.assertEqual(lines[1:], ["Session has not been initialized: 0", "['a.hatchet', 'b.hatchet']"], err)
            for name in "ab":
                os.unlink(name + ".hatchet")

    @unittest.skipUnless(COMMAND, "needs a command")
    def test_start_is_interrupted(self):
        """… the wait for a proton that does not answer; and who has one that does starts a session after that."""
        with open("silent", "w") as f:
            f.write("#!/bin/sh\nwhile [ -e \"$0\" ]; do sleep 0.1; done\n")
        os.chmod("silent", 0o755)
        code = (
            "import os, signal, sys, time, proton\n"
            "def handler(number, frame): raise KeyboardInterrupt\n"
            "signal.signal(signal.SIGALRM, handler)\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.3)\n"
            "begun = time.monotonic()\n"
            "try: print(proton.start('a'))\n"
            "except KeyboardInterrupt: print('interrupted', time.monotonic() - begun < 9)\n"
            "print('NVTX_INJECTION64_PATH' in os.environ)\n"
            "os.environ['PROTON_COMMAND'] = sys.argv[1]\n"
            "print(proton.start('a'))\n"
            "proton.finalize()\n"
        )
        out, err = run(code, COMMAND, PROTON_COMMAND=os.path.abspath("silent"))
        self.assertEqual(out, "interrupted True\nFalse\n0\n", err)
        self.assertEqual(sorted(os.listdir(".")), ["a.hatchet", "silent"])

    def test_nobody(self):
        out, err = run(NOBODY)
        none = "(None, None, None, None)"
        self.assertEqual(out, "%s %s\n" % (none, none))
        self.assertEqual(err.count("RuntimeWarning: nothing is profiled: no libproton"), 1, err)
        self.assertEqual(os.listdir("."), [])

    @unittest.skipUnless(is_recorded(), "needs a run of proton record")
    def test_finalizes(self):
        """What is live at the interpreter's end is written, in a run of its own."""
        code = (
            "import proton; proton.start('live'); proton.enter_scope('s', metrics={'n': 3})\n"
            "proton.exit_scope(); proton.start('other')"
        )
        package = os.path.dirname(os.path.dirname(os.path.abspath(proton.__file__)))
        subprocess.run(
            [COMMAND, "record", "-q", "-o", "run", "--", sys.executable, "-c", code],
            env=dict(os.environ, PYTHONPATH=package),
            check=True,
        )
        self.assertEqual(read("live.hatchet")["s"]["n"], 3)
        self.assertTrue(os.path.exists("other.hatchet"))

    @unittest.skipUnless(is_recorded(), "needs a run of proton record")
    def test_one_file(self):
        """No profile of a run takes the place of another one, whatever they are called."""
        package = os.path.dirname(os.path.dirname(os.path.abspath(proton.__file__)))
        done = subprocess.run(
            [COMMAND, "record", "-o", "run.hatchet", "--", sys.executable, "-c", ONE_FILE],
            env=dict(os.environ, PYTHONPATH=package),
            stderr=subprocess.PIPE,
            universal_newlines=True,
            check=True,
        )
        wanted = {
            "run.2": "run", "a": "a", "a.2": "./a", "a.3": "link/a", "a.4": "a", "target": "target",
            "pointer.2": "pointer", "again": "again",
        }
        for file, scope in wanted.items():
            self.assertEqual([n for n in read(file + ".hatchet") if n], [scope], (file, done.stderr))
        self.assertEqual(set(read("run.hatchet")) - {""}, set(wanted.values()))
        self.assertEqual(os.readlink("pointer.hatchet"), "target.hatchet")
        for name in ("run", "./a", "link/a", "pointer", "a"):
            self.assertIn("%s' is written to '" % os.path.join(os.getcwd(), name), done.stderr)
        self.assertEqual(done.stderr.count("is written to"), 5)

    @unittest.skipUnless(is_recorded(), "needs a run of proton record")
    def test_one_after_another(self):
        """Programs of one run that are started when those before have ended write their files again; none that runs beside
        another does."""
        code = (
            "import subprocess, sys, proton\n"
            "session = proton.start('a')\n"
            "with proton.scope(sys.argv[1]): pass\n"
            "if sys.argv[2:]: subprocess.check_call([sys.executable, '-c', sys.argv[2], 'inner'])\n"
            "proton.finalize(session)\n"
        )
        several = (
            "import subprocess, sys\n"
            "for words in (['first'], ['second'], ['outer', sys.argv[1]]):\n"
            "    subprocess.check_call([sys.executable, '-c', sys.argv[1]] + words)\n"
        )
        package = os.path.dirname(os.path.dirname(os.path.abspath(proton.__file__)))
        subprocess.run(
            [COMMAND, "record", "-q", "-o", "run", "--", sys.executable, "-c", several, code],
            env=dict(os.environ, PYTHONPATH=package),
            check=True,
        )
        self.assertEqual(sorted(f for f in os.listdir(".") if f.startswith("a")), ["a.2.hatchet", "a.hatchet"])
        self.assertIn("inner", read("a.hatchet"))
        self.assertIn("outer", read("a.2.hatchet"))

    @unittest.skipUnless(COMMAND, "needs a command")
    def test_ends_at_once(self):
        """A session that was started has a file, however soon the program is gone."""
        for i in range(5):
            run("import os, proton; proton.start('gone%d'); os._exit(0)" % i, PROTON_COMMAND=COMMAND)
        deadline = time.monotonic() + 60
        names = ["gone%d.hatchet" % i for i in range(5)]
        while not all(map(os.path.exists, names)) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual([n for n in names if not os.path.exists(n)], [])

    def test_nvtx_is_left_out(self):
        code = "from proton.flags import context_word; print(context_word('Shadow'), context_word('python'))"
        for value, said in ((None, "Shadow python"), ("1", "Shadow python"), ("0", "scopes python")):
            self.assertEqual(run(code, TRITON_ENABLE_NVTX=value)[0], said + "\n")

    @unittest.skipUnless(COMMAND, "needs a command")
    def test_nvtx_gets_its_tool(self):
        """A program that profiles itself names it before the first call of NVTX."""
        code = (
            "import os, proton; proton.start('x')\n"
            "print(os.path.basename(os.environ.get('NVTX_INJECTION64_PATH', '-')))"
        )
        for variables, said in (
            ({}, "libproton"),
            ({"TRITON_ENABLE_NVTX": "0"}, "-"),
            ({"NVTX_INJECTION64_PATH": "/its/own.so"}, "own.so"),
        ):
            out, err = run(code, PROTON_COMMAND=COMMAND, **variables)
            self.assertTrue(out.startswith(said), (variables, out, err))

    @unittest.skipUnless(COMMAND, "needs a command")
    def test_nvtx_is_of_this_process(self):
        """What it names is the library that is loaded, and nothing in what the program starts; which may have a
        session of its own."""
        code = (
            "import ctypes, os, subprocess, sys, proton\n"
            "from proton import _native\n"
            "def tool(): return ctypes.CDLL(os.environ['NVTX_INJECTION64_PATH'])\n"
            "if len(sys.argv) > 1:\n"
            "    try: tool()\n"
            "    except OSError: print('nothing here')\n"
            "proton.start('child' if len(sys.argv) > 1 else 'a')\n"
            "print(tool()._handle == ctypes.CDLL(_native.load())._handle, flush=True)\n"
            "if len(sys.argv) == 1: subprocess.check_call([sys.executable, __file__, 'child'])\n"
        )
        with open("program.py", "w") as f:
            f.write(code)
        out, err = run("import runpy; runpy.run_path('program.py')", PROTON_COMMAND=COMMAND)
        self.assertEqual(out, "True\nnothing here\nTrue\n", err)

    @unittest.skipUnless(COMMAND, "needs a command")
    def test_nvtx_is_nobody_else_s(self):
        """… and whose sessions are over names it for nobody: neither for children, nor in a fork child."""
        code = (
            "import os, subprocess, sys, proton\n"
            "child = 'import os; print(os.environ.get(\"NVTX_INJECTION64_PATH\", \"-\"))'\n"
            "def told(): return subprocess.check_output([sys.executable, '-c', child]).decode().strip()\n"
            "a, b = proton.start('a'), proton.start('b')\n"
            "proton.finalize(a)\n"
            "kept = 'NVTX_INJECTION64_PATH' in os.environ\n"
            "ends = os.pipe()\n"
            "if os.fork() == 0: os.write(ends[1], told().encode()); os._exit(0)\n"
            "os.wait()\n"
            "forked = os.read(ends[0], 99).decode()\n"
            "if len(sys.argv) > 1: os.environ['NVTX_INJECTION64_PATH'] = 'theirs'\n"
            "proton.finalize(b)\n"
            "print(kept, forked, told(), end=' ')\n"
            "try: proton.start('x', context='nonsense')\n"
            "except ValueError: print(told())\n"
        )
        self.assertEqual(run(code, PROTON_COMMAND=COMMAND)[0], "True - - -\n")
        self.assertEqual(run(code, "set", PROTON_COMMAND=COMMAND)[0], "True - theirs theirs\n")
        out, err = run(code, PROTON_COMMAND=COMMAND, NVTX_INJECTION64_PATH="user's")
        self.assertEqual(out, "True user's user's user's\n")

    def test_disabled(self):
        for variable in ("PROTON_DISABLE", "TRITON_PROTON_DISABLE"):
            out, err = run(
                "import proton\n"
                "print(proton.start('x'), proton.enter_scope('s'), proton.exit_scope())\n"
                "with proton.scope('s', {'a': object()}): proton.enter_state('t')\n"
                "proton.finalize()",
                **{variable: "1"}
            )
            self.assertEqual((out, err), ("None -1 -1\n", ""))
        self.assertEqual(os.listdir("."), [])


if __name__ == "__main__":
    unittest.main()

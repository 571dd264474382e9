#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do programs behave under proton as they do without it? Programs that look into their interpreter, bare and
under `proton record`, with calling contexts read 1,000 times a second: scripts/harmless.py BUILD [options] [NAME ...]

--suite cpython   CPython's own tests. The interpreter has them: Debian's with libpython3.11-testsuite,
                  or one of pyenv.
--suite torch     PyTorch's own tests, of its sources in --source DIR, which are those of the installed
                  version (Debian's python3-torch: apt-get source pytorch); they want the modules pytest,
                  expecttest and hypothesis.
--suite sessions  pytest, coverage, debugpy, IPython, greenlets, loops of events …, each where the
                  interpreter has its module: pytest pytest-cov pytest-xdist coverage debugpy ipython
                  gevent greenlet uvloop cython setuptools numpy (PyPI).

What differs from the bare run is run again, both ways; what still differs is printed, and the exit status
is 1, as where nothing of a test ran. Nothing is downloaded. An interpreter takes half an hour, so no other test runs it."""
import argparse, itertools, json, os, re, shutil, subprocess, sys, tempfile
import xml.etree.ElementTree as ElementTree
sys.dont_write_bytecode = True  # the folder is part of the tarball
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "harmless"))
import sessions

CPYTHON = """test_threading test_thread test_threading_local test_asyncio test_sys_setprofile test_sys_settrace
    test_subprocess test_multiprocessing_spawn test_multiprocessing_fork test_gc test_generators
    test_coroutines test_faulthandler test_signal test_threadsignals test_embed test_frame test_inspect
    test_traceback test_exceptions test_fork1 test_wait4 test_os test_posix test_atexit test_greenlet
    test_context test_contextlib test_concurrent_futures test_capi test_code test_dis test_monitoring
    test_interpreters test_sys test_tracemalloc test_weakref test_pty test_io test_selectors""".split()
# FILE, or FILE:EXPRESSION with one of pytest's -k: those that need neither a GPU nor many minutes.
TORCH = ["profiler/test_profiler:not name_pattern", "test_autograd", "test_python_dispatch", "test_multiprocessing",
         "test_multiprocessing_spawn:exception or signal or success or argument", "test_dataloader:worker or error",
         "test_nn:hook or module or state_dict or Transformer", "test_futures", "test_monitor", "test_autocast",
         "test_dispatch", "test_fx"]
SHOWN = 10  # of what differs in one test
# Whoever launches has threads of the vendor's library. Here our sender is alone, and since 3.12 os.fork()
# warns of it.
EXPECTED = "test.test_threading.ThreadTests.test_main_thread_after_fork",


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="folder with proton")
    parser.add_argument("--suite", choices=sorted(SUITES), default="cpython", help="what is run (cpython)")
    parser.add_argument("--python", default=sys.executable, help="interpreter that runs it")
    parser.add_argument("--context", action="append", metavar="LIST",
                        help="of proton record; given several times, each in its turn (python)")
    parser.add_argument("--source", help="folder with the sources of PyTorch")
    parser.add_argument("--leave-out", action="append", default=[], metavar="NAME",
                        help="a part of a test that is not run: what has no end bare either")
    parser.add_argument("--rounds", type=int, default=3, help="how often what differs is run (3)")
    parser.add_argument("--timeout", type=int, default=900, help="seconds of a test (900)")
    parser.add_argument("--keep", help="folder for what the tests print and the profiles")
    parser.add_argument("names", nargs="*", help="what is run of the suite (all that is here, of a list)")
    args = parser.parse_intermixed_args()
    args.context = args.context or ["python"]
    args.build = os.path.abspath(args.build)
    return args


def has_module(python, name):
    code = "import importlib.util, sys; sys.exit(not importlib.util.find_spec(sys.argv[1]))"
    return subprocess.run([python, "-c", code, name], stderr=subprocess.DEVNULL).returncode == 0


def of_junit(path):
    """Outcomes of a file of JUnit's by the names of tests."""
    found = {}
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return found
    for case in cases:
        outcome = [e.tag for e in case if e.tag in ("failure", "error", "skipped")]
        name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
        name = re.sub(r"0x[0-9a-f]{6,}", "_ADDRESS_", name)
        found[name] = outcome[0] if outcome else "passed"
    return found


class Cpython:
    def __init__(self, args):
        self.args = args

    def names(self):
        return [t for t in CPYTHON if has_module(self.args.python, "test." + t)]

    def missing(self, name):
        """Why this one cannot be run; None: it can."""
        found = has_module(self.args.python, "test." + name)
        return None if found else "'%s' has no module test.%s" % (self.args.python, name)

    def run(self, name, words, run):
        left_out = [w for part in self.args.leave_out for w in ("-i", part)]
        command = words + [self.args.python, "-m", "test", "-v", "--timeout", str(self.args.timeout),
                           "--junit-xml", run.path("xml"), *left_out, name]
        return {"exit status": run.call(command), **of_junit(run.path("xml"))}


class Torch:
    def __init__(self, args):
        self.args = args
        self.source = os.path.join(os.path.abspath(args.source or "."), "test")
        if not os.path.exists(os.path.join(self.source, "test_autograd.py")):
            sys.exit("harmless: no sources of PyTorch: --source DIR, where DIR/test is")
        for module in "torch", "pytest", "expecttest", "hypothesis":
            if not has_module(args.python, module):
                sys.exit("harmless: '%s' has no module %s" % (args.python, module))

    def names(self):
        return [t for t in TORCH if not self.missing(t)]

    def missing(self, name):
        file = os.path.join(self.source, name.split(":")[0] + ".py")
        return None if os.path.exists(file) else "there is no '%s'" % file

    def run(self, name, words, run):
        name, _, chosen = name.partition(":")
        chosen = " and ".join(["(" + chosen + ")"] * bool(chosen) + ["not " + p for p in self.args.leave_out])
        command = words + [self.args.python, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-k", chosen,
                           "--junit-xml", run.path("xml"), os.path.join(self.source, name + ".py")]
        return {"exit status": run.call(command), **of_junit(run.path("xml"))}


class Sessions:
    def __init__(self, args):
        self.args = args

    def names(self):
        found = []
        for session in sessions.SESSIONS:
            missing = self.missing(session.name)
            if missing:
                print("%s: skipped: %s" % (session.name, missing), flush=True)
            else:
                found.append(session.name)
        return found

    def missing(self, name):
        for session in sessions.SESSIONS:
            if session.name == name:
                modules = [m for m in session.modules if not has_module(self.args.python, m)]
                return "no module " + ", ".join(modules) if modules else None
        return "there is no such session"

    def run(self, name, words, run):
        """Lines of what it prints are its parts."""
        session = next(s for s in sessions.SESSIONS if s.name == name)
        shutil.copytree(sessions.FILES, run.work, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__pycache__"))
        found = {}
        for n, (more, command) in enumerate(session.commands(self.args.python, words), 1):
            found["exit status of command %d" % n] = run.call(command, {**sessions.ENVIRONMENT, **more})
        if not words and found["exit status of command 1"] != session.status:
            print("%s: ends with %s bare already" % (name, found["exit status of command 1"]), flush=True)
        for n, line in enumerate(session.lines(run.text()), 1):
            found["line %d" % n] = repr(line)
        return found


SUITES = {"cpython": Cpython, "torch": Torch, "sessions": Sessions}


class Run:
    """One run of a test: where it runs, what it prints."""

    def __init__(self, stem, timeout, more):
        self.stem, self.timeout = stem, timeout
        self.environment = {**os.environ, **more}
        self.work = tempfile.mkdtemp(dir=os.path.dirname(stem))
        open(self.path("log"), "w").close()

    def path(self, suffix):
        return self.stem + "." + suffix

    def call(self, command, more={}):
        with open(self.path("log"), "a") as log:
            try:
                return str(subprocess.run(command, cwd=self.work, env={**self.environment, **more}, stdout=log,
                                          stderr=log, stdin=subprocess.DEVNULL,
                                          timeout=2 * self.timeout).returncode)
            except subprocess.TimeoutExpired:
                return "no end"

    def text(self):
        with open(self.path("log"), errors="backslashreplace") as log:
            return log.read().replace(self.work, "_WORK_")

    def done(self):
        shutil.rmtree(self.work, ignore_errors=True)


class Runner:
    def __init__(self, args):
        self.args = args
        self.suite = SUITES[args.suite](args)
        self.folder = os.path.abspath(args.keep or tempfile.mkdtemp(prefix="proton-harmless."))
        self.mock = os.path.join(args.build, "tests/mocks/.libs/passed.so")
        self.n_launches = dict.fromkeys(args.context, 0)
        self.n_read = dict.fromkeys(args.context, 0)
        self.numbers = itertools.count()
        os.makedirs(self.folder, exist_ok=True)
        if not os.path.exists(self.mock):
            sys.exit("harmless: no '%s': make check TESTS= makes it" % self.mock)

    def run(self, name, context):
        """Outcomes of a test's parts by their names; bare without a context."""
        stem = os.path.join(self.folder, "%s.%s.%d" % (
            "".join(c if c.isalnum() else "_" for c in name), context or "bare", next(self.numbers)))
        words, more = [], {}
        if context:
            words = [os.path.join(self.args.build, "proton"), "record", "-q", "--context", context,
                     "--save-interval", "600", "-o", stem + ".hatchet", "--"]
            more = {"LD_PRELOAD": self.mock, "PROTON_FAKE": "called passed_take"}
        run = Run(stem, self.args.timeout, more)
        found = self.suite.run(name, words, run)
        run.done()
        if context:
            self.count(context, stem + ".hatchet")
        return found

    def count(self, context, profile):
        """How many launches there were, and of how many the frames were read."""
        text = subprocess.run([os.path.join(self.args.build, "proton"), "export", "-f", "json", profile],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        nodes = json.loads(text)["nodes"] if text else []
        kinds = {n["id"]: n["kind"] for n in nodes}
        for node in nodes:
            if node["kind"] == "kernel":
                is_read = kinds.get(node["parent"]) in ("python", "native", "module", "operator")
                self.n_launches[context] += node["metrics"]["count"]
                self.n_read[context] += node["metrics"]["count"] * is_read

    def compare(self, name):
        """What differs in all rounds: context -> [(part, outcomes bare, outcomes under us)]."""
        bare, under, pending = {}, {c: {} for c in self.args.context}, self.args.context
        for _ in range(self.args.rounds):
            note(bare, self.run(name, None))
            for context in pending:
                note(under[context], self.run(name, context))
            found = {c: differences(bare, under[c]) for c in self.args.context}
            pending = [c for c in self.args.context if found[c]]
            if not pending:
                break
        return len(bare), found


def note(found, outcomes):
    for part, outcome in outcomes.items():
        found.setdefault(part, set()).add(outcome)


def differences(bare, under):
    absent = {"absent"}
    parts = list(bare) + [p for p in under if p not in bare]
    return [(p, bare.get(p, absent), under.get(p, absent)) for p in parts
            if p not in EXPECTED and not bare.get(p, absent) & under.get(p, absent)]


def main():
    args = arguments()
    runner = Runner(args)
    for name in args.names:
        missing = runner.suite.missing(name)
        if missing:
            sys.exit("harmless: %s: %s" % (name, missing))
    n_different, n_empty = dict.fromkeys(args.context, 0), 0
    for name in args.names or runner.suite.names():
        n, found = runner.compare(name)
        if n <= 1:
            print("%s: nothing of it ran; --keep FOLDER has what it says" % name, flush=True)
            n_empty += 1
            continue
        print("%s: %d outcomes, %s" % (
            name, n, ", ".join("%d different under %s" % (len(found[c]), c) for c in found)), flush=True)
        for context, different in found.items():
            n_different[context] += len(different)
            for part, bare, under in different[:SHOWN]:
                print("  %s: bare %s, under %s %s" % (
                    part, "/".join(sorted(bare)), context, "/".join(sorted(under))), flush=True)
    for context in args.context:
        print("%s, %s: %d different; %d launches, the frames of %d read" % (
            args.python, context, n_different[context], runner.n_launches[context], runner.n_read[context]))
    if not args.keep:
        shutil.rmtree(runner.folder, ignore_errors=True)
    sys.exit(bool(n_empty or any(n_different.values())))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Sessions of scripts/harmless.py: tools that look into the interpreter, as people use them. A session is a
few commands in a folder with the files of this one; what they print must be the same bare and under us."""
import os, re, sys

# Whoever launches has threads of the vendor's library; these programs have our sender alone, of which
# os.fork() warns since 3.12.
ENVIRONMENT = {"PYTHONWARNINGS": "ignore:This process"}
FILES = os.path.dirname(os.path.abspath(__file__))
SCRUBBED = [
    (r"\b\d+\.\d+ ?(s|ms|seconds)\b", "_TIME_"),
    (r"\b[\d-]*T?\d+:\d\d:\d\dZ?\b", "_TIME_"),
    (r"0x[0-9a-f]{6,}", "_ADDRESS_"),
    (r"started \d+", "started _ID_"),
    (r"pytest-of-\w+/pytest-\d+", "_TMP_"),
    (r"={3,}", "==="),
    (r"(?m)^[.FExs]+ +\[100%\]$", "_PROGRESS_"),
]


class Session:
    """commands(python, words) gives (variables, argv) of each; `words` come before whatever is profiled."""

    def __init__(self, name, modules, commands, in_any_order=False, status="0"):
        self.name, self.modules, self.commands = name, modules.split(), commands
        self.in_any_order, self.status = in_any_order, status  # of the first command, bare

    def lines(self, text):
        for pattern, word in SCRUBBED:
            text = re.sub(pattern, word, text)
        lines = text.splitlines()
        return sorted(lines) if self.in_any_order else lines


def ours(name):
    return [sys.executable, os.path.join(FILES, name)]


def simple(*argv, **variables):
    return lambda python, words: [(variables, words + [python, *argv])]


def coverage(core, *options):
    """Lines and branches of a program with threads and children, as its JSON has them."""
    def commands(python, words):
        more = {"COVERAGE_CORE": core}
        tool = [python, "-m", "coverage"]
        return [(more, words + tool + ["run", *options, "--source", ".", "shop.py"]),
                (more, tool + ["report", "-m"]),
                (more, tool + ["json", "-q", "--pretty-print", "-o", "found.json"]),
                ({}, [python, "-c", "import json; f = json.load(open('found.json'))['files']\n"
                      "for n in sorted(f): print(n, f[n]['executed_lines'], f[n].get('executed_branches'))"])]
    return commands


def debugger(python, words):
    return [({}, ours("dap.py") + words + [python, "-Xfrozen_modules=off", "-m", "debugpy", "--listen",
                                           "_PORT_", "--configure-subProcess", "False", "--wait-for-client",
                                           "shop.py"])]


def at_terminal(script, *argv, **variables):
    variables = {"TERM": "xterm", "HOME": ".", "IPYTHONDIR": "ipython", **variables}
    return lambda python, words: [(variables, ours("terminal.py") + [script, *words, python, *argv])]


def compiled(*options):
    return lambda python, words: [
        ({}, [python, "setup_fast.py", "-q", "build_ext", "--inplace", *options]),
        ({}, words + [python, "use_fast.py"])]


PYTEST = ["-m", "pytest", "-p", "no:cacheprovider", "-rA", "--color=no", "-W", "error"]
IPYTHON = ["-m", "IPython", "--no-banner", "--colors=NoColor", "--no-confirm-exit",
           "--InteractiveShell.history_length=0"]

SESSIONS = [
    Session("pytest", "pytest", simple(*PYTEST, "test_shop.py"), status="1"),
    Session("pytest_xdist", "pytest pytest_cov xdist",
            simple(*PYTEST, "-q", "-n", "2", "--cov=shop", "--cov-branch", "--cov-report=term-missing",
                   "test_shop.py"), in_any_order=True, status="1"),
    Session("pytest_pdb", "pytest", at_terminal("pdb.keys", *PYTEST, "--pdb", "-x", "-k", "fails", "test_shop.py"),
            status="2"),
    Session("coverage_c", "coverage", coverage("ctrace")),
    Session("coverage_c_branch", "coverage", coverage("ctrace", "--branch")),
    Session("coverage_python", "coverage", coverage("pytrace", "--branch")),
    Session("coverage_sysmon", "coverage", coverage("sysmon")),
    Session("coverage_sysmon_branch", "coverage", coverage("sysmon", "--branch")),
    Session("coverage_greenlet", "coverage greenlet",
            lambda python, words: [({}, words + [python, "-m", "coverage", "run", "--concurrency=greenlet",
                                                 "--branch", "--source", ".", "greenlets.py"]),
                                   ({}, [python, "-m", "coverage", "report", "-m"])]),
    Session("debugpy", "debugpy", debugger),
    Session("ipython", "IPython",
            lambda python, words: [({"IPYTHONDIR": "ipython"},
                                    ours("feed.py") + ["ipython.lines", *words, python, *IPYTHON,
                                                       "--simple-prompt"])]),
    Session("ipython_terminal", "IPython", at_terminal("ipython.keys", *IPYTHON)),
    Session("python_terminal", "sys", at_terminal("python.keys", "-q", PYTHON_BASIC_REPL="1"),
            status="3"),
    Session("pdb", "pdb", at_terminal("pdb_run.keys", "-m", "pdb", "shop.py")),
    Session("tracers", "sys", simple("tracers.py")),
    Session("greenlet", "greenlet", simple("greenlets.py")),
    Session("gevent", "gevent", simple("gevents.py")),
    Session("asyncio", "asyncio", simple("events.py")),
    Session("uvloop", "uvloop", simple("events.py", "uvloop")),
    Session("cython", "Cython setuptools", compiled()),
    Session("cython_profiled", "Cython setuptools", compiled("--define", "CYTHON_TRACE")),
    Session("numpy", "numpy", simple("arrays.py")),
]

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do programs behave under proton as they do without it? Tests of CPython, bare and under `proton record`,
with calling contexts read 1,000 times a second: scripts/harmless.py BUILD [options] [TEST ...]

An interpreter that has its own tests is wanted: Debian's with libpython3.11-testsuite, or one of pyenv.
What passes bare and not under us is run again, both ways; what still differs is printed, and the exit
status is 1. It takes about half an hour an interpreter, so no other test runs it."""
import argparse, json, os, shutil, subprocess, sys, tempfile
import xml.etree.ElementTree as ElementTree

TESTS = """test_threading test_thread test_threading_local test_asyncio test_sys_setprofile test_sys_settrace
    test_subprocess test_multiprocessing_spawn test_multiprocessing_fork test_gc test_generators
    test_coroutines test_faulthandler test_signal test_threadsignals test_embed test_frame test_inspect
    test_traceback test_exceptions test_fork1 test_wait4 test_os test_posix test_atexit test_greenlet
    test_context test_contextlib test_concurrent_futures test_capi test_code test_dis test_monitoring
    test_interpreters test_sys test_tracemalloc test_weakref test_pty test_io test_selectors""".split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build", help="folder with proton")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has its own tests")
    parser.add_argument("--context", default="python", help="of proton record (python)")
    parser.add_argument("--rounds", type=int, default=3, help="how often what differs is run (3)")
    parser.add_argument("--timeout", type=int, default=900, help="seconds of a test (900)")
    parser.add_argument("--keep", help="folder for what the tests print and the profiles")
    parser.add_argument("tests", nargs="*", help="names of tests (all that are here, of a list)")
    return parser.parse_intermixed_args()


class Runner:
    def __init__(self, args):
        self.args = args
        self.build = os.path.abspath(args.build)
        self.folder = os.path.abspath(args.keep or tempfile.mkdtemp(prefix="proton-harmless."))
        os.makedirs(self.folder, exist_ok=True)
        self.n_launches = self.n_read = 0

    def has(self, test):
        code = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('test." + test + "'))"
        return subprocess.run([self.args.python, "-c", code], stderr=subprocess.DEVNULL).returncode == 0

    def under(self, profile):
        """The words before the command, and what the environment has more."""
        mock = os.path.join(self.build, "tests/mocks/.libs/passed.so")
        if not os.path.exists(mock):
            sys.exit("harmless: no '%s': make check TESTS= makes it" % mock)
        return ([os.path.join(self.build, "proton"), "record", "-q", "--context", self.args.context,
                 "--save-interval", "600", "-o", profile, "--"],
                {"LD_PRELOAD": mock, "PROTON_FAKE": "called passed_take"})

    def run(self, test, is_under, n):
        """Outcomes of a test's parts by their names; the exit status is one of them."""
        name = os.path.join(self.folder, "%s.%s.%d" % (test, "under" if is_under else "bare", n))
        words, more = self.under(name + ".hatchet") if is_under else ([], {})
        command = words + [self.args.python, "-m", "test", "-v", "--timeout", str(self.args.timeout),
                           "--junit-xml", name + ".xml", test]
        work = tempfile.mkdtemp(dir=self.folder)
        with open(name + ".log", "w") as log:
            try:
                status = subprocess.run(command, cwd=work, env={**os.environ, **more}, stdout=log, stderr=log,
                                        stdin=subprocess.DEVNULL, timeout=2 * self.args.timeout).returncode
            except subprocess.TimeoutExpired:
                status = "no end"
        shutil.rmtree(work, ignore_errors=True)
        if is_under:
            self.count(name + ".hatchet")
        return {**outcomes(name + ".xml"), "exit status": str(status)}

    def count(self, profile):
        """How many launches there were, and of how many the frames were read."""
        text = subprocess.run([os.path.join(self.build, "proton"), "export", "-f", "json", profile],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        nodes = json.loads(text)["nodes"] if text else []
        kinds = {n["id"]: n["kind"] for n in nodes}
        for node in nodes:
            if node["kind"] == "kernel":
                self.n_launches += node["metrics"]["count"]
                self.n_read += node["metrics"]["count"] * (kinds.get(node["parent"]) in ("python", "native"))

    def compare(self, test):
        """What differs in all rounds: (part, outcomes bare, outcomes under us)."""
        bare, under = {}, {}
        for n in range(self.args.rounds):
            for found, is_under in (bare, False), (under, True):
                for part, outcome in self.run(test, is_under, n).items():
                    found.setdefault(part, set()).add(outcome)
            parts = sorted(set(bare) | set(under))
            different = [(p, bare.get(p, {"absent"}), under.get(p, {"absent"})) for p in parts
                         if not bare.get(p, {"absent"}) & under.get(p, {"absent"})]
            if not different:
                break
        return len(parts) - 1, different


def outcomes(path):
    found = {}
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return found
    for case in cases:
        outcome = [e.tag for e in case if e.tag in ("failure", "error", "skipped")]
        found[case.get("name")] = outcome[0] if outcome else "passed"
    return found


def main():
    args = arguments()
    runner = Runner(args)
    n_different = 0
    for test in args.tests or [t for t in TESTS if runner.has(t)]:
        n, different = runner.compare(test)
        n_different += len(different)
        print("%s: %d tests, %d different" % (test, n, len(different)), flush=True)
        for part, bare, under in different:
            print("  %s: bare %s, under proton %s" % (part, "/".join(sorted(bare)), "/".join(sorted(under))),
                  flush=True)
    print("%s: %d different; %d launches, the frames of %d read" % (
        args.python, n_different, runner.n_launches, runner.n_read))
    if not args.keep:
        shutil.rmtree(runner.folder, ignore_errors=True)
    sys.exit(n_different > 0)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""python3 -m tests [PATTERN]: run them, a line each, as scripts of tests/ print them."""
import sys
import unittest


class Result(unittest.TestResult):
    """Lines "ok: …", "FAILED: …", "skipped: …"."""

    version = "%d.%d" % sys.version_info[:2]

    def _say(self, word, test, why=""):
        name = test.id().split("tests.")[-1]
        print("%s: python %s: %s%s" % (word, self.version, name, why), flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._say("ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        self._say("FAILED", test, "\n" + self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._say("FAILED", test, "\n" + self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._say("FAILED", subtest, "\n%s" % (err[1],))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._say("FAILED", test, ": it was expected to fail")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._say("skipped", test, ": " + reason)


def main(pattern="test_*.py"):
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    suite = unittest.defaultTestLoader.discover(here, pattern, os.path.dirname(here))
    result = Result()
    suite.run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1


sys.exit(main(*sys.argv[1:]))

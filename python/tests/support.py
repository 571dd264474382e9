# SPDX-License-Identifier: MIT
"""What the tests of the package share.

They run as a part of a run (`proton record -- python3 -m tests`) or alone, with the mocks of CUDA and CUPTI,
which tests/scripts/python_package.sh sets up: PROTON_TEST_CUDA is the mock libcuda.so.1,
PROTON_TEST_COMMAND the command. What needs neither runs everywhere.
"""
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import proton
except ImportError:  # not installed: what is beside these tests
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import proton
from proton import _native  # noqa: E402
from proton.flags import flags, is_run  # noqa: E402

CUDA = os.environ.get("PROTON_TEST_CUDA")
COMMAND = os.environ.get("PROTON_TEST_COMMAND")
# Loaded now: a session that begins finds it. Initialised at the first launch: the mock finds that of CUPTI.
_driver = ctypes.CDLL(CUDA, mode=ctypes.RTLD_GLOBAL) if CUDA else None
_started = []
_functions = {}  # the mock takes the name for the function's handle, and keeps it


def is_recorded():
    """Is there somebody to record, and something to launch?"""
    return bool(CUDA) and _native.load() is not None


def launch(name, n=1):
    """Launch a kernel n times, on the mock."""
    if not _started:
        _started.append(_driver.cuInit(0))
    function = _functions.setdefault(name, ctypes.create_string_buffer(os.fsencode(name)))
    for _ in range(n):
        _driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, None)


def allocate(size, in_pool=False):
    """Allocate memory of the mock's device: its address."""
    address = ctypes.c_uint64()
    if in_pool:
        _driver.cuMemAllocAsync(ctypes.byref(address), ctypes.c_size_t(size), None)
    else:
        _driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
    return address.value


def release(address, in_pool=False):
    if in_pool:
        _driver.cuMemFreeAsync(ctypes.c_uint64(address), None)
    else:
        _driver.cuMemFree_v2(ctypes.c_uint64(address))


def has(*functions):
    """Is this libproton new enough?"""
    return all(_native.has(name) for name in functions)


def nodes(profile):
    """path ("a/b", root "") -> metrics, of what a session's file holds."""
    found = {}

    def walk(node, path):
        found[path] = node["metrics"]
        for child in node["children"]:
            name = child["frame"]["name"]
            walk(child, path + "/" + name if path else name)

    walk(profile[0], "")
    return found


def read(file):
    with open(file, encoding="utf-8", errors="surrogateescape") as f:
        return nodes(json.load(f))


def kernels(file):
    """path -> executions."""
    return {path: m["count"] for path, m in read(file).items() if m.get("count") and path}


def run(code, *arguments, **variables):
    """Run Python code in a process of its own, which nobody records. A variable that is None is not
    there. Returns what it printed, and its errors; a failure is the test's."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PROTON_", "TRITON_"))
        and name not in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
    }
    env["PYTHONPATH"] = os.path.dirname(os.path.dirname(os.path.abspath(proton.__file__)))
    for name, value in variables.items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    done = subprocess.run(
        [sys.executable, "-c", code] + [str(a) for a in arguments],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=120,
    )
    if done.returncode:
        raise AssertionError("status %d: %s" % (done.returncode, done.stderr))
    return done.stdout, done.stderr


class Case(unittest.TestCase):
    """In a folder of its own, and without sessions afterwards."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)


@unittest.skipUnless(is_recorded(), "needs a run of proton record with the mocks")
class RecordedCase(Case):
    """A part of a run."""

    def setUp(self):
        super().setUp()
        self.addCleanup(proton.finalize)
        self.addCleanup(setattr, flags, "profiling_on", True)
        if is_run():
            return
        # Alone: the first session starts the collector.
        proton.start("first")
        proton.finalize()
        os.unlink("first.hatchet")

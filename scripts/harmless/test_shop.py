# SPDX-License-Identifier: MIT
import asyncio
import gc
import os
import subprocess
import sys
import threading
import warnings
import weakref

import pytest
import shop


@pytest.fixture
def basket():
    basket = shop.Basket()
    yield basket
    assert len(basket.items) < 100


@pytest.mark.parametrize("n, total", [(1, 2), (3, 6), (4, 4), (5, 5)])
def test_totals(basket, n, total):
    assert basket.add("fig", 2, n).total == total


def test_refused(basket):
    with pytest.raises(ValueError, match="no fig"):
        basket.add("fig", 1, 0)


def test_walk(basket):
    walk = basket.add("a", 1).add("b", 11).walk()
    assert next(walk) == "a" and walk.gi_frame.f_lineno > 0
    assert list(walk) == ["B"] and walk.gi_frame is None


def test_threads():
    assert shop.in_threads(8) == [54 + i for i in range(8)]
    assert threading.active_count() == 1


def test_coroutines():
    found = asyncio.run(shop.deliver_all())
    assert found[:2] == [0, 1] and isinstance(found[2], RuntimeError)


def test_child():
    assert shop.in_child() == b"45\n"
    assert subprocess.run([sys.executable, "-c", "import os; os._exit(3)"]).returncode == 3


def test_fork():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        os._exit(shop.depth(20))
    assert os.waitpid(child, 0)[1] == 20 << 8


def test_recursion():
    with pytest.raises(RecursionError):
        shop.depth(sys.getrecursionlimit())


def test_references(basket):
    before = sys.getrefcount(test_references.__code__), sys.getrefcount(None.__class__)
    shop.depth(100)
    assert (sys.getrefcount(test_references.__code__), sys.getrefcount(None.__class__)) == before
    class Held: pass
    held = weakref.ref(Held())
    gc.collect()
    assert held() is None


def test_frames():
    frame = sys._getframe()
    assert frame.f_code.co_name == "test_frames" and frame.f_trace is None
    assert sys.gettrace() is None and sys.getprofile() is None


def test_output(capfd):
    os.write(1, b"one\n")
    subprocess.run(["sh", "-c", "echo two; echo three >&2"])
    assert capfd.readouterr() == ("one\ntwo\n", "three\n")


def test_descriptors():
    before = os.listdir("/proc/self/fd")
    subprocess.run(["true"])
    assert os.listdir("/proc/self/fd") == before


def test_fails(basket):
    basket.add("kiwi", 3)
    assert basket.total == 4


@pytest.mark.xfail
def test_fails_as_expected():
    assert shop.depth(3) == 4


def test_errs(no_such_fixture):
    pass

# SPDX-License-Identifier: MIT
import json
import threading
import unittest
import warnings
from unittest import mock

from .support import RecordedCase, flags, kernels, launch, proton, read


class Scopes(RecordedCase):
    def setUp(self):
        super().setUp()
        self.session = proton.start("a")

    def kernels(self):
        proton.finalize()
        return kernels("a.hatchet")

    def test_with(self):
        with proton.scope("outer"):
            launch("add")
            with proton.scope("inner"):
                launch("mul")
        launch("sub")
        self.assertEqual(self.kernels(), {"outer/add": 1, "outer/inner/mul": 1, "sub": 1})

    def test_raises(self):
        with self.assertRaises(KeyError):
            with proton.scope("outer"):
                raise KeyError
        launch("add")
        self.assertEqual(self.kernels(), {"add": 1})

    def test_decorator(self):
        @proton.scope("f")
        def f(n):
            launch("add")
            return n and f(n - 1)

        self.assertEqual(f(2), 0)
        self.assertEqual(f.__name__, "f")
        self.assertEqual(self.kernels(), {"f/add": 1, "f/f/add": 1, "f/f/f/add": 1})

    def test_decorator_raises(self):
        @proton.scope("f")
        def f():
            raise KeyError

        self.assertRaises(KeyError, f)
        launch("add")
        self.assertEqual(self.kernels(), {"add": 1})

    def test_again_and_inside_itself(self):
        scope = proton.scope("s")
        for _ in range(2):
            with scope:
                launch("add")
                with scope:
                    launch("mul")
        self.assertEqual(self.kernels(), {"s/add": 2, "s/s/mul": 2})

    def test_enter_and_exit(self):
        first = proton.enter_scope("outer")
        second = proton.enter_scope("inner")
        launch("add")
        self.assertNotEqual(first, second)
        self.assertEqual(proton.exit_scope("inner"), second)
        self.assertEqual(proton.exit_scope(), first)
        self.assertEqual(self.kernels(), {"outer/inner/add": 1})

    def test_wrong_name(self):
        proton.enter_scope("outer")
        with self.assertRaisesRegex(ValueError, "not 'other'"):
            proton.exit_scope("other")
        launch("add")
        proton.exit_scope("outer")
        launch("add")
        self.assertEqual(self.kernels(), {"outer/add": 1, "add": 1})

    def test_crossed(self):
        """Blocks and pairs do not close each other's."""
        with proton.scope("block"):
            proton.enter_scope("pair")
            launch("add")
        launch("mul")
        self.assertRaises(TypeError, proton.exit_scope, 7)
        proton.exit_scope("pair")
        launch("sub")
        self.assertEqual(self.kernels(), {"block/pair/add": 1, "pair/mul": 1, "sub": 1})

    def test_deep(self):
        """More than the collector keeps: counted there, and balanced."""
        numbers = [proton.enter_scope("deep") for _ in range(400)]
        self.assertEqual(numbers[:3], [1, 2, 3])
        for _ in range(400):
            self.assertGreater(proton.exit_scope("deep"), 0)
        launch("add")
        self.assertEqual(self.kernels(), {"add": 1})

    def test_unbalanced(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            self.assertEqual(proton.exit_scope(), -1)
        self.assertEqual([w.category for w in seen], [RuntimeWarning])
        with proton.scope("s"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                proton.exit_scope()  # not one of enter_scope()
            launch("add")
        self.assertEqual(self.kernels(), {"s/add": 1})

    def test_names(self):
        names = ["nul\0nul", "line\nfeed", "caf\u00e9 \U0001f600", "\ud800", "", "x" * (1 << 20)]
        for name in names:
            with proton.scope(name):
                launch("add")
            proton.enter_scope(name)
            proton.exit_scope(name)
        found = self.kernels()
        self.assertEqual(sum(found.values()), len(names))
        for path in ("nul\\0nul/add", "line\nfeed/add", "caf\u00e9 \U0001f600/add", "\\ud800/add"):
            self.assertEqual(found.get(path), 1, path)

    def test_bytes_and_no_names(self):
        with proton.scope(b"bytes"):
            launch("add")
        for name in (None, 7, ["x"]):
            with self.assertRaises(TypeError):
                proton.enter_scope(name)
            with self.assertRaises(TypeError):
                with proton.scope(name):
                    self.fail("entered")
        launch("mul")
        self.assertEqual(self.kernels(), {"bytes/add": 1, "mul": 1})

    def test_many_names(self):
        for i in range(20000):
            with proton.scope("name %d" % i):
                pass
        launch("add")
        self.assertEqual(self.kernels(), {"add": 1})

    def test_by_ctypes(self):
        """Where the library makes no functions for the interpreter."""
        with mock.patch("proton._native.made_functions", return_value=None):
            flags.profiling_on = True  # what is at hand is forgotten
            for _ in range(2):
                with self.assertRaises(KeyError):
                    with proton.scope("s"):
                        launch("add")
                        proton.enter_scope("t")
                        launch("mul")
                        proton.exit_scope()
                        raise KeyError
            self.assertRaises(TypeError, proton.enter_scope, 7)
        flags.profiling_on = True
        with proton.scope("s"):
            launch("add")
        self.assertEqual(self.kernels(), {"s/add": 3, "s/t/mul": 2})

    def test_threads(self):
        def work(name):
            for _ in range(50):
                with proton.scope(name):
                    with proton.scope("inner"):
                        launch("add")

        threads = [threading.Thread(target=work, args=("t%d" % i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(self.kernels(), {"t%d/inner/add" % i: 50 for i in range(4)})

    def test_generator(self):
        def f():
            with proton.scope("g"):
                launch("add")
                yield

        it = f()
        next(it)
        it.close()
        launch("add")
        self.assertEqual(self.kernels(), {"g/add": 1, "add": 1})

    def test_depth(self):
        before = proton.context.depth(self.session)
        with proton.scope("s"):
            proton.enter_scope("t")
            self.assertEqual(proton.context.depth(), before + 2)
            proton.exit_scope()
        self.assertEqual(proton.context.depth(self.session), before)

    def test_off_and_on(self):
        """What was entered while nobody profiled is not left when somebody does."""
        flags.profiling_on = False
        self.assertIsNone(proton.context.depth())
        with proton.scope("off", {"a": object()}):
            self.assertEqual(proton.enter_scope("off"), -1)
            flags.profiling_on = True
            with proton.scope("on"):
                launch("add")
        with proton.scope("on"):
            flags.profiling_on = False
        flags.profiling_on = True
        launch("mul")
        self.assertEqual(self.kernels(), {"on/add": 1, "mul": 1})

    def test_cpu_timed(self):
        with proton.cpu_timed_scope("s", {"n": 1}), proton.scope("plain"):
            pass

        @proton.cpu_timed_scope("f")
        def f():
            return 7

        self.assertEqual(f(), 7)
        proton.finalize()
        found = read("a.hatchet")
        self.assertNotIn("cpu_time (ns)", found["s/plain"])
        with open("a.hatchet", encoding="utf-8") as f:
            self.assertIn("cpu_time (ns)", str(json.load(f)[0]["proton"]["sets"]))  # in proton's own key
        self.assertGreater(found["s"]["cpu_time (ns)"], 0)
        self.assertEqual(found["s"]["n"], 1)
        self.assertNotIn("cpu_count", found["s"])
        self.assertGreater(found["f"]["cpu_time (ns)"], 0)
        for key in ("cpu_time", "cpu_time (ns)", "cpu_time (ns)(exc)"):
            with self.assertRaises(ValueError):
                proton.cpu_timed_scope("s", {key: 1})


class States(RecordedCase):
    def setUp(self):
        super().setUp()
        self.session = proton.start("a")

    def kernels(self):
        proton.finalize()
        return kernels("a.hatchet")

    def test_above_the_kernel(self):
        with proton.scope("outer"):
            with proton.state("s"):
                with proton.scope("inner"):
                    launch("add")
        launch("add")
        self.assertEqual(self.kernels(), {"outer/inner/s/add": 1, "add": 1})

    def test_do_not_nest(self):
        with proton.state("one"):
            proton.enter_state("two")
            launch("add")
            proton.exit_state()
            launch("mul")
        proton.exit_state()
        self.assertEqual(self.kernels(), {"two/add": 1, "mul": 1})

    def test_decorator_raises(self):
        @proton.state("s")
        def f():
            launch("add")
            raise KeyError

        self.assertRaises(KeyError, f)
        launch("mul")
        self.assertEqual(self.kernels(), {"s/add": 1, "mul": 1})

    def test_metadata(self):
        with proton.state("mine"):
            with proton.metadata_state("gemm"):
                launch("helper")
            launch("add")
            with proton.metadata_state():
                launch("helper")
        launch("mul")
        self.assertEqual(
            self.kernels(),
            {
                "__proton_launch_metadata/gemm/helper": 1,
                "__proton_launch_metadata/helper": 1,
                "mine/add": 1,
                "mul": 1,
            },
        )

    def test_no_name(self):
        self.assertRaises(TypeError, proton.enter_state, 7)
        launch("add")
        self.assertEqual(self.kernels(), {"add": 1})


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
import ctypes
import json
import fractions
import sys
import types
import unittest
import warnings

from .support import RecordedCase, _native, launch, proton, read
from proton import metric
from proton.flags import triton_version


class Device:
    def __init__(self, type):
        self.type = type


class Tensor:
    """As far as the package looks at one of torch."""

    def __init__(self, values, device="cpu", seen=None):
        self.values, self.device, self.seen = values, Device(device), seen

    def data_ptr(self):
        return 0x1000

    def tolist(self):
        if self.seen is not None:
            launch("copy of a tensor")
            self.seen.append(self.values)
        return self.values


class Metrics(RecordedCase):
    def setUp(self):
        super().setUp()
        self.session = proton.start("a")

    def metrics(self, name="s"):
        proton.finalize()
        found = read("a.hatchet")[name]
        return {k: v for k, v in found.items() if not k.startswith("cpu_")}

    def test_add_up(self):
        for _ in range(2):
            with proton.scope("s", {"i": 3, "f": 0.5, "flops": 10, "bytes": 7.0, "true": True}):
                pass
        self.assertEqual(
            self.metrics(), {"i": 6, "f": 1.0, "flops": 20.0, "bytes": 14, "true": 2}
        )

    def test_types_stay(self):
        with proton.scope("s", {"i": 3, "f": 0.5, "flops": 10, "bytes": 7.0}):
            pass
        found = self.metrics()
        self.assertIs(type(found["i"]), int)
        self.assertIs(type(found["bytes"]), int)
        self.assertIs(type(found["flops"]), float)

    def test_each_way(self):
        proton.enter_scope("s", metrics={"n": 1})
        proton.exit_scope(metrics={"n": 2})

        @proton.scope("s", {"n": 4})
        def f():
            pass

        f()
        f()
        self.assertEqual(self.metrics(), {"n": 11})

    def test_session_inactive(self):
        proton.deactivate(self.session)
        with proton.scope("off", {"n": 1}):
            pass
        proton.activate(self.session)
        with proton.scope("s", {"n": 2}):
            pass
        proton.finalize()
        found = read("a.hatchet")
        self.assertEqual(found["s"]["n"], 2)
        self.assertNotIn("n", found.get("off", {}))

    def test_exclusive_and_property(self):
        for _ in range(2):
            with proton.scope("s", {"wait (ns)(exc)": 5, "rate (pty)": 1.5, "batch (pty)": 8}):
                pass
        self.assertEqual(self.metrics(), {"wait (ns)": 10, "rate": 1.5, "batch": 8})

    def test_large(self):
        with proton.scope("s", {"most": 2**64 - 1, "i": 2**63 - 1}):
            pass
        self.assertEqual(self.metrics(), {"most": 2**64 - 1, "i": 2**63 - 1})

    def test_too_large(self):
        for value in (2**64, -(2**63) - 1, 10**400):
            with self.assertRaises(OverflowError):
                proton.enter_scope("s", metrics={"huge": value})
        launch("add")
        proton.finalize()
        self.assertIn("add", read("a.hatchet"))

    def test_negative(self):
        with proton.scope("s", {"below": -3}):
            pass
        self.assertEqual(self.metrics(), {"below": -3.0})

    def test_not_finite(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(2):
                with proton.scope("s", {"x": float("nan"), "y": float("inf"), "z": 1.0}):
                    pass
        self.assertEqual(self.metrics(), {"z": 2.0})
        self.assertEqual(len(seen), 2)
        self.assertIn("left out", str(seen[0].message))

    def test_vectors(self):
        for _ in range(2):
            with proton.scope("s", {"v (ms)": [1, 2], "w": (0.5, 1), "r": range(1)[:1] and [7]}):
                pass
        self.assertEqual(
            self.metrics(),
            {"v (ms)": [2, 4], "w": [1.0, 2.0], "r": [14]},
        )

    def test_bad_vectors(self):
        for value in ([], [0] * 65, [[1], [2]], ((1, 2),), [1, "x"], [None], Tensor([[]]), Tensor([[0] * 13] * 5)):
            with self.assertRaises((ValueError, TypeError), msg=str(value)):
                with proton.scope("s", {"v": value}):
                    self.fail("entered")
        with proton.scope("s", {"v": [1.5]}):  # what was refused has not fixed its type
            pass
        self.assertEqual(self.metrics(), {"v": [1.5]})

    def test_longest_vectors(self):
        """The package refuses what the library would, and no more."""
        longest = metric.VECTOR_MAX
        for n, status in ((longest, _native.OK), (longest + 1, _native.INVALID)):
            self.assertEqual(_native.metric_vector(b"v", (ctypes.c_double * n)(), n), status)
            self.assertEqual(_native.metric_vector_i64(b"v", (ctypes.c_int64 * n)(), n), status)
        with proton.scope("s", {"v": [1] * longest}):
            pass
        with self.assertRaisesRegex(ValueError, "1 to %d elements" % longest):
            proton.enter_scope("s", metrics={"v": [1] * (longest + 1)})
        self.assertEqual(self.metrics(), {"v": [1] * longest})

    def test_arrays_have_no_shape(self):
        """As Triton's Proton has those of a tensor that lies on a device: so many numbers in a row."""
        array = types.SimpleNamespace(tolist=lambda: [[1, 2, 3], [4, 5, 6]])
        with proton.scope("s", {"a": array, "t": Tensor([[[0.5], [1.5]]]), "one": Tensor([[7]])}):
            pass
        self.assertEqual(self.metrics(), {"a": [1, 2, 3, 4, 5, 6], "t": [0.5, 1.5], "one": 7})

    def test_list_in_a_list(self):
        with self.assertRaisesRegex(TypeError, "a list of numbers, not of lists"):
            proton.enter_scope("s", metrics={"v": [[1, 2], [3, 4]]})
        launch("add")
        self.assertEqual(self.metrics("add").get("count"), 1)

    def test_beyond_64_bits(self):
        for value in (2**64, -(2**63) - 1, [2**63], Tensor([1, 2**64])):
            with self.assertRaises(OverflowError):
                proton.enter_scope("s", metrics={"n": value})
        for _ in range(3):
            with proton.scope("s", {"n": 2**63, "f": float(2**63)}):
                pass
        self.assertEqual(self.metrics(), {"n": 2**64 - 1, "f": 3.0 * 2**63})

    def test_names_of_what_is_measured(self):
        with proton.scope("s", {"count": 5, "time (ns)": 7, "time (inc)": 9, "Cpu_time (ns)(exc)": 3, "bytes": 11}):
            launch("add")
        proton.finalize()
        found = read("a.hatchet")
        self.assertEqual(found["s/add"]["count"], 1)
        # The file of a session has what was given as it was given, and proton's own key has it apart.
        self.assertEqual(
            found["s"], {"count": 5, "time (ns)": 7, "time (inc)": 9, "Cpu_time (ns)": 3, "bytes": 11}
        )
        with open("a.hatchet", encoding="utf-8") as f:
            names = {metric["name"] for metric in json.load(f)[0]["proton"]["metrics"]}
        self.assertLessEqual({"user:count", "user:time (ns)", "user:time (inc)", "user:Cpu_time (ns)"}, names)

    def test_type_is_fixed(self):
        with proton.scope("s", {"t": 1.0}):
            pass
        with self.assertRaisesRegex(
            proton.TypeMismatch,
            r"Metric value type mismatch for valueId 0 \(t\): current=double, new=%s"
            % ("uint64_t" if triton_version() < (3, 7) else "int64_t"),
        ):
            with proton.scope("s", {"t": 1}):
                self.fail("entered")
        with self.assertRaises(ValueError):
            proton.enter_scope("s", metrics={"t": [1.0]})
        with proton.scope("other", {"t": 3}):  # at another scope it is its own
            launch("add")
        proton.finalize()
        found = read("a.hatchet")
        self.assertEqual((found["s"]["t"], found["other"]["t"]), (1.0, 3))

    def test_kinds_of_a_name(self):
        """A number that adds up, one that does not, a property and a text of one name are each what they are."""
        with proton.scope("s", {"k": 1.0}):
            with proton.scope("text", {"k (pty)": "one"}), proton.scope("property", {"k (pty)": 2}):
                pass
            with proton.scope("own", {"k (exc)": 3}):
                pass
        proton.finalize()
        found = read("a.hatchet")
        got = [found[path]["k"] for path in ("s", "s/text", "s/text/property", "s/own")]
        self.assertEqual(got, [1.0, "one", 2, 3])
        proton.start("b")
        with proton.scope("s", {"k (exc)": "alone"}):
            pass
        proton.finalize()
        self.assertEqual(read("b.hatchet"), {"": {}, "s": {"k": "alone"}})

    def test_whole_at_first(self):
        """In a session before: fractions and what is below 0 are not rounded to fit."""
        with proton.scope("s", {"whole": 1, "set (pty)": 1}):
            pass
        proton.finalize()
        proton.start("b")
        with proton.scope("s", {"whole": 1.5, "set (pty)": 0.5}):
            pass
        proton.finalize()
        self.assertEqual(read("b.hatchet")["s"], {"whole": 1.5, "set": 0.5})
        proton.start("c")
        with proton.scope("s", {"whole": -2}):
            pass
        proton.finalize()
        self.assertEqual(read("c.hatchet")["s"], {"whole": -2.0})

    def test_other_numbers(self):
        with proton.scope("s", {"third": fractions.Fraction(1, 4)}):
            pass
        self.assertEqual(self.metrics(), {"third": 0.25})

    def test_no_metrics(self):
        for metrics in ({"x": None}, {"x": object()}, {"x": 1j}, {7: 1}):
            with self.assertRaises(TypeError, msg=str(metrics)):
                with proton.scope("s", metrics):
                    self.fail("entered")
        launch("add")
        proton.finalize()
        self.assertIn("add", read("a.hatchet"))

    def test_names(self):
        names = {"nul\0": "nul\\0", "a\nb": "a\nb", "caf\u00e9": "caf\u00e9"}
        with proton.scope("s", {name: 1 for name in names}):
            pass
        self.assertEqual(set(self.metrics()), set(names.values()))

    def test_long_names(self):
        with proton.scope("s", {"x" * (1 << 20): 1, "n": 1}):
            pass
        with self.assertRaises(ValueError):
            proton.enter_scope("s", metrics={"x" * 1000: [1]})
        self.assertEqual(self.metrics()["n"], 1)

    def test_text(self):
        for value in ("sgd", "adam \u00e9"):
            with proton.scope("s", {"kind (pty)": value, "word (exc)": "x"}):
                pass
        self.assertEqual(self.metrics(), {"kind": "adam \u00e9", "word": "x"})

    def test_text_and_numbers(self):
        """At one scope the one that came first goes by the name."""
        for value in ("a word", 7):
            with proton.scope("s", {"mixed (pty)": value}):
                pass
        self.assertEqual(self.metrics(), {"mixed": "a word", "mixed (pty)": 7})

    def test_in_a_state(self):
        with proton.scope("s"):
            with proton.state("t"):
                with proton.scope("u", {"n": 1}):
                    pass
        proton.finalize()
        self.assertEqual(read("a.hatchet")["s/u/t"]["n"], 1)

    def test_exit_raises(self):
        """The scope is closed all the same."""
        proton.enter_scope("s")
        with self.assertRaises(TypeError):
            proton.exit_scope(metrics={"x": object()})
        launch("add")
        proton.finalize()
        self.assertIn("add", read("a.hatchet"))


class Tensors(RecordedCase):
    def setUp(self):
        super().setUp()
        self.session = proton.start("a")

    def found(self):
        proton.finalize()
        return read("a.hatchet")

    def test_on_the_host(self):
        with proton.scope(
            "s", {"loss": Tensor(0.5), "one": Tensor([[3]]), "v": Tensor([1.0, 2.0])}
        ):
            pass
        found = self.found()["s"]
        self.assertEqual((found["loss"], found["one"], found["v"][1]), (0.5, 3, 2.0))

    def test_on_a_device(self):
        seen = []
        with proton.state("mine"):
            with proton.scope("s", {"loss": Tensor(0.5, "cuda", seen)}):
                launch("add")
        self.assertEqual(seen, [0.5])
        found = self.found()
        self.assertEqual(found["s/mine"]["loss"], 0.5)
        # The copy is hidden, the thread is in its state again.
        self.assertIn("s/__proton_launch_metadata/copy of a tensor", found)
        self.assertIn("s/mine/add", found)

    def capture(self, is_capturing):
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(is_current_stream_capturing=is_capturing)
        self.addCleanup(sys.modules.__setitem__, "torch", sys.modules.get("torch"))
        if "torch" not in sys.modules:
            self.addCleanup(sys.modules.pop, "torch")
        sys.modules["torch"] = torch

    def test_in_a_capture(self):
        seen = []
        self.capture(lambda: True)
        tensor = Tensor(0.5, "cuda", seen)
        tensor.dtype = "torch.complex64"
        with self.assertWarnsRegex(RuntimeWarning, "capture"):
            with proton.scope("s", {"captured": tensor, "n": 1}):
                pass
        self.assertEqual(seen, [])
        found = self.found()["s"]
        self.assertNotIn("captured", found)
        self.assertEqual(found["n"], 1)

    def test_numbers_of_a_capture(self):
        from proton import metric

        class Graph(Tensor):
            dtype = "torch.float32"
            is_contiguous = staticmethod(lambda: True)
            numel = staticmethod(lambda: 2)
            data_ptr = staticmethod(lambda: 4096)

        self.capture(lambda: True)
        sys.modules["torch"].cuda.current_stream = lambda device: types.SimpleNamespace(cuda_stream=7)
        tensor = Graph([0.5, 1], "cuda", [])
        self.assertTrue(metric.is_captured(tensor))
        self.assertEqual(metric.device_numbers(tensor), (4096, metric.DEVICE_KINDS["float32"], 2, 7))
        # Here is no driver that captures: it is left out, and says so.
        with self.assertWarnsRegex(RuntimeWarning, "in this capture"):
            with proton.scope("s", {"captured": tensor, "n": 1}):
                pass
        self.assertEqual(self.found()["s"]["n"], 1)

    def test_no_numbers_of_a_capture(self):
        from proton import metric

        class Graph(Tensor):
            dtype = "torch.float32"
            is_contiguous = staticmethod(lambda: True)
            is_neg = staticmethod(lambda: False)
            is_nested = False
            numel = staticmethod(lambda: 1)
            data_ptr = staticmethod(lambda: 4096)

        self.capture(lambda: True)
        sys.modules["torch"].cuda.current_stream = lambda device: types.SimpleNamespace(cuda_stream=7)
        self.assertIsNotNone(metric.device_numbers(Graph(0.5, "cuda", [])))
        for name, value in (
            ("dtype", "torch.complex64"),
            ("is_contiguous", lambda: False),
            ("is_neg", lambda: True),
            ("is_nested", True),
            ("numel", lambda: 0),
            ("numel", lambda: 65),
            ("data_ptr", lambda: 0),
            ("data_ptr", lambda: "text"),
            ("data_ptr", lambda: 1 / 0),
        ):
            tensor = Graph(0.5, "cuda", [])
            setattr(tensor, name, value)
            self.assertIsNone(metric.device_numbers(tensor), name)
        self.assertIsNone(metric.device_numbers(Graph(0.5, "meta", [])))
        # The collector knows what these are, whatever the tensor is.
        for name, dtype, value in (("flops", "torch.int64", 2.5), ("bytes", "torch.float32", 3)):
            tensor = Graph(1, "cuda", [])
            tensor.dtype = dtype
            with proton.scope(name):
                with self.assertWarnsRegex(RuntimeWarning, "in this capture"):
                    metric.add(name, tensor)
                metric.add(name, value)

    def test_no_capture(self):
        seen = []
        self.capture(lambda: False)
        with proton.scope("s", {"loss": Tensor(0.5, "cuda", seen)}):
            pass
        self.assertEqual(seen, [0.5])

    def test_unreadable(self):
        tensor = Tensor(0.5)
        tensor.tolist = lambda: 1 / 0
        with self.assertRaises(ZeroDivisionError):
            proton.enter_scope("s", metrics={"x": tensor})
        launch("add")
        self.assertIn("add", self.found())


if __name__ == "__main__":
    unittest.main()

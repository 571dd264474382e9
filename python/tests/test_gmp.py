# SPDX-License-Identifier: MIT
import contextlib
import io
import os
import shutil
import threading
import unittest
import warnings

from .support import (
    COMMAND,
    CUDA,
    Case,
    RecordedCase,
    allocate,
    has,
    is_recorded,
    kernels,
    launch,
    proton,
    release,
    run,
)
from proton import gmp  # noqa: E402


def node(at, parent, kind, name, **metrics):
    return {"id": at, "parent": parent, "kind": kind, "name": name, "metrics": metrics}


PROFILE = {
    "nodes": [
        node(0, None, "root", "ROOT"),
        node(1, 0, "scope", "matrix_operations"),
        node(2, 1, "kernel", "gemm", **{"count": 4, "time (ns)": 1000, "time_max (ns)": 400}),
        node(3, 1, "scope", "of the program"),
        node(4, 3, "scope", "inner"),
        node(5, 4, "kernel", "add", **{"count": 1, "time (ns)": 250, "time_max (ns)": 250}),
        node(6, 4, "copy", "memcpy", **{"count": 1, "time (ns)": 99, "time_max (ns)": 99}),
        node(7, 0, "scope", "empty"),
        node(8, 0, "kernel", "outside", **{"count": 1, "time (ns)": 7, "time_max (ns)": 7}),
    ]
}
NAMES = {"matrix_operations", "inner", "empty"}


class Ranges(unittest.TestCase):
    def test_of_a_profile(self):
        found = gmp.ranges_of(PROFILE, NAMES)
        self.assertEqual(
            [(r.path, r.n_kernels, r.total_ns, r.longest_ns) for r in found],
            [
                (("matrix_operations",), 5, 1250, 400),
                (("matrix_operations", "inner"), 1, 250, 250),
                (("empty",), 0, 0, 0),
            ],
        )

    def test_names_that_share_a_row(self):
        folded = {"nodes": [node(0, None, "root", "ROOT"), node(1, 0, "scope", "step #")]}
        self.assertEqual([r.name for r in gmp.ranges_of(folded, {"step 7"})], ["step #"])
        self.assertEqual(gmp.ranges_of(folded, {"other 7"}), [])

    def test_counters(self):
        def metrics(n, ns, total, most, mean):
            return {
                "count": n + 1,
                "measured": n,
                "measured_time (ns)": ns,
                "a__b.sum": total,
                "a__b.max": most,
                "a__b.pct": mean,
            }

        profile = {
            "metrics": [
                {"name": name, "add": add}
                for name, add in (
                    ("a__b.sum", "sum"),
                    ("a__b.max", "max"),
                    ("a__b.pct", "wmean"),
                    ("gpu__time_duration.sum", "sum"),
                    ("loss", "sum"),
                )
            ],
            "nodes": [
                node(0, None, "root", "ROOT"),
                node(1, 0, "scope", "inner"),
                node(2, 1, "kernel", "add", **metrics(1, 100, 10, 7, 50)),
                node(3, 1, "kernel", "mul", **metrics(3, 300, 30, 9, 90)),
                node(4, 1, "kernel", "none", count=1),
                node(5, 0, "scope", "empty"),
                node(6, 5, "kernel", "one", **metrics(1, 100, 10, 7, 50)),
                node(7, 0, "scope", "matrix_operations"),
                node(8, 7, "kernel", "one", **metrics(1, 100, 10, 7, 50)),
                node(9, 7, "kernel", "other", **metrics(1, 300, 30, 9, 90)),
            ],
        }
        found = gmp.ranges_of(profile, NAMES)
        self.assertEqual((found[0].n_kernels, found[0].n_measured), (7, 4))
        self.assertEqual(
            [[v for _, v in found[0].rows(r)][1:] for r in gmp.REDUCTIONS],
            [[40, 9, 80], [None, 9, None], [10, None, 80]],
        )
        self.assertEqual([[v for _, v in found[1].rows(r)][1:] for r in gmp.REDUCTIONS], [[10, 7, 50]] * 3)
        # Each kernel ran once: all is known.
        self.assertEqual(
            [[v for _, v in found[2].rows(r)][1:] for r in gmp.REDUCTIONS],
            [[40, 9, 80], [30, 9, 90], [20, 8, 80]],
        )
        self.assertEqual(
            gmp.format_ranges(found[:1], "MAX").splitlines()[3:],
            [
                "  gpu__time_duration.sum: 0.00",
                "  a__b.sum: - (of a kernel that ran more than once its sum is kept)",
                "  a__b.max: 9.00",
                "  a__b.pct: - (of a kernel that ran more than once its mean is kept)",
                "  kernels: 7",
                "  kernels with counters: 4",
            ],
        )

    def test_text(self):
        ranges = gmp.ranges_of(PROFILE, NAMES)
        self.assertEqual(
            gmp.format_ranges(ranges, "SUM"),
            "🔥 Kernel Profiling Results (SUM):\n"
            "Number of ranges: 3\n"
            "Range 1: matrix_operations\n"
            "  gpu__time_duration.sum: 1250.00\n"
            "  kernels: 5\n"
            "Range 2: matrix_operations / inner\n"
            "  gpu__time_duration.sum: 250.00\n"
            "  kernels: 1\n"
            "Range 3: empty\n"
            "  gpu__time_duration.sum: -\n"
            "  kernels: 0\n",
        )
        self.assertEqual(gmp.format_ranges([], "MAX").splitlines()[1:], ["Number of ranges: 0"])

    def test_reductions(self):
        first = gmp.ranges_of(PROFILE, NAMES)[0]
        self.assertEqual([first.reduced(r) for r in gmp.REDUCTIONS], [1250, 400, 250])


class Uninitialised(Case):
    def test_verify_line(self):
        out, err = run("import gmp_py_wrapper; import gmp_python; print('installed')")
        self.assertEqual((out, err), ("installed\n", ""))

    def test_counters_that_are_asked_for(self):
        self.assertIsNone(gmp.create_profiler(None)._mode())
        profiler = gmp.create_profiler()
        profiler.add_metrics("gpu__time_duration.sum")
        profiler.add_metrics("dram__bytes.sum")
        self.assertEqual(profiler._mode(), b"metrics:names=gmp,dram__bytes.sum")

    def test_memory_before_init(self):
        profiler = gmp.create_profiler()
        with profiler.profile_memory("m"):
            pass
        self.assertEqual(profiler.get_memory_activity(), [])

    def test_text_of_memory(self):
        def operation(kind, size):
            return {"memory_operation_type": kind, "bytes": size}

        operations = [operation(1, 100 << 20)] * 5 + [operation(2, 100 << 20)] * 4
        self.assertEqual(
            gmp.format_memory([{"name": "memory_ops", "memory_operations": operations}]),
            "💾 Memory Activity Results:\n"
            "Range 1: memory_ops\n"
            "  Allocations: 5 operations, 524288000 bytes (500.00 MB)\n"
            "  Deallocations: 4 operations, 419430400 bytes (400.00 MB)\n",
        )

    def test_wrong_words(self):
        profiler = gmp.create_profiler()
        for call in (
            lambda: profiler.push_range("r", "KERNEL"),
            lambda: profiler.push_range("r", 2),
            lambda: profiler.push_range("r", True),
            lambda: profiler.print_profiler_ranges("AVG"),
            lambda: profiler.print_profiler_ranges(-1),
            lambda: profiler.profile_function("f", "NONE"),
        ):
            with self.assertRaises(gmp.ProfilerError):
                call()

    def test_says_that_init_is_missing(self):
        profiler = gmp.create_profiler()
        for call in (profiler.enable, profiler.disable, profiler.print_profiler_ranges):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call()
            self.assertIn("call init() first", str(caught[0].message))
        with profiler.profile_range("r"):
            pass
        self.assertFalse(os.path.exists("output"))

    def test_no_global_profiler(self):
        with self.assertRaisesRegex(gmp.ProfilerError, "init_global_profiler"):
            with gmp.profile_range("r"):
                pass

    def test_nobody_profiles(self):
        out, _err = run(
            "from proton import gmp\n"
            "try: gmp.create_profiler().init()\n"
            "except gmp.ProfilerError as e: print(e)",
            PROTON_COMMAND="/nonexistent",
            PROTON_LIBRARY="/nonexistent",
            PATH="/nonexistent",
        )
        self.assertIn("cannot start profiling", out)


@unittest.skipUnless(has("memory_log"), "libproton has no proton_api_memory_log()")
class Memory(RecordedCase):
    def setUp(self):
        super().setUp()
        self.profiler = gmp.create_profiler(metrics=None)
        self.profiler.init()
        launch("first")  # the mock is initialised

    def activity(self):
        return [
            (
                r["name"],
                [
                    (o["memory_operation_type"], o["memory_kind"], o["bytes"], o["is_async"])
                    for o in r["memory_operations"]
                ],
            )
            for r in self.profiler.get_memory_activity()
        ]

    def test_ranges(self):
        before = allocate(1 << 10)
        with self.profiler.profile_memory("memory_ops"):
            a = allocate(5 << 20)
            with self.profiler.profile_range("inner", "MEMORY"):
                b = allocate(1 << 20, in_pool=True)
            release(a)
            release(before)
        release(b, in_pool=True)
        allocate(1 << 12)
        self.assertEqual(
            self.activity(),
            [
                (
                    "memory_ops",
                    [(1, 3, 5 << 20, False), (1, 3, 1 << 20, True)]
                    + [(2, 3, 5 << 20, False), (2, 3, 1 << 10, False)],
                ),
                ("inner", [(1, 3, 1 << 20, True)]),
            ],
        )
        first = self.profiler.get_memory_activity()[0]["memory_operations"][0]
        self.assertEqual((first["process_id"], first["address"]), (os.getpid(), a))
        self.assertGreater(first["correlation_id"], 0)

    def test_other_threads_and_types(self):
        profiler = self.profiler
        with profiler.profile_range("kernels"):
            with profiler.profile_memory("all"):
                thread = threading.Thread(target=lambda: release(allocate(4096)))
                thread.start()
                thread.join()
                launch("gemm", 2)
        self.assertEqual(self.activity(), [("all", [(1, 3, 4096, False), (2, 3, 4096, False)])])
        # A range of memory is none of kernels.
        self.assertEqual([(r.path, r.n_kernels) for r in profiler.get_ranges()], [(("kernels",), 2)])

    def test_disabled(self):
        self.profiler.disable()
        with self.profiler.profile_memory("off"):
            release(allocate(4096))
        self.profiler.enable()
        with self.profiler.profile_memory("on"):
            pass
        self.assertEqual(self.activity(), [("on", [])])

    def test_printed(self):
        with self.profiler.profile_memory("memory_ops"):
            release(allocate(3 << 20))
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.profiler.print_memory_activity()
        self.assertIn("Allocations: 1 operations, 3145728 bytes (3.00 MB)", out.getvalue())
        self.assertIn("Deallocations: 1 operations, 3145728 bytes (3.00 MB)", out.getvalue())


# A program that nobody started to profile. Number m of the counters of "mul" is 200 + m, of "add" 100 + m.
COUNTED = """
import ctypes, sys
from proton import gmp
cuda = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
names = {}
def launch(name, n=1):
    function = names.setdefault(name, ctypes.create_string_buffer(name.encode()))
    for _ in range(n):
        cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, None)
if "late" in sys.argv:
    cuda.cuInit(0)
    launch("add")
profiler = gmp.create_profiler()
for metric in [a for a in sys.argv[2:] if "__" in a]:
    profiler.add_metrics(metric)
profiler.init()
cuda.cuInit(0)
with profiler.profile_range("outer"):
    launch("add", 3)
    with profiler.profile_range("inner"):
        launch("mul", 2)
profiler.print_profiler_ranges()
try: profiler.add_metrics("a__b.sum")
except gmp.ProfilerError as error: print(error)
if "second" in sys.argv:
    def counted(name, metrics):
        other = gmp.create_profiler(metrics)
        other.init()
        with other.profile_range(name):
            launch("add")
        return [r.counters.get("dram__bytes.sum") for r in other.get_ranges() if r.name == name][0]
    try: counted("refused", "dram__bytes.sum,a__b.max")
    except gmp.ProfilerError as error: print("ProfilerError:", error)
    print("of the first: %.2f" % counted("fewer", "dram__bytes.sum").value)
"""


@unittest.skipUnless(is_recorded() and COMMAND, "needs the mocks and a command")
class Counted(Case):
    def run_it(self, *arguments, **variables):
        os.mkdir("lib")
        os.symlink(CUDA, "lib/libcuda.so.1")
        variables.setdefault("MOCK_CUPTI_CHIP", "GH100")
        variables.setdefault("PROTON_CUPTI_PATH", os.environ["PROTON_CUPTI_PATH"])
        return run(
            COUNTED,
            *arguments,
            PROTON_COMMAND=COMMAND,
            LD_LIBRARY_PATH=os.path.abspath("lib"),
            **variables
        )

    def test_without_a_launcher(self):
        for when in ("early", "late"):
            out, err = self.run_it(when, "dram__bytes.sum")
            self.assertEqual(
                out,
                "🔥 Kernel Profiling Results (SUM):\n"
                "Number of ranges: 2\n"
                "Range 1: outer\n"
                "  gpu__time_duration.sum: 5000.00\n"
                "  sm__cycles_active.sum: 705.00\n"
                "  sm__cycles_active.avg: 142.00\n"
                "  lts__t_sector_hit_rate.pct: 143.00\n"
                "  dram__bytes.sum: 720.00\n"
                "  kernels: 5\n"
                "Range 2: outer / inner\n"
                "  gpu__time_duration.sum: 2000.00\n"
                "  sm__cycles_active.sum: 402.00\n"
                "  sm__cycles_active.avg: 202.00\n"
                "  lts__t_sector_hit_rate.pct: 203.00\n"
                "  dram__bytes.sum: 408.00\n"
                "  kernels: 2\n"
                "add_metrics('a__b.sum') comes before init()\n",
                when + err,
            )
            with open("output/result.csv", encoding="utf-8") as file:
                self.assertIn("outer / inner,dram__bytes.sum,408.00\n", file.read())
            with open("output/gmp.hatchet", encoding="utf-8") as file:
                notes = file.read()
            self.assertRegex(notes, "cannot count [0-9]+ of 31 metrics, which are left out")
            shutil.rmtree("output")
            shutil.rmtree("lib")

    def test_several_passes(self):
        """Kernels that CUPTI runs again are counted once; they ran as long as their ranges say."""
        out, err = self.run_it("early", "dram__throughput.avg.pct_of_peak_sustained_elapsed")
        self.assertIn("  gpu__time_duration.sum: 700.00\n  sm__cycles_active.sum: 705.00\n", out, err)
        self.assertIn("  kernels: 5\n", out)
        self.assertNotIn("with counters", out)

    def test_a_machine_without(self):
        out, err = self.run_it("early", MOCK_CUPTI_CHIP=None)
        self.assertIn("  gpu__time_duration.sum: 5000.00\n  kernels: 5\n", out)
        self.assertIn("kernels without counters: which chip? there is no GPU to ask", err)
        self.assertNotIn("are not measured", err)

    def test_another_profiler(self):
        """It has the counters of the first one, or says which these are."""
        out, err = self.run_it("early", "dram__bytes.sum", "second")
        self.assertIn(
            "ProfilerError: cannot start profiling: the first session asked for all metrics of this program, "
            "'gmp,dram__bytes.sum', without 'a__b.max'\n",
            out,
            err,
        )
        self.assertIn("of the first: 104.00\n", out)

    def test_one_reason(self):
        """Of several sentences the one that says why."""
        _out, err = self.run_it("early", MOCK_CUPTI_RANGES="35")
        self.assertIn("kernels without counters: no hardware metrics: the driver keeps", err)
        self.assertNotIn("left out", err)

    def test_no_cupti(self):
        out, err = self.run_it("early", PROTON_CUPTI_PATH=os.path.abspath("none"))
        self.assertIn("  gpu__time_duration.sum: -\n  kernels: 0\n", out)
        self.assertIn("no kernels were seen: ", err)
        self.assertIn("no CUDA work is recorded: there is no libcupti", err)


@unittest.skipUnless(has("session_data"), "libproton has no proton_api_session_data()")
class Recorded(RecordedCase):
    def setUp(self):
        super().setUp()
        self.profiler = gmp.create_profiler(metrics=None)
        self.profiler.init()

    def found(self):
        return [(r.path, r.n_kernels) for r in self.profiler.get_ranges()]

    def test_nested_ranges(self):
        launch("before")
        with self.profiler.profile_range("outer"):
            launch("add", 3)
            with proton.scope("of the program"), self.profiler.profile_range("inner"):
                launch("mul", 2)
        with self.profiler.profile_range("outer"):
            launch("add")
        self.assertEqual(self.found(), [(("outer",), 6), (("outer", "inner"), 2)])

    def test_exception(self):
        with self.assertRaises(KeyError):
            with self.profiler.profile_range("outer"):
                raise KeyError
        launch("outside")
        self.assertEqual(self.found(), [(("outer",), 0)])

    def test_exception_past_a_pop(self):
        with self.assertRaises(KeyError):
            with self.profiler.profile_range("outer"):
                self.profiler.push_range("pushed")
                launch("add")
                raise KeyError
        launch("outside")
        self.assertEqual(self.found(), [(("outer",), 1), (("outer", "pushed"), 1)])

    def test_function(self):
        @self.profiler.profile_function("named")
        def f(n):
            launch("add", n)
            return n

        @self.profiler.profile_function
        def plain():
            launch("mul")

        self.assertEqual(f(2) + f(3), 5)
        plain()
        self.assertEqual(f.__name__, "f")
        found = dict(self.found())
        self.assertEqual(found[("named",)], 5)
        self.assertEqual(found[(plain.__qualname__,)], 1)

    def test_disabled(self):
        with self.profiler.profile_range("on"):
            launch("add")
        self.profiler.disable()
        self.assertFalse(self.profiler.is_enabled())
        with self.profiler.profile_range("off"):
            launch("add", 10)
        self.profiler.pop_range("nothing is open")
        self.profiler.enable()
        with self.profiler.profile_range("on"):
            launch("add")
        self.assertEqual(self.found(), [(("on",), 2)])

    def test_disabled_within(self):
        with self.profiler.profile_range("half"):
            launch("add")
            self.profiler.disable()
            launch("add", 10)
        self.profiler.enable()
        launch("outside")
        self.assertEqual(self.found(), [(("half",), 1)])

    def test_pop_of_another(self):
        self.profiler.push_range("a")
        with self.assertRaisesRegex(gmp.ProfilerError, "'a', not 'b'"):
            self.profiler.pop_range("b")
        self.profiler.pop_range("a")
        with self.assertRaisesRegex(gmp.ProfilerError, "no range is open"):
            self.profiler.pop_range("a")

    def test_threads(self):
        def work(i):
            with self.profiler.profile_range("thread %d" % i):
                launch("add", i + 1)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(
            sorted(self.found()), [(("thread %d" % i,), i + 1) for i in range(4)]
        )

    @unittest.skipUnless(has("session_flush"), "libproton has no proton_api_session_flush()")
    def test_threads_go_on(self):
        """What others launch while ranges are read is in theirs, and waits for nobody."""
        over = threading.Event()
        launched = [0]

        def work():
            with self.profiler.profile_range("others"):
                while not over.is_set():
                    launch("mul")
                    launched[0] += 1

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for i in range(1, 6):
                with self.profiler.profile_range("mine"):
                    launch("add", 3)
                self.assertEqual(dict(self.found())[("mine",)], 3 * i)
        finally:
            over.set()
            thread.join()
        self.assertEqual(dict(self.found()), {("mine",): 15, ("others",): launched[0]})

    def test_odd_names(self):
        names = ["", "a\0b", "line\nbreak", "ü", "\ud800", 'quo"te, comma']
        for name in names:
            with self.profiler.profile_range(name):
                launch("add")
        self.assertEqual([n for _path, n in self.found()], [1] * len(names))
        with contextlib.redirect_stdout(io.StringIO()):
            self.profiler.print_profiler_ranges()
        with self.assertRaises(TypeError):
            self.profiler.push_range(7)

    def test_results(self):
        with self.profiler.profile_range("r, with a comma"):
            launch("add", 4)
        with self.profiler.profile_range("empty"):
            pass
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.profiler.print_profiler_ranges()
            self.profiler.print_profiler_ranges("mean", "again")
        lines = out.getvalue().splitlines()
        self.assertEqual(lines[:3], [
            "🔥 Kernel Profiling Results (SUM):", "Number of ranges: 2", "Range 1: r, with a comma"])
        self.assertIn("🔥 Kernel Profiling Results (MEAN):", lines)
        with open("output/result.csv", encoding="utf-8") as file:
            rows = file.read().splitlines()
        self.assertEqual(rows[0], "Config Name,default")
        self.assertRegex(rows[1], r'^"r, with a comma",gpu__time_duration\.sum,\d+\.\d\d$')
        self.assertEqual(rows[2:4], ['"r, with a comma",kernels,4', "Config Name,again"])
        self.assertEqual(len(rows), 6)

    def test_a_profile_of_it(self):
        with self.profiler.profile_range("r"):
            launch("add", 2)
        os.mkdir("output")
        self.profiler._end()
        self.assertEqual(kernels("output/gmp.hatchet"), {"r/add": 2})

    def test_counters_of_a_later_session(self):
        """A plan is made once, for the run, or with the first session of the program."""
        profiler = gmp.create_profiler()
        profiler.init()
        with profiler.profile_range("r"):
            launch("add")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            profiler.get_ranges()
            profiler.get_ranges()
        self.assertEqual(len(caught), 1)
        self.assertIn("hardware metrics", str(caught[0].message))

    def test_an_unwritable_folder(self):
        with open("output", "w"):
            pass
        with contextlib.redirect_stdout(io.StringIO()):
            with self.assertRaisesRegex(gmp.ProfilerError, "cannot write"):
                self.profiler.print_profiler_ranges()

    def test_wrapper(self):
        import gmp_py_wrapper as wrapper

        profiler = wrapper.GmpProfiler()
        profiler.init()
        profiler.start_range_profiling()
        self.assertEqual(profiler.push_range("w", 0), wrapper.GmpResult.SUCCESS)
        launch("add", 2)
        self.assertEqual(
            profiler.pop_range("w", wrapper.GmpProfileType.CONCURRENT_KERNEL),
            wrapper.GmpResult.SUCCESS,
        )
        profiler.stop_range_profiling()
        self.assertTrue(profiler.is_all_pass_submitted())
        profiler.decode_counter_data()
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            profiler.print_profiler_ranges(wrapper.GmpOutputKernelReduction.MAX)
        self.assertIn("Results (MAX)", out.getvalue())
        self.assertIn("  kernels: 2", out.getvalue())

    def test_global(self):
        import gmp_python

        self.addCleanup(setattr, gmp, "_global", None)
        first = gmp_python.init_global_profiler()
        self.assertIs(gmp_python.init_global_profiler(), first)

        @gmp_python.profile_function()
        def f():
            launch("add")

        with gmp_python.profile_range("operations"):
            f()
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            gmp_python.print_results()
        self.assertIn("Range 1: operations\n", out.getvalue())
        self.assertIn("f\n", out.getvalue())

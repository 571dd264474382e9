# SPDX-License-Identifier: MIT
"""The interface of the GMP profiler: ranges of a program, and what the kernels in them took.

    from proton import gmp

    profiler = gmp.create_profiler()
    profiler.init()
    with profiler.profile_range("matrix_operations"):
        ...
    profiler.print_profiler_ranges()

The modules gmp_python and gmp_py_wrapper beside this package have the same under the names that programs
written for GMP import. A range is a scope, so ranges nest, threads have their own, and what runs in one is
found in every other profile of the run, too. Ranges of one name within the same ranges are one, with the sum
of their kernels. A range holds what was launched within it, also in ranges within it.

Kernels' durations and their number are measured, and GMP's thirty counters of the hardware, for which CUPTI runs each
kernel once a pass, one after another: `create_profiler(metrics=None)` goes without, and then nothing waits. In a run of
`proton record` or `top` they are those that the run measures (--metrics). Counters are of kernels, and add up over a
range as their names say: sums add, of maxima there is one, all else is a mean weighted by time. Of a kernel that ran more than
once in a scope this is all that is kept, so the greatest of a sum, or the mean of maxima, is not known then, and is `-`
with that reason. Which counters there are is settled by the first profiler, or by the run, and all have these; one that asks
for others than the first did cannot begin, and says which there are. Ranges of the type MEMORY have what was allocated and released on devices between their ends, by any thread; of these the latest
131,072 operations are kept. A caching allocator, as PyTorch's, allocates rarely, for many tensors.
"""
import atexit
import contextlib
import ctypes
import functools
import json
import os
import re
import sys
import threading
import time
import warnings

from . import _native

__all__ = [
    "GmpProfiler",
    "ProfilerError",
    "create_profiler",
    "disable",
    "enable",
    "init_global_profiler",
    "print_results",
    "profile_function",
    "profile_memory",
    "profile_range",
]

TYPES = ("CONCURRENT_KERNEL", "MEMORY")
REDUCTIONS = ("SUM", "MAX", "MEAN")

# Of a kernel: what GMP's counter of this name is, and our metric of it.
DURATION = "gpu__time_duration.sum"

# GMP's own set of counters.
METRICS = "gmp"

# How sentences begin that say why there is nothing, and how others end: that some are left out, or that there are none.
NO_WORK = "no CUDA work is recorded"
NO_COUNTERS = "no hardware metrics"
NOT_REASONS = ("says which)", "hardware metrics are not measured")

# How a counter is kept of a kernel that ran more than once.
KEPT = {"sum": "sum", "max": "maximum", "min": "minimum", "wmean": "mean"}

OUTPUT = os.path.join("output", "result.csv")
# The profile of all ranges, beside the table.
SESSION = os.path.join("output", "gmp")


class ProfilerError(Exception):
    """The profiler cannot do what it was asked for; the text says why."""


# CUPTI's numbers.
ALLOCATION, RELEASE = 1, 2


def _word(given, words, what):
    """The word that was given, as text in any case or as GMP's number. Raises ProfilerError."""
    if isinstance(given, str) and given.upper() in words:
        return given.upper()
    # Enumerations of GMP's wrapper are integers, too.
    if not isinstance(given, (str, bool)) and hasattr(given, "__index__"):
        number = given.__index__()
        if 0 <= number < len(words):
            return words[number]
    raise ProfilerError("%s %r is not known: %s" % (what, given, " or ".join(words)))


class Counter:
    """A counter of the hardware over kernels: `value`, as `rule` says how two make one ("sum", "max", "min", "wmean",
    which is weighted by time); each by itself in `singles`, None where some are known together alone."""

    def __init__(self, rule):
        self.rule = rule
        self.value = None
        self.weight = 0
        self.singles = []

    def add(self, value, weight, n):
        """Of n kernels together."""
        if n != 1:
            self.singles = None
        elif self.singles is not None:
            self.singles.append(value)
        if self.value is None:
            self.value = value
        elif self.rule == "sum":
            self.value += value
        elif self.rule == "wmean":
            both = self.weight + weight
            self.value = (self.value * self.weight + value * weight) / both if both else value
        else:
            self.value = (max if self.rule == "max" else min)(self.value, value)
        self.weight += weight

    def reduced(self, reduction, n):
        """Over n kernels, by one of REDUCTIONS; None where that is not known."""
        if n == 1 or reduction == "SUM" or self.rule == reduction.lower():
            return self.value
        if reduction == "MAX" and self.singles:
            return max(self.singles)
        if reduction == "MEAN" and self.singles and self.rule in ("max", "min"):
            return sum(self.singles) / n
        if reduction == "MEAN" and self.rule in ("sum", "wmean"):
            return self.value / n if self.rule == "sum" else self.value
        return None


class Range:
    """What was found of a range: `path` is its name and those of the ranges around it, outermost first.

    n_kernels counts executions; the times are in nanoseconds: of all of them, and of the longest one.
    Source: records of the device. `counters`, by name, are of n_measured of them. Source: CUPTI's range profiler."""

    def __init__(self, path):
        self.path = path
        self.n_kernels = self.total_ns = self.longest_ns = self.n_measured = 0
        self.counters = {}

    @property
    def name(self):
        return self.path[-1]

    def add(self, metrics, rules):
        """A kernel's values; rules: of each counter that the profile may have."""
        self.n_kernels += metrics.get("count", 0)
        self.total_ns += metrics.get("time (ns)", 0)
        self.longest_ns = max(self.longest_ns, metrics.get("time_max (ns)", 0))
        self.n_measured += metrics.get("measured", 0)
        for name, rule in rules.items():
            if metrics.get(name) is not None:
                counter = self.counters.setdefault(name, Counter(rule))
                counter.add(
                    metrics[name], metrics.get("measured_time (ns)", 0), metrics.get("measured", 0)
                )

    def reduced(self, reduction):
        """The duration by one of REDUCTIONS, in nanoseconds; None where no kernel ran."""
        if not self.n_kernels:
            return None
        return {
            "SUM": self.total_ns,
            "MAX": self.longest_ns,
            "MEAN": self.total_ns / self.n_kernels,
        }[reduction]

    def rows(self, reduction):
        """Pairs of names and values, None where one is not known."""
        yield DURATION, self.reduced(reduction)
        for name, counter in self.counters.items():
            yield name, counter.reduced(reduction, self.n_measured)


class MemoryRange:
    """A range of the type MEMORY: when it began and ended, in nanoseconds of CLOCK_REALTIME, as records have it."""

    def __init__(self, name):
        self.name = name
        self.begin_ns = time.time_ns()
        self.end_ns = None

    def holds(self, operation):
        return self.begin_ns <= operation["timestamp"] and (
            self.end_ns is None or operation["timestamp"] <= self.end_ns
        )


def _operation(found):
    return {
        "name": "",
        "memory_operation_type": found.operation,
        "memory_kind": found.kind,
        "correlation_id": found.correlation,
        "address": found.address,
        "bytes": found.bytes,
        "timestamp": found.at_ns,
        "process_id": os.getpid(),
        "device_id": found.device,
        "context_id": found.context,
        "stream_id": found.stream,
        "is_async": bool(found.is_async),
        "source": "",
    }


def _alike(name):
    """Names that only count up share a row beyond the first few of a place: "step #"."""
    return re.sub(r"\d+", "#", name)


def _rules(profile):
    """How counters of the hardware add up, in the order of the profile: a unit of the hardware is before "__". The
    duration is that of the records."""
    return {
        m["name"]: m["add"]
        for m in profile.get("metrics", ())
        if "__" in m["name"] and m["name"] != DURATION
    }


def _sentence(texts, begins):
    """The one of these that says most: that begins so. Where none says why, CUPTI was there and counted other kernels."""
    for text in texts:
        if text.startswith(begins):
            return text
    for text in texts:
        if not text.endswith(NOT_REASONS):
            return text
    return "what CUDA graphs run, or is launched while a stream is captured, is not counted"


def ranges_of(profile, names):
    """The ranges in a profile (our JSON, read), of these names, in the order of the tree. A node is a range
    when its scope has the name of one."""
    folded = {_alike(name) for name in names}
    inside = {}  # of each node: the ranges around it
    found = {}
    rules = _rules(profile)
    for node in profile["nodes"]:
        path = inside.get(node["parent"], ())
        if node["kind"] == "scope" and (node["name"] in names or node["name"] in folded):
            path += (node["name"],)
            found.setdefault(path, Range(path))
        inside[node["id"]] = path
        if node["kind"] == "kernel":
            for depth in range(1, len(path) + 1):
                found[path[:depth]].add(node["metrics"], rules)
    return list(found.values())


def _ranges_of_calls(profiler, name, type):
    """What profile_function() returns: of a function, given in place of a name, or of a name and a type. profiler() is
    asked at each call."""
    if callable(name):
        return _ranges_of_calls(profiler, None, "CONCURRENT_KERNEL")(name)
    _word(type, TYPES, "profile type")

    def decorate(function):
        label = function.__qualname__ if name is None else name

        @functools.wraps(function)
        def call(*arguments, **keywords):
            with profiler().profile_range(label, type):
                return function(*arguments, **keywords)

        return call

    return decorate


class GmpProfiler:
    """A profiler of ranges. All of one process share the device; each has ranges of its own.

    metrics: counters of the hardware, as `proton record --metrics` takes them; None: none.
    Threads: any; a range belongs to the thread that pushed it."""

    def __init__(self, metrics=METRICS):
        self._metrics = metrics
        self._session = None
        self._enabled = self._is_warned = False
        self._names = set()
        self._open = threading.local()
        self._memory_ranges = []
        self._operations = []
        self._next_operation = ctypes.c_uint64(0)
        self._lock = threading.Lock()

    # ---- life ----

    def init(self):
        """Begin. What was launched before is in no range: init() before the first work sees all of it.
        Raises ProfilerError where there is nobody to profile."""
        if self._session is not None:
            return
        _warn_if_late()
        try:
            self._session = _native.check(
                _native.session_start(
                    _native.encode(SESSION),
                    _native.SessionOptions(context=b"shadow", mode=self._mode()),
                )
            )
        except _native.Error as error:
            raise ProfilerError("cannot start profiling: %s" % error) from error
        self._enabled = True
        atexit.register(self._end)

    def _mode(self):
        return _native.encode("metrics:names=%s" % self._metrics) if self._metrics else None

    def _end(self):
        """Write the profile, where there is a folder for it: there is one when results were printed."""
        _native.session_finalize(self._session, b"")

    def enable(self):
        """Count again what is launched in ranges from now on."""
        if self._need_init():
            self._switch(_native.session_activate(self._session), True)

    def disable(self):
        """Count nothing until enable(); ranges are neither pushed nor popped."""
        if self._need_init():
            self._switch(_native.session_deactivate(self._session, 0), False)

    def _switch(self, status, enabled):
        try:
            _native.check(status)
        except _native.Error as error:
            raise ProfilerError(str(error)) from error
        self._enabled = enabled

    def is_enabled(self):
        """Is what is launched in ranges counted now?"""
        return self._enabled

    def _need_init(self):
        if self._session is None:
            warnings.warn("the profiler is not initialised: call init() first", stacklevel=3)
        return self._session is not None

    # ---- ranges ----

    def _stack(self):
        if not hasattr(self._open, "names"):
            self._open.names = []
        return self._open.names

    def push_range(self, name, profile_type="CONCURRENT_KERNEL"):
        """Open a range on this thread; nothing while the profiler is disabled. Raises ProfilerError for one of memory
        where that is not recorded (--no-memory)."""
        is_memory = _word(profile_type, TYPES, "profile type") == "MEMORY"
        if not self._enabled:
            return
        encoded = _native.encode(name) or b"<range>"
        shown = encoded.decode("utf-8", "replace")
        if is_memory:
            self._stack().append((shown, self._begin_memory(shown)))
        else:
            self._names.add(shown)
            self._stack().append((shown, None))
        _native.enter_scope(encoded)

    def _begin_memory(self, name):
        try:
            _native.check(_native.memory_log())
        except _native.Error as error:
            raise ProfilerError("memory activity is not recorded: %s" % error) from error
        found = MemoryRange(name)
        with self._lock:
            self._memory_ranges.append(found)
        return found

    def pop_range(self, name=None, profile_type="CONCURRENT_KERNEL"):
        """Close the innermost range of this thread. Raises ProfilerError when it has another name, or when
        none is open; nothing happens while the profiler is disabled and none is open."""
        _word(profile_type, TYPES, "profile type")
        stack = self._stack()
        if not stack:
            if self._enabled:
                raise ProfilerError("no range is open on this thread")
            return
        if name is not None and (
            (_native.encode(name) or b"<range>").decode("utf-8", "replace") != stack[-1][0]
        ):
            raise ProfilerError("the innermost range is %r, not %r" % (stack[-1][0], name))
        _name, memory = stack.pop()
        if memory is not None:
            memory.end_ns = time.time_ns()
        _native.exit_scope()

    @contextlib.contextmanager
    def profile_range(self, name, type="CONCURRENT_KERNEL"):
        """A range for a `with` statement, closed also when an exception leaves it."""
        open_before = len(self._stack())
        self.push_range(name, type)
        try:
            yield self
        finally:
            # disable() in between leaves it open until here, and an exception what was pushed within it.
            while len(self._stack()) > open_before:
                self.pop_range()

    def profile_memory(self, name):
        """profile_range() of the type MEMORY."""
        return self.profile_range(name, "MEMORY")

    def profile_function(self, name=None, type="CONCURRENT_KERNEL"):
        """A decorator: each call of the function is a range, of the function's name where none is given."""
        return _ranges_of_calls(lambda: self, name, type)

    # ---- results ----

    def get_ranges(self):
        """The ranges so far, a list of Range, after all that was launched until now has been recorded (waits for the
        device). What other threads launch meanwhile is in their ranges, here or the next time. Raises ProfilerError."""
        if self._session is None:
            return []
        try:
            self._flush()
            profile = json.loads(_session_json(self._session))
        except _native.Error as error:
            raise ProfilerError("cannot read the ranges: %s" % error) from error
        ranges = ranges_of(profile, self._names)
        self._warn_if_unmeasured(profile, ranges)
        return ranges

    def _warn_if_unmeasured(self, profile, ranges):
        """Once, in a sentence of the profile's own."""
        if self._is_warned:
            return
        texts = [n["text"] for n in profile.get("notes", ()) if n["level"] == "warning"]
        others = [t for t in texts if not (t.startswith(NO_COUNTERS) or t.endswith(NOT_REASONS))]
        if ranges and others and all(n["kind"] != "kernel" for n in profile["nodes"]):
            what, why = "no kernels were seen", _sentence(others, NO_WORK)
        elif self._metrics and not all(r.n_measured or not r.n_kernels for r in ranges):
            what, why = "kernels without counters", _sentence(texts, NO_COUNTERS)
        else:
            return
        self._is_warned = True
        warnings.warn("%s: %s" % (what, why))

    def _flush(self):
        """All that was launched until now has been recorded."""
        _native.check(_native.session_flush(self._session))

    def print_profiler_ranges(self, reduction="SUM", config_name="default"):
        """Print each range with its kernels' durations (nanoseconds) by a reduction, and append them to
        output/result.csv. Raises ProfilerError for another reduction and where the file cannot be written."""
        word = _word(reduction, REDUCTIONS, "reduction")
        if not self._need_init():
            return
        ranges = self.get_ranges()
        sys.stdout.write(format_ranges(ranges, word))
        _append_csv(ranges, word, config_name)

    def print_memory_activity(self):
        """Print each range of memory with what was allocated and released in it. Raises ProfilerError."""
        if self._need_init():
            sys.stdout.write(format_memory(self.get_memory_activity()))

    def get_memory_activity(self):
        """The ranges of memory so far, a list of dictionaries: `name`, and `memory_operations` in the order of time, each
        a dictionary with CUPTI's numbers (memory_operation_type 1 is an allocation, 2 a release; memory_kind 2 pinned, 3
        device, 5 managed), bytes, and times in nanoseconds of CLOCK_REALTIME. Functions of the program (`name`) and
        libraries (`source`) are not recorded: "". Waits for the device. Raises ProfilerError."""
        if self._session is None or not self._memory_ranges:
            return []
        try:
            self._flush()
            with self._lock:
                self._read_operations()
                ranges = list(self._memory_ranges)
        except _native.Error as error:
            raise ProfilerError("cannot read memory activity: %s" % error) from error
        return [
            {"name": r.name, "memory_operations": [o for o in self._operations if r.holds(o)]}
            for r in ranges
        ]

    def _read_operations(self):
        found = (_native.MemoryOperation * 4096)()
        while True:
            wanted = self._next_operation.value
            n = _native.check(
                _native.memory_read(ctypes.byref(self._next_operation), found, len(found))
            )
            if self._next_operation.value > wanted:
                warnings.warn(
                    "%d operations on memory are left out: more than are kept"
                    % (self._next_operation.value - wanted)
                )
            if not n:
                return
            self._next_operation.value += n
            self._operations.extend(_operation(o) for o in found[:n])

    # ---- passes and counters, as GMP's programs call them ----

    def start_range_profiling(self):
        """Nothing to start: ranges are counted from init() on."""
        self._need_init()

    def stop_range_profiling(self):
        """Nothing to stop: kernels are run again, not the program."""

    def is_all_pass_submitted(self):
        """A kernel has all its passes where it is launched."""
        return True

    def decode_counter_data(self):
        """Nothing to decode."""

    def add_metrics(self, metric):
        """One more counter, such as dram__bytes.sum; durations are measured always. Raises ProfilerError after init(),
        which makes the plan of passes."""
        if metric == DURATION:
            return
        if self._session is not None:
            raise ProfilerError("add_metrics(%r) comes before init()" % metric)
        self._metrics = ",".join(filter(None, (self._metrics, metric)))


def _warn_if_late():
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is not None and cuda.is_initialized():
        warnings.warn(
            "CUDA was used before init(): what was launched until now is in no range", stacklevel=3
        )


def _session_json(session):
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    _native.check(
        _native.session_data(session, 0, b"json", ctypes.byref(data), ctypes.byref(size))
    )
    try:
        return ctypes.string_at(data, size.value).decode("utf-8", "replace")
    finally:
        _native.data_free(data)


def _shown(value, counter):
    """With the reason where there is no value."""
    if value is not None:
        return "%.2f" % value
    if counter is None:
        return "-"
    return "- (of a kernel that ran more than once its %s is kept)" % KEPT[counter.rule]


def format_ranges(ranges, reduction):
    """The text that print_profiler_ranges() prints."""
    lines = ["🔥 Kernel Profiling Results (%s):" % reduction, "Number of ranges: %d" % len(ranges)]
    for i, r in enumerate(ranges, 1):
        lines.append("Range %d: %s" % (i, " / ".join(r.path)))
        for name, value in r.rows(reduction):
            lines.append("  %s: %s" % (name, _shown(value, r.counters.get(name))))
        lines.append("  kernels: %d" % r.n_kernels)
        if r.n_measured not in (0, r.n_kernels):
            lines.append("  kernels with counters: %d" % r.n_measured)
    return "\n".join(lines) + "\n"


def format_memory(ranges):
    """The text that print_memory_activity() prints."""
    lines = ["💾 Memory Activity Results:"]
    for i, r in enumerate(ranges, 1):
        lines.append("Range %d: %s" % (i, r["name"]))
        for title, kind in (("Allocations", ALLOCATION), ("Deallocations", RELEASE)):
            sizes = [
                o["bytes"] for o in r["memory_operations"] if o["memory_operation_type"] == kind
            ]
            lines.append(
                "  %s: %d operations, %d bytes (%.2f MB)"
                % (title, len(sizes), sum(sizes), sum(sizes) / 2**20)
            )
    return "\n".join(lines) + "\n"


def _append_csv(ranges, reduction, config_name):
    """As GMP writes it: a line of the configuration, then range, metric, value; no heading. Ranges without
    kernels are left out."""

    def quoted(text):
        return '"%s"' % text.replace('"', '""') if re.search('[",\r\n]', text) else text

    try:
        os.makedirs(os.path.dirname(OUTPUT), exist_ok=True)
        with open(OUTPUT, "a", encoding="utf-8") as file:
            file.write("Config Name,%s\n" % quoted(config_name))
            for r in ranges:
                if r.n_kernels:
                    name = quoted(" / ".join(r.path))
                    for metric, value in r.rows(reduction):
                        if value is not None:
                            file.write("%s,%s,%.2f\n" % (name, metric, value))
                    file.write("%s,kernels,%d\n" % (name, r.n_kernels))
    except OSError as error:
        raise ProfilerError("cannot write %s: %s" % (OUTPUT, error)) from error


# ---- one for all of a program ----

_global = None


def create_profiler(metrics=METRICS):
    """A profiler of its own; init() it."""
    return GmpProfiler(metrics)


def init_global_profiler():
    """Make and begin the one that the functions below use; again: the same one. Returns it."""
    global _global
    profiler = _global or GmpProfiler()
    profiler.init()
    _global = profiler
    return profiler


def _global_profiler():
    if _global is None:
        raise ProfilerError("there is no global profiler: call init_global_profiler() first")
    return _global


def profile_range(name, type="CONCURRENT_KERNEL"):
    """GmpProfiler.profile_range() of the global profiler."""
    return _global_profiler().profile_range(name, type)


def profile_memory(name):
    """GmpProfiler.profile_memory() of the global profiler."""
    return _global_profiler().profile_memory(name)


def profile_function(name=None, type="CONCURRENT_KERNEL"):
    """GmpProfiler.profile_function() of the global profiler, which may be made later than the function."""
    return _ranges_of_calls(_global_profiler, name, type)


def enable():
    """GmpProfiler.enable() of the global profiler."""
    _global_profiler().enable()


def disable():
    """GmpProfiler.disable() of the global profiler."""
    _global_profiler().disable()


def print_results(reduction="SUM"):
    """GmpProfiler.print_profiler_ranges() of the global profiler."""
    _global_profiler().print_profiler_ranges(reduction)

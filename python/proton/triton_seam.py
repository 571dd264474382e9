# SPDX-License-Identifier: MIT
"""What scripts for Triton's Proton find in place of `triton._C.libproton.proton`.

Triton's Python package (triton.profiler) stands on that one C++ module, whose functions its releases
name and call a little differently; its layer above them runs unchanged. make_module() makes a module
with all of the functions, over those of libproton.

Loaded by the collector (src/collect/triton_seam.c) as `_proton_profiler.triton_seam`, in processes that
import triton.profiler under `proton record` or `proton top`. What such a script does wrong is an
exception of its own; what cannot be had here is left out, and a note of the profile says so.
"""
import ctypes
import functools
import importlib
import importlib.util
import os
import sys
import types

from . import _native, metric, triton_kernels, triton_tensors
from .flags import context_word, data_word, triton_version
from .mode import without_ranges

# The module that is answered for, once it has been asked for.
MADE = "triton._C.libproton.proton"
METADATA_SCOPE = "__proton_launch_metadata"
# Of the functions that the library makes, those that Triton's layer calls.
CALLED = (
    "record_scope",
    "enter_scope",
    "exit_scope",
    "enter_op",
    "exit_op",
    "enter_state",
    "exit_state",
    "enter_instrumented_op",
    "exit_instrumented_op",
)
# What cpu_timed_scope() gives: each scope of ours has it, measured, so that it need only be asked for.
CPU_TIME = "cpu_time (ns)(exc)"
# Sessions of Triton's own collector count from here.
THEIRS = 1 << 30
# What Triton calls what is on a machine.
PROFILERS = {"cuda": "cupti", "hip": "rocprofiler"}
OURS = ("cupti", "cupti_pcsampling", "rocprofiler", "roctracer")

_noted = set()


def note(text):
    """A sentence for the user, once."""
    if text not in _noted:
        _noted.add(text)
        _library().proton_seam_note(_native.encode(text))


def _library():
    return ctypes.PyDLL(_native.load())


def _functions():
    """Those that are called at each scope and launch, made by the library."""
    make = _library().proton_seam_functions
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.py_object,)
    return make(_native.encode)


def is_automatic():
    """Does the run read what fits the program (--context auto)?"""
    return _functions()["is_automatic"]()


def _start(path, options):
    return _native.check(_native.session_start(path, _native.SessionOptions(**options)))


def _check(status, session):
    """The status; raises, where there is no such session in the words of Triton's Proton."""
    try:
        return _native.check(status)
    except _native.Unknown:
        raise RuntimeError("Session has not been initialized: %d" % session) from None


def _rules(what):
    """Kernels that get scopes by rules do so while no session of the program is about scopes within kernels."""
    module = sys.modules.get(__package__ + ".triton_rules")
    if module:
        getattr(module, what)()


def _theirs(function):
    """A function of sessions, which Triton's own collector answers of its own. Arguments are given by their place:
    its releases have other names for them."""

    @functools.wraps(function)
    def call(self, session, *arguments, **named):
        if session < THEIRS:
            return function(self, session, *arguments, **named)
        arguments += tuple(named.values())
        return getattr(self._tritons, function.__name__)(session - THEIRS, *arguments)

    return call


class Seam(types.ModuleType):
    """The module. Its functions have the names and arguments that Triton's layer has for them."""

    def __init__(self, name, find_tritons):
        super().__init__(name, __doc__)
        self._find_tritons = find_tritons
        self._tritons = None  # their collector, for what is left to it
        self._kernels = {}  # what it was told of by whom: function -> arguments
        self._inside = {}  # sessions of ours that look inside kernels -> their modes
        self._ours = _functions()
        self.__dict__.update((name, self._ours[name]) for name in CALLED)
        self._put_metric = self._ours["put_metric"]
        if triton_version() >= (3, 7):
            self._ours["call_whole"]("int64_t")

    def __getattr__(self, name):
        raise AttributeError(
            "%s.%s is not known to proton, which answers for Triton's Proton here" % (self.__name__, name)
        )

    # ---- sessions ----

    def start(self, path, contextSourceName, dataName, profilerName, mode="", profilerPath=""):
        profiler = profilerName.lower()
        if profiler == "instrumentation":
            _rules("stop")
            if mode.partition(":")[0] == "hip":
                return self._start_tritons(path, contextSourceName, dataName, profilerName, mode)
            return self._start_inside(path, contextSourceName, dataName, mode)
        if profiler not in OURS:
            raise RuntimeError(
                "backend %r is not one of proton's (%s)" % (profilerName, ", ".join(OURS))
            )
        # Before Triton 3.6 the last of these may be the folder of CUPTI.
        mode = "" if os.sep in mode else mode
        mode = "pcsampling" if profiler == "cupti_pcsampling" else mode
        options = {
            "context": context_word(contextSourceName),
            "data": data_word(dataName),
            "mode": mode,
        }
        options = {name: _native.encode(text) for name, text in options.items()}
        path = _native.encode(path)
        try:
            return _start(path, options)
        except _native.Invalid as error:
            # Of what a session cannot be, the rest of the script need not die.
            if options["data"] == b"tree" and not options["mode"]:
                raise
            session = _start(path, dict(options, data=b"tree", mode=b""))
            note("a session of Triton's Proton is an ordinary one: %s" % error)
            return session

    @_theirs
    def activate(self, session):
        _check(_native.session_activate(session), session)

    def activate_all(self):
        if self._tritons:
            self._tritons.activate_all()
        _native.check(_native.session_activate(_native.ALL_SESSIONS))

    @_theirs  # flushing: since Triton 3.7
    def deactivate(self, session, *flushing):
        self._settle()
        _check(_native.session_deactivate(session, any(flushing)), session)

    def deactivate_all(self, *flushing):
        if self._tritons:
            self._tritons.deactivate_all(*flushing)
        self._settle()
        _native.check(_native.session_deactivate(_native.ALL_SESSIONS, any(flushing)))

    @_theirs
    def finalize(self, session, outputFormat=""):
        self._settle()
        self._inside.pop(session, None)
        _check(_native.session_finalize(session, _native.encode(outputFormat)), session)
        self._ours["forget_types"]()
        _rules("resume")

    def finalize_all(self, outputFormat=""):
        if self._tritons:
            self._tritons.finalize_all(outputFormat)
        self._settle()
        self._inside.clear()
        _native.check(
            _native.session_finalize(_native.ALL_SESSIONS, _native.encode(outputFormat))
        )
        self._ours["forget_types"]()
        self._ours["leave_scopes"]()
        _rules("resume")

    def get_available_profilers(self):
        return ["cupti", "instrumentation", "rocprofiler", "roctracer"]

    def select_profiler_from_triton_backend(self, tritonBackend):
        if tritonBackend not in PROFILERS:
            raise ValueError("No profiler registered for triton backend %s" % tritonBackend)
        return PROFILERS[tritonBackend]

    def has_amd_pc_sampling_source_locations(self):
        return False

    # ---- what sessions have so far ----

    @_theirs
    def get_data(self, session, phase=0):
        self._settle()
        return self._data(session, phase, b"hatchet").decode()

    @_theirs
    def get_data_msgpack(self, session, phase=0):
        self._settle()
        return self._data(session, phase, b"hatchet_msgpack")

    @_theirs
    def clear_data(self, session, phase=0, clearUpToPhase=False):
        self._settle()
        _check(_native.phase_clear(session, phase, clearUpToPhase), session)

    @_theirs
    def advance_data_phase(self, session):
        return _check(_native.phase_advance(session), session)

    @_theirs
    def is_data_phase_complete(self, session, phase=0):
        is_read = not self._inside or triton_kernels.read(0)
        return is_read and bool(_check(_native.phase_is_complete(session, phase), session))

    @_theirs
    def get_context_depth(self, session):
        return self._ours["context_depth"]()

    @staticmethod
    def _data(session, phase, form):
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        _check(
            _native.session_data(session, phase, form, ctypes.byref(data), ctypes.byref(size)),
            session,
        )
        try:
            return ctypes.string_at(data, size.value)
        finally:
            _native.data_free(data)

    # ---- metrics ----

    TensorMetric = triton_tensors.TensorMetric
    metric_type_int64_index = metric_int64_index = triton_tensors.INT64
    metric_type_double_index = metric_double_index = triton_tensors.DOUBLE
    metric_type_vector_int64_index = triton_tensors.VECTOR_INT64
    metric_type_vector_double_index = triton_tensors.VECTOR_DOUBLE
    metadata_scope_name = METADATA_SCOPE
    metadata_scope_prefix = METADATA_SCOPE + ":"

    def add_metrics(self, scopeId, metrics, tensorMetrics=None):
        for name, value in metrics.items():
            if name == CPU_TIME:
                self._ours["scope_timed"](scopeId)
                continue
            if not self._put_metric(scopeId, name, value):
                self._put_other(scopeId, name, value)
        captured = bool(tensorMetrics) and triton_tensors.is_capturing()
        for name, tensor in tensorMetrics.items() if tensorMetrics else ():
            if captured:
                kind, stream = triton_tensors.kind_of(tensor), triton_tensors.stream()
                self._ours["put_device"](scopeId, name, tensor.ptr, kind, tensor.size, stream)
                continue
            self._ours["hide"](True)
            try:
                value = triton_tensors.read(tensor, note)
            finally:
                self._ours["hide"](False)
            if value is not None:
                self._put_other(scopeId, name, value)

    set_properties = add_metrics  # of Triton 3.0 to 3.2

    def _put_other(self, scope, name, value):
        """What is not a number of 64 bits: several of them, a tensor, a number of another kind."""
        if metric.is_tensor(value):  # before Triton 3.7
            self._put_tensor(scope, name, value)
        elif isinstance(value, (list, tuple)):
            bare, space, unit = name.partition(" (")
            for i, v in enumerate(value):
                self._put_other(scope, "%s[%d]%s%s" % (bare, i, space, unit), v)
        elif not self._put_metric(scope, name, value):
            # A number of another library's, or one of more bits than metrics have.
            self._put_metric(scope, name, float(value))

    def _put_tensor(self, scope, name, tensor):
        if not metric.is_captured(tensor):
            self._ours["hide"](True)
            try:
                value = metric.from_tensor(tensor)
            finally:
                self._ours["hide"](False)
            self._put_other(scope, name, value)
            return
        numbers = metric.device_numbers(tensor)
        if numbers is None:
            note("metric '%.64s' is a tensor that cannot be read in a capture: left out" % name)
        else:
            self._ours["put_device"](scope, name, *numbers)

    def set_metric_kernels(self, tensorMetricKernel, scalarMetricKernel, stream, *sizes):
        triton_tensors.set_stream(stream)

    # ---- inside kernels ----

    def _start_inside(self, path, contextSourceName, dataName, mode):
        triton_kernels.check_mode(mode)
        if without_ranges(mode) != mode:  # which its compiler has had
            raise ValueError("Unknown sampling_options: Triton's compiler knows no ranges of warps: list each (0,1,2,3)")
        triton_kernels.teach_words()
        if "sched_barriers" in mode:
            note("sched_barriers in a mode is for AMD's compiler: here it changes nothing")
        data = "warps" if dataName.lower() == "trace" else data_word(dataName)
        options = {"context": context_word(contextSourceName), "data": data, "backend": "instrumentation"}
        session = _start(
            _native.encode(path), {name: _native.encode(text) for name, text in options.items()}
        )
        self._inside[session] = mode
        return session

    def _settle(self):
        """What was launched with scopes inside is read, before somebody asks for it."""
        if self._inside:
            triton_kernels.read_all()

    def init_function_metadata(self, functionId, name, scopes, parents, metadataPath):
        arguments = (name, scopes, parents, metadataPath)
        self._kernels[functionId] = arguments
        triton_kernels.tell(functionId, *arguments, note)
        if self._tritons:
            self._tritons.init_function_metadata(functionId, *arguments)

    def destroy_function_metadata(self, functionId):
        self._kernels.pop(functionId, None)
        triton_kernels.forget(functionId)
        if self._tritons and hasattr(self._tritons, "destroy_function_metadata"):
            self._tritons.destroy_function_metadata(functionId)

    # ---- … and Triton's own collector for that ----

    def _start_tritons(self, *arguments):
        if not self._tritons:
            self._tritons = self._load_tritons()
            for name in CALLED:
                if hasattr(self._tritons, name) and name != "record_scope":
                    setattr(self, name, self._both(name))
            self.add_metrics = self._add_metrics_both
            for function, kernel in self._kernels.items():
                self._tritons.init_function_metadata(function, *kernel)
        session = self._tritons.start(*arguments)
        note(
            "sessions with backend 'instrumentation' on AMD's GPUs are left to Triton's own collector: "
            "what they find is not in this profile"
        )
        return THEIRS + session

    def _load_tritons(self):
        spec = self._find_tritons()
        if not spec:
            raise RuntimeError("backend 'instrumentation' wants Triton's own collector")
        module = importlib.util.module_from_spec(spec)
        # It makes its submodule by name: not into ours.
        name = spec.name + ".proton"
        ours = sys.modules.pop(name, None)
        try:
            spec.loader.exec_module(module)
            return module.proton
        finally:
            sys.modules[name] = ours

    def _both(self, name):
        ours, theirs = self._ours[name], getattr(self._tritons, name)

        def call(*arguments):
            ours(*arguments)
            theirs(*arguments)

        return call

    def _add_metrics_both(self, scopeId, metrics, tensorMetrics=None):
        Seam.add_metrics(self, scopeId, metrics, tensorMetrics)
        self._tritons.add_metrics(scopeId, metrics)


class OneSession(Seam):
    """Under `proton script.py` the session is not the script's to end (triton_command.py)."""

    def finalize(self, session, outputFormat=""):
        pass

    def finalize_all(self, outputFormat=""):
        pass


def is_command_line():
    return getattr(sys.modules[__package__], "command_line", False)


def _set_flags(package):
    """Of Triton's layer: it is profiled, and there is one session."""
    try:
        module = importlib.import_module(package + ".flags")
    except ImportError:  # a script that uses what is below it
        return
    if hasattr(module, "flags"):
        module.flags.profiling_on = module.flags.command_line = True
    else:  # before Triton 3.5
        module.set_profiling_on()
        module.set_command_line()


def make_module(name, find_tritons):
    """The module, or None where nobody profiles this process: then Triton's own is right. find_tritons()
    gives the spec of that one."""
    if not _native.active():
        return None
    if __package__ + ".triton_hook" in sys.modules:
        sys.modules[__package__ + ".triton_hook"].stop()
    if not is_command_line():
        return Seam(name, find_tritons)
    _set_flags("triton.profiler")
    return OneSession(name, find_tritons)

# SPDX-License-Identifier: MIT
"""Scopes: names for parts of the program, under which its launches are shown.

A scope belongs to the thread that enters it. What a name is made of, libproton says: any text, NUL as
"\\0". While nobody profiles, entering and leaving cost next to nothing and do nothing.
"""
import functools
import threading
import warnings

from . import _native, metric
from .flags import flags

CACHED_NAMES_MAX = 16384
CACHED_NAME_LEN_MAX = 256

_encoded = {}  # name -> bytes, of short names


def encoded(name):
    """The name as libproton takes it. Raises TypeError."""
    found = _encoded.get(name) if type(name) is str else None
    if found is None:
        found = _native.encode(name)
        if len(found) <= CACHED_NAME_LEN_MAX and type(name) is str:
            if len(_encoded) >= CACHED_NAMES_MAX:
                _encoded.clear()
            _encoded[name] = found
    return found


# ---- entering and leaving: at each scope, so it counts what they cost ----

# While somebody profiles and a scope was entered since: functions that enter and leave one, around a block and in
# two calls. Else None.
_on = flags.profiling_on
_push = _pop = _open = _close = None
_ready = {}  # name -> a scope to be entered, without metrics
_Ready = None  # its class


def _push_by_ctypes(name):
    _native.enter_scope(encoded(name))


def _pop_by_ctypes(*_raised):
    _native.exit_scope()


class _Thread(threading.local):
    """Names of the scopes of enter_scope() that this thread has open."""

    def __init__(self):
        self.scopes = []


_thread = _Thread()


def _open_by_ctypes(name):
    _push_by_ctypes(name)
    _thread.scopes.append(name)
    return len(_thread.scopes)


def _close_by_ctypes(name=None):
    scopes = _thread.scopes
    if not scopes:
        return -1
    if name is not None and name != scopes[-1]:
        return -2
    scopes.pop()
    _pop_by_ctypes()
    return len(scopes) + 1


def _forget():
    """It may have changed whether somebody profiles."""
    global _on, _push, _pop, _open, _close
    _on = flags.profiling_on
    _push = _pop = _open = _close = None
    _ready.clear()


def _prepare():
    """Somebody profiles: start the collector, and have what enters and leaves at hand."""
    global _push, _pop, _open, _close, _Ready
    _native.active()
    by_ctypes = (_push_by_ctypes, _pop_by_ctypes, _open_by_ctypes, _close_by_ctypes)
    push, pop, opens, closes = (
        _native.made_functions("scope_push", "scope_pop", "scope_open", "scope_close") or by_ctypes
    )

    class Ready(_Decorator):
        """A scope without metrics that is entered and left whoever profiles by then: the collector keeps
        the two equal. So it has no state, and one of a name is enough for all threads."""

        __slots__ = ("_name",)
        _metrics = None

        def __init__(self, name):
            self._name = name

        def __enter__(self):
            push(self._name)
            return self

        if pop is _pop_by_ctypes:

            def __exit__(self, exc_type, exc_value, traceback):
                pop()

        else:
            # A function of C is given no self, and takes whatever it is given.
            __exit__ = pop

    _Ready = Ready
    _push, _pop, _open, _close = push, pop, opens, closes


def _enter(name, metrics, timed=False):
    """Enter, with metrics; where these raise, the scope is left again."""
    if _push is None:
        _prepare()
    _push(name)
    if timed and _native.has("scope_timed"):
        _native.scope_timed()
    if metrics:
        try:
            metric.add_all(metrics)
        except BaseException:
            _leave()
            raise


def _leave():
    (_pop or _pop_by_ctypes)()


class _Decorator:
    """What a scope around a function does; the class has its _name and _metrics."""

    __slots__ = ()
    _timed = False

    def __call__(self, func):
        name, metrics, timed = self._name, self._metrics, self._timed

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            if not _on:
                return func(*args, **kwargs)
            _enter(name, metrics, timed)
            try:
                return func(*args, **kwargs)
            finally:
                _leave()

        return wrapper


class _Scope(_Decorator):
    """A scope with metrics, or one that was made while nobody profiled."""

    __slots__ = ("_name", "_metrics", "_missed")

    def __init__(self, name, metrics):
        self._name = name
        self._metrics = metrics
        # How often it was entered while nobody profiled: so often it is not left.
        self._missed = 0

    def __enter__(self):
        if _on:
            _enter(self._name, self._metrics, self._timed)
        else:
            self._missed += 1
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if self._missed:
            self._missed -= 1
        else:
            _leave()


class _TimedScope(_Scope):
    """One whose time on the host is asked for."""

    __slots__ = ()
    _timed = True


def scope(name, metrics=None):
    """A scope around a block or a function, also where these raise.

        with proton.scope("step", {"flops": 2.0 * m * n * k}):
            ...

        @proton.scope("step")
        def step(): ...

    name     str; what is no text raises TypeError when it is entered
    metrics  dict of name to value (see proton.metric), added each time that it is entered; their
             errors are raised there, and the scope is not open then
    thread   any
    """
    if metrics is None:
        found = _ready.get(name)
        if found is not None:
            return found
    return _make(name, metrics)


def _make(name, metrics):
    if metrics or type(name) is not str or not _on:
        return _Scope(name, metrics)
    if _push is None:
        _prepare()
    made = _Ready(name)
    if len(name) <= CACHED_NAME_LEN_MAX:
        if len(_ready) >= CACHED_NAMES_MAX:
            _ready.clear()
        _ready[name] = made
    return made


def cpu_timed_scope(name, metrics=None):
    """A scope whose time on the host is in the session's file: `cpu_time (ns)`, from entering to leaving it, of
    this scope alone. The collector measures it for each scope, and the profile of a run has it for each; metrics
    must not bring a `cpu_time` of their own: ValueError. Otherwise as scope()."""
    for key in metrics or ():
        if isinstance(key, str) and key.split("(")[0].strip() == "cpu_time":
            raise ValueError("the metric 'cpu_time' is measured: give it another name")
    return _TimedScope(name, metrics)


def enter_scope(name, *, metrics=None):
    """Open a scope on this thread until exit_scope().

    returns  its number: how many scopes this thread has open, from 1; -1 while nobody profiles
    errors   TypeError and those of metrics (see proton.metric): it is not open then
    thread   any; belongs to the caller
    """
    if _open is None:
        if not _on:
            return -1
        _prepare()
    number = _open(name)
    if metrics:
        try:
            metric.add_all(metrics)
        except BaseException:
            _close()
            raise
    return number


def exit_scope(name=None, *, metrics=None):
    """Close the innermost scope that enter_scope() opened on this thread.

    name     its name, to be checked; None: whichever it is
    metrics  added to what the thread is in before it is closed, which it is even where they raise
    returns  the number that enter_scope() returned; -1 while nobody profiles, and where none is
             open, with a warning
    errors   ValueError: it is another one's name, and nothing is closed; those of metrics
    thread   the one that opened it
    """
    if _close is None:
        if not _on:
            return -1
        _prepare()
    if metrics:
        try:
            metric.add_all(metrics)
        finally:
            number = exit_scope(name)
        return number
    number = _close() if name is None else _close(name)
    if number < 0:
        _complain(number, name)
    return number


def _complain(number, name):
    if number == -2:
        raise ValueError("the innermost scope is not %r" % (name,))
    warnings.warn("exit_scope(): this thread has no scope open", RuntimeWarning, stacklevel=3)


flags.listeners.append(_forget)
